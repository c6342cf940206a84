"""Sparse matrix times dense matrix: X W of the input layer, and the sums over rows of Â.

Entry e of the sparse matrix is dropped when the hash of (key, e) says so, forward and backward alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from graphmotifs._jit import kernel
from mcn.matrices import Rows
from mcn.nn._parallel import run, spread, threads_for
from mcn.nn._rng import drop_settings, hash32
from mcn.nn.features import SparseFeatures

_CHUNK = 128  # entries whose fate is settled together, before the sums are made
_U = np.uint64  # an unsigned index cannot be negative, so that nothing has to be checked for that
_1, _2, _3, _4 = _U(1), _U(2), _U(3), _U(4)


@kernel
def _settle(
    first: Any, last: Any, others: Any, entries: Any, values: Any, drop: Any, at: Any, by: Any
) -> Any:
    """List what is kept of places first … last, other end and value; return how many there are.

    Place p of the pattern holds entry ``entries[p]`` of the sparse matrix; without `entries`, entry p.
    """
    (limit, scale, key), kept = drop, _U(0)
    for p in range(first, last):
        e = p if entries is None else _U(entries[p])
        at[kept] = _U(others[p])
        by[kept] = values[e] * scale
        if limit == 0 or hash32(np.int64(e), key) >= limit:
            kept += _1
    return kept


@kernel
def _gather(
    start: int,
    stop: int,
    indptr: Any,
    others: Any,
    entries: Any,
    values: Any,
    dense: Any,
    drop: Any,
    out: Any,
) -> None:
    """Add rows start … stop of ``sparse @ dense`` to `out`, or of ``sparse.T @ dense`` given the transpose.

    Four entries are added at a time, one after the other: the bits of a sum over single entries.
    """
    at, by = np.empty(_CHUNK, np.uint64), np.empty(_CHUNK, values.dtype)
    width = _U(dense.shape[1])
    for i in range(_U(start), _U(stop)):
        p, last = _U(indptr[i]), _U(indptr[i + _1])
        while p < last:
            end = min(p + _U(_CHUNK), last)
            kept = _settle(p, end, others, entries, values, drop, at, by)
            p, n = end, _U(0)
            while n + _4 <= kept:
                j0, j1, j2, j3 = at[n], at[n + _1], at[n + _2], at[n + _3]
                v0, v1, v2, v3 = by[n], by[n + _1], by[n + _2], by[n + _3]
                for k in range(width):
                    two = (out[i, k] + v0 * dense[j0, k]) + v1 * dense[j1, k]
                    out[i, k] = (two + v2 * dense[j2, k]) + v3 * dense[j3, k]
                n += _4
            while n < kept:
                j0, v0 = at[n], by[n]
                for k in range(width):
                    out[i, k] += v0 * dense[j0, k]
                n += _1


@kernel
def _scatter(indptr: Any, others: Any, values: Any, dense: Any, drop: Any, out: Any) -> None:
    """Add ``sparse.T @ dense`` to `out`, row by row of the sparse matrix.

    Every column is summed in the order of the rows, as `_gather` does with the transpose, but all is read in
    the order in which it is stored. For one thread only.
    """
    at, by = np.empty(_CHUNK, np.uint64), np.empty(_CHUNK, values.dtype)
    width = _U(dense.shape[1])
    for i in range(_U(len(indptr) - 1)):
        p, last = _U(indptr[i]), _U(indptr[i + _1])
        while p < last:
            end = min(p + _U(_CHUNK), last)
            kept = _settle(p, end, others, None, values, drop, at, by)
            p = end
            for n in range(kept):
                j, v = at[n], by[n]
                for k in range(width):
                    out[j, k] += v * dense[i, k]


class _Product(torch.autograd.Function):
    """``dropout(matrix) @ dense``, differentiable in `dense`."""

    @staticmethod
    def forward(
        ctx: Any, dense: torch.Tensor, matrix: Rows | SparseFeatures, p: float, key: int
    ) -> torch.Tensor:
        d = dense.detach().contiguous().numpy()
        values = matrix.values.astype(d.dtype, copy=False)
        out = np.zeros((len(matrix.indptr) - 1, d.shape[1]), d.dtype)
        dropout = drop_settings(p, key, d.dtype)
        spread(
            lambda a, b: _gather(a, b, matrix.indptr, matrix.indices, None, values, d, dropout, out),
            len(out),
            len(values) * d.shape[1],
            matrix.indptr,
        )
        ctx.matrix, ctx.values, ctx.dropout, ctx.size = matrix, values, dropout, len(d)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().numpy()
        matrix = ctx.matrix
        out, cost = np.zeros((ctx.size, g.shape[1]), g.dtype), len(ctx.values) * g.shape[1]
        rest: list[Any] = [ctx.values, g, ctx.dropout, out]
        if threads_for(cost) == 1:
            _scatter(matrix.indptr, matrix.indices, *rest)
        else:
            turned = matrix.transpose(ctx.size)
            spread(lambda a, b: _gather(a, b, *turned, *rest), ctx.size, cost, turned.indptr)
        return torch.from_numpy(out), None, None, None


def propagate(z: torch.Tensor, rows: Rows | SparseFeatures, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``Σ_j rows_ij z_j`` on the CPU, entries of the rows dropped with probability p; differentiable in z."""
    out: torch.Tensor = run(_Product, z, rows, p, key)
    return out
