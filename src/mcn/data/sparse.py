"""Node features as torch tensors: sparse CSR where they are sparse."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor


def feature_tensor(matrix: Any, *, dense: bool = False) -> Tensor:
    """A SciPy sparse matrix as a float32 torch tensor, in CSR layout unless `dense`.

    Column indices are sorted within each row, and repeated entries are summed.
    """
    csr = sparse.csr_array(matrix, dtype=np.float32)
    csr.sum_duplicates()
    if dense:
        return torch.from_numpy(csr.toarray())
    with warnings.catch_warnings():
        # torch announces once per process that CSR is in beta; we use only what it documents as stable.
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
        return torch.sparse_csr_tensor(
            torch.from_numpy(csr.indptr.astype(np.int64)),
            torch.from_numpy(csr.indices.astype(np.int64)),
            torch.from_numpy(csr.data),
            size=csr.shape,
            check_invariants=True,
        )


def feature_csr(x: Tensor) -> sparse.csr_array[Any]:
    """The inverse of `feature_tensor`: any 2-D torch tensor, dense or CSR, as a SciPy CSR array."""
    if x.layout == torch.sparse_csr:
        parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
        return sparse.csr_array(parts, shape=(x.shape[0], x.shape[1]))
    return sparse.csr_array(x.numpy())
