"""Building blocks of the networks here: an input layer for sparse features, a product with a fixed matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from mcn.nn import linear
from mcn.nn._rng import torch_key
from mcn.nn.features import SparseFeatures, is_sparse, sparse_features
from mcn.nn.sparse_linear import sparse_linear


class InputLinear(torch.nn.Module):
    """``dropout(X) W`` for the task's features, dense or sparse; only stored values are visited."""

    def __init__(self, x: torch.Tensor, out_channels: int, dropout: float = 0.0) -> None:
        super().__init__()
        self._x: Any = sparse_features(x) if is_sparse(x) else x
        self._dropout = dropout
        self.weight = torch.nn.Parameter(torch.empty(x.shape[1], out_channels))
        torch.nn.init.xavier_uniform_(self.weight)

    def rows(self, nodes: NDArray[np.int64] | None) -> torch.Tensor | SparseFeatures:
        """The features of some nodes, for `forward`; of all of them for None."""
        if nodes is None:
            whole: torch.Tensor | SparseFeatures = self._x
            return whole
        if isinstance(self._x, torch.Tensor):
            return self._x[torch.from_numpy(nodes)]
        indptr, indices, values = self._x.rows.take(nodes)
        return SparseFeatures(indptr, indices, values, self._x.shape[1])

    def forward(self, x: torch.Tensor | SparseFeatures | None = None) -> torch.Tensor:
        """All rows, or those that `rows` gave."""
        x = self._x if x is None else x
        p = self._dropout if self.training else 0.0
        if isinstance(x, torch.Tensor):
            return torch.nn.functional.dropout(x, p) @ self.weight
        return sparse_linear(x, self.weight, p, torch_key() if p else 0)


class FixedProduct:
    """``M z`` for a constant sparse M and a dense z that may need a gradient."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = sp.csr_array(matrix, dtype=np.float32)
        self._held = SparseFeatures(
            self.matrix.indptr.astype(np.int64),
            self.matrix.indices.astype(np.int32),
            self.matrix.data,
            self.matrix.shape[1],
        )

    def __call__(self, z: torch.Tensor) -> torch.Tensor:
        """The product."""
        return sparse_linear(self._held, z)


def reaching(
    products: Sequence[FixedProduct], rows: NDArray[np.int64] | None
) -> tuple[list[FixedProduct], NDArray[np.int64] | None]:
    """Some rows of every product, over the columns that any of them reaches; and these columns, ascending.

    With None for rows, all of both.
    """
    if rows is None:
        return list(products), None
    parts = [product.matrix[rows] for product in products]
    columns = np.unique(np.concatenate([part.indices for part in parts])).astype(np.int64)
    return [FixedProduct(part[:, columns]) for part in parts], columns


def dropout(x: torch.Tensor, p: float, training: bool) -> torch.Tensor:
    """`torch.nn.functional.dropout` by this package's kernel, which needs a fraction of its time."""
    return linear.dropout(x, p, torch_key()) if training else x
