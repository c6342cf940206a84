"""Features of some nodes at a time, from memory or from disk."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices.rows import Rows, gather_rows
from mcn.nn.features import SparseFeatures, input_features


class FeatureRows:
    """A feature matrix that is asked for rows; nothing else of it need be in memory.

    Args:
        x: [N, F]: a tensor, a `SparseFeatures`, or an array, which may be memory-mapped.
        scaling: "rows" divides each row by the sum of its absolute values when it is asked for, "unit" by its
            length, "raw" by nothing.
        scale: means and deviations of the columns, [2, F], to standardise dense rows by when asked for.
    """

    def __init__(self, x: Any, scaling: str = "raw", scale: NDArray[np.float64] | None = None) -> None:
        self._x: Any = input_features(x) if isinstance(x, torch.Tensor) else x
        self.shape = (int(x.shape[0]), int(x.shape[1]))
        self._scaling, self._scale = scaling, None if scale is None else torch.from_numpy(scale)

    def __call__(self, nodes: NDArray[np.int64]) -> torch.Tensor | SparseFeatures:
        """Copy the rows of these nodes."""
        if isinstance(self._x, SparseFeatures):
            rows = gather_rows(Rows(self._x.indptr, self._x.indices, self._x.values), nodes, 1)
            values = rows.values if self._scaling == "raw" else _scaled(rows, self._scaling)
            return SparseFeatures(rows.indptr, rows.indices, values, self.shape[1])
        if isinstance(self._x, torch.Tensor):
            taken = self._x[torch.from_numpy(nodes).to(self._x.device)]
        else:
            taken = torch.from_numpy(np.ascontiguousarray(self._x[nodes], np.float32))
        if self._scale is not None:
            return ((taken.to(torch.float64) - self._scale[0]) / self._scale[1]).to(torch.float32)
        return taken if self._scaling == "raw" else taken / row_size(taken, self._scaling)


def row_size(dense: torch.Tensor, scaling: str) -> torch.Tensor:
    """Return what each row is divided by, [n, 1]: its sum of absolute values, or its length for "unit"."""
    size = dense.norm(dim=1, keepdim=True) if scaling == "unit" else dense.abs().sum(1, keepdim=True)
    return size.clamp_min(1e-12)


def _scaled(rows: Rows, scaling: str) -> NDArray[np.float32]:
    lengths = np.diff(rows.indptr)
    row = np.repeat(np.arange(len(lengths)), lengths)
    values = rows.values.astype(np.float64)
    each = values**2 if scaling == "unit" else np.abs(values)
    total = np.bincount(row, each, minlength=len(lengths)).astype(np.float64)
    if scaling == "unit":
        total = np.sqrt(total)
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total != 0)
    return (rows.values * scale[row]).astype(np.float32)
