"""Aggregation with fixed coefficients: the neighbourhood sum of the state, and eq:gcn with Â plugged in."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.matrices import Rows
from mcn.nn._apply import run
from mcn.nn._csr import transpose
from mcn.nn._rng import hash32, threshold
from mcn.nn._work import spread


@kernel
def _forward(
    start: int,
    stop: int,
    indptr: Any,
    indices: Any,
    values: Any,
    z: Any,
    limit: int,
    scale: Any,
    key: Any,
    out: Any,
) -> None:
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            if limit > 0 and hash32(e, key) < limit:
                continue
            v = values[e] * scale
            to, of = out[i], z[indices[e]]
            for k in range(of.shape[0]):
                to[k] += v * of[k]


@kernel
def _backward(
    start: int,
    stop: int,
    indptr: Any,
    targets: Any,
    entries: Any,
    values: Any,
    g: Any,
    limit: int,
    scale: Any,
    key: Any,
    out: Any,
) -> None:
    for j in range(start, stop):
        for slot in range(indptr[j], indptr[j + 1]):
            e = entries[slot]
            if limit > 0 and hash32(e, key) < limit:
                continue
            v = values[e] * scale
            to, of = out[j], g[targets[slot]]
            for k in range(of.shape[0]):
                to[k] += v * of[k]


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: torch.Tensor, rows: Rows, p: float, key: int) -> torch.Tensor:
        zn = z.detach().contiguous().numpy()
        values = rows.values.astype(zn.dtype, copy=False)
        out = np.zeros((len(rows.indptr) - 1, zn.shape[1]), zn.dtype)
        dropout = (threshold(p), zn.dtype.type(1.0 / (1.0 - p)), np.uint64(key))
        spread(
            lambda a, b: _forward(a, b, rows.indptr, rows.indices, values, zn, *dropout, out),
            len(out),
            len(values) * zn.shape[1],
            rows.indptr,
        )
        ctx.rows, ctx.values, ctx.dropout, ctx.num_src = rows, values, dropout, len(zn)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().numpy()
        turned: list[Any] = [*transpose(ctx.rows.indptr, ctx.rows.indices, ctx.num_src)]
        out = np.zeros((ctx.num_src, g.shape[1]), g.dtype)
        spread(
            lambda a, b: _backward(a, b, *[*turned, ctx.values, g, *ctx.dropout, out]),
            ctx.num_src,
            len(ctx.values) * g.shape[1],
            turned[0],
        )
        return torch.from_numpy(out), None, None, None


def propagate(z: torch.Tensor, rows: Rows, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``Σ_j rows_ij z_j`` for z [num_src, C] on the CPU, entry e of the rows dropped by (key, e)."""
    out: torch.Tensor = run(_Propagate, z, rows, p, key)
    return out


def symmetric_normalised(
    rows: Rows, degrees: NDArray[np.float64], own: NDArray[np.float64] | None = None
) -> Rows:
    """Scale the entries of the target rows to D^-1/2 Â D^-1/2 (eq:gcn).

    Args:
        rows: the rows of Â of the targets, which are the first of the sources.
        degrees: row sums of Â for all sources.
        own: row sums of the targets where they differ from `degrees`: the sum that target i uses for itself,
            while every other target goes on using ``degrees[i]`` for it.
    """
    if len(degrees) and not degrees.min() > 0:
        raise ValueError(f"row sums of Â must be positive, got {degrees.min()} at source {degrees.argmin()}")
    root, lengths = 1.0 / np.sqrt(degrees), np.diff(rows.indptr)
    target, source = np.repeat(root[: len(lengths)], lengths), root[rows.indices]
    if own is not None:
        target = np.repeat(1.0 / np.sqrt(own), lengths)
        source = np.where(rows.indices == np.repeat(np.arange(len(lengths)), lengths), target, source)
    values = rows.values * target * source
    return Rows(rows.indptr, rows.indices, values.astype(rows.values.dtype))
