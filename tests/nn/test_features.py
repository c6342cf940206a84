"""Holding sparse features."""

from __future__ import annotations

import copy
import gc
from typing import Any

import numpy as np
import pytest
import torch

from mcn.nn import features
from mcn.nn.features import SparseFeatures, is_sparse, sparse_features
from tests.nn.graphs import random_features


def _dense(x: SparseFeatures) -> torch.Tensor:
    return x.to_torch(torch.device("cpu")).to_dense()


def _csr(n: int = 6) -> torch.Tensor:
    x = random_features(n, 5, 0)
    parts = (torch.from_numpy(x.indptr), torch.from_numpy(x.indices).long(), torch.from_numpy(x.values))
    return torch.sparse_csr_tensor(*parts, x.shape, check_invariants=True)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_one_holder_per_tensor_while_it_lives() -> None:
    x = _csr()
    holder = sparse_features(x)
    assert sparse_features(x) is holder
    assert sparse_features(holder) is holder
    assert torch.equal(_dense(holder), x.to_dense())
    assert torch.equal(_dense(sparse_features(x.to_dense().to_sparse_coo())), x.to_dense())
    number = len(features._known)
    del x
    gc.collect()
    assert len(features._known) < number
    assert is_sparse(holder)
    assert not is_sparse(torch.zeros(2, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_take_cuts_rows_and_remembers(dtype: Any) -> None:
    x = random_features(20, 9, 1, dtype)
    rows = np.array([5, 0, 19, 3])
    cut = x.take(rows)
    assert cut.values.dtype == dtype
    assert torch.equal(_dense(cut), _dense(x)[rows])
    assert x.take(rows.copy()) is cut
    for first in range(10):
        x.take(np.array([first]))
    assert x.take(rows) is not cut
    assert copy.deepcopy(x) is x


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="requires_grad"):
        sparse_features(_csr().requires_grad_())
    with pytest.raises(ValueError, match="int64"):
        sparse_features(torch.ones(2, 2, dtype=torch.int64).to_sparse_coo())
