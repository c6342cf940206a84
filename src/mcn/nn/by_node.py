"""Dropout decided by a node's id and not by its position, so that a node is treated alike in every batch.

Two processes that share a batch, or one that has it all, then drop the same entries of the same nodes.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.nn import ops
from mcn.nn._rng import hash32, keep_at, threshold
from mcn.nn._work import run, spread
from mcn.nn.features import SparseFeatures
from mcn.nn.on_device import resident

X = TypeVar("X", torch.Tensor, SparseFeatures)

# The entries of a node's row are numbered from its id times this on. A prime: rows that are longer overlap
# with those of other nodes, but no two nodes have the same numbers.
_STRIDE = 4099


def first_numbers(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the first entry of each node's row."""
    return nodes * _STRIDE


@kernel
def _drop(
    start: int, stop: int, x: Any, nodes: Any, limit: int, scale: Any, key: Any, stride: int, out: Any
) -> None:
    zero, width = x.dtype.type(0), x.shape[1]
    for r in range(start, stop):
        first = np.uint64(nodes[r]) * np.uint64(stride)
        row, to = x[r], out[r]
        for c in range(np.uint64(width)):
            to[c] = row[c] * scale if hash32(first + c, key) >= limit else zero


@kernel
def _drop_sparse(
    indptr: Any, values: Any, nodes: Any, limit: int, scale: Any, key: Any, stride: int, out: Any
) -> None:
    zero = values.dtype.type(0)
    for r in range(nodes.size):
        first = np.uint64(nodes[r]) * np.uint64(stride)
        for p in range(indptr[r], indptr[r + 1]):
            kept = hash32(first + np.uint64(p - indptr[r]), key) >= limit
            out[p] = values[p] * scale if kept else zero


def _dropped(x: NDArray[Any], nodes: NDArray[np.int64], p: float, key: int) -> NDArray[Any]:
    out = np.empty_like(x)
    scale, limit, word = x.dtype.type(1.0 / (1.0 - p)), threshold(p), np.uint64(key)
    spread(lambda a, b: _drop(a, b, x, nodes, limit, scale, word, _STRIDE, out), len(x), x.size)
    return out


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, nodes: NDArray[np.int64], p: float, key: int) -> torch.Tensor:
        ctx.rest = (nodes, p, key)
        return torch.from_numpy(_dropped(x.detach().contiguous().numpy(), nodes, p, key))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return torch.from_numpy(_dropped(grads[0].contiguous().numpy(), *ctx.rest)), None, None, None


def dropout(x: X, nodes: NDArray[np.int64], p: float, key: int) -> X:
    """`x` with entries of its rows dropped by (key, id of the node, place in the row), the others scaled.

    Shapes:
        x: [n, C], dense or sparse; of a sparse one the stored values are dropped. nodes: [n].
    """
    if p == 0.0:
        return x
    if isinstance(x, SparseFeatures):
        values = np.empty_like(x.values)
        scale = values.dtype.type(1.0 / (1.0 - p))
        _drop_sparse(x.indptr, x.values, nodes, threshold(p), scale, np.uint64(key), _STRIDE, values)
        return SparseFeatures(x.indptr, x.indices, values, x.shape[1])
    if ops.fused(x):
        out: torch.Tensor = run(_Dropout, x, nodes, p, key)
        return out
    ids = resident(nodes, x.device, torch.int64)
    positions = ids[:, None] * _STRIDE + torch.arange(x.shape[1], device=x.device)
    return x * keep_at(positions, p, key, x)
