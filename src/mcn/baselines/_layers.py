"""Building blocks of the networks here: an input layer for sparse features, a product with a fixed matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from mcn.nn.features import is_sparse, sparse_features
from mcn.nn.sparse_linear import sparse_linear


class InputLinear(torch.nn.Module):
    """``dropout(X) W`` for the task's features, dense or sparse; only stored values are visited."""

    def __init__(self, x: torch.Tensor, out_channels: int, dropout: float = 0.0) -> None:
        super().__init__()
        self._x: Any = sparse_features(x) if is_sparse(x) else x
        self._dropout = dropout
        self.weight = torch.nn.Parameter(torch.empty(x.shape[1], out_channels))
        torch.nn.init.xavier_uniform_(self.weight)

    def forward(self) -> torch.Tensor:
        """All rows."""
        p = self._dropout if self.training else 0.0
        if isinstance(self._x, torch.Tensor):
            return torch.nn.functional.dropout(self._x, p) @ self.weight
        key = int(torch.randint(2**62, ())) if p else 0
        return sparse_linear(self._x, self.weight, p, key)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: torch.Tensor, matrix: Any, transposed: Any) -> torch.Tensor:
        ctx.transposed = transposed
        return torch.from_numpy(matrix @ z.detach().numpy())

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return torch.from_numpy(ctx.transposed @ grads[0].contiguous().numpy()), None, None


class FixedProduct:
    """``M z`` for a constant sparse M and a dense z that may need a gradient."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = sp.csr_array(matrix, dtype=np.float32)
        self._transposed = sp.csr_array(self._matrix.T)

    def __call__(self, z: torch.Tensor) -> torch.Tensor:
        """The product."""
        out: torch.Tensor = _Product.apply(z, self._matrix, self._transposed)  # type: ignore[no-untyped-call]
        return out
