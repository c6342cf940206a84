"""GRAND's first layer, ``dropout(random propagation of X) W``, on graphs whose N x N matrix can be held.

The mean of the powers of Â is multiplied out once. A view is then ``(diag(kept) X)^T P``, one pass over the
words of the nodes that are left, instead of K passes of every column through the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.baselines._add_rows import ROWS, add_rows
from mcn.baselines._random_propagation import Propagation
from mcn.baselines.task import Task
from mcn.data import feature_csr
from mcn.nn._parallel import spread
from mcn.nn._rng import derive, hash32, threshold

_TILE = 64  # nodes that are filled together: wide enough for vectors, and a tile of P stays near a core


@kernel
def _mix(indptr: Any, rows: Any, values: Any, tiles: Any, limit: int, scale: Any, key: Any, out: Any) -> None:
    """``dropout(X^T P)`` [F, N] for X^T by its rows and P [N / 64, N, 64]."""
    total = np.empty(_TILE, np.float32)
    columns, nodes = out.shape
    for t in range(tiles.shape[0]):
        tile, first = tiles[t], t * _TILE
        width = min(_TILE, nodes - first)
        for f in range(columns):
            for c in range(_TILE):
                total[c] = np.float32(0.0)
            for c in range(0, _TILE, ROWS):
                add_rows(values, rows, indptr[f], indptr[f + 1], tile, c, _TILE, total, c)
            # Unsigned and of the hash's own size: LLVM makes no vectors of this otherwise.
            at = np.uint32(f * nodes + first)
            for c in range(np.uint32(width)):
                kept = hash32(at + np.uint32(c), key) >= np.uint32(limit)
                out[f, np.uint64(first) + np.uint64(c)] = total[c] * scale if kept else np.float32(0.0)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, mixed: torch.Tensor) -> torch.Tensor:
        ctx.mixed, turned = mixed, weight.T.contiguous()
        return torch.stack([(turned @ view).T for view in mixed])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        grad = torch.zeros(ctx.mixed.shape[1], grads[0].shape[2])
        for view, g in zip(ctx.mixed, grads[0].contiguous(), strict=True):
            grad.addmm_(view, g)
        return grad, None


class MixFirst:
    """`PropagateFirst` without batch norm, for graphs of a few thousand nodes: it holds N² numbers."""

    def __init__(self, task: Task, propagation: Propagation, samples: int, dropout: float) -> None:
        turned: Any = sp.csr_array(feature_csr(task.x).T.astype(np.float32))
        self._turned = (turned.indptr.astype(np.int64), turned.indices, turned.data)
        self._tiles = _tiles(propagation(np.eye(task.num_nodes, dtype=np.float32)))
        self._dropout = dropout
        self._mixed = np.empty((samples, *turned.shape), np.float32)
        everything = np.empty(turned.shape, np.float32)
        self._draw(np.ones(task.num_nodes, np.float32), 0.0, 0, everything)
        self._exact = torch.from_numpy(everything)

    def _draw(self, kept: NDArray[np.float32], p: float, key: int, out: NDArray[np.float32]) -> None:
        """Fill `out` [F, N] with one view, dropped out."""
        indptr, rows, values = self._turned
        scaled = values * kept[rows]
        left = np.flatnonzero(scaled)
        ends = np.searchsorted(left, indptr)
        _mix(
            *(ends, rows[left], scaled[left], self._tiles),
            *(threshold(p), np.float32(1.0 / (1.0 - p)), np.uint64(key), out),
        )

    def views(self, weight: torch.Tensor, kept: NDArray[np.float32], key: int) -> torch.Tensor:
        """One view for each row of `kept` [S, N]: [S, N, C]. `key` decides the dropout."""

        def work(first: int, last: int) -> None:
            for s in range(first, last):
                self._draw(kept[s], self._dropout, derive(key, s), self._mixed[s])

        spread(work, len(kept), self._mixed.size)
        out: torch.Tensor = _Product.apply(weight, torch.from_numpy(self._mixed))  # type: ignore[no-untyped-call]
        return out

    def exact(self, weight: torch.Tensor, rows: slice | torch.Tensor) -> torch.Tensor:
        """The chosen rows, with nothing dropped."""
        return self._exact[:, rows].T @ weight


def _tiles(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Columns in groups of 64, each group contiguous [groups, N, 64]; zeros where the last is not full."""
    nodes = len(matrix)
    wide = np.zeros((nodes, -(-nodes // _TILE) * _TILE), np.float32)
    wide[:, :nodes] = matrix
    return np.ascontiguousarray(wide.reshape(nodes, -1, _TILE).transpose(1, 0, 2))
