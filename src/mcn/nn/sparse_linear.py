"""X W for sparse X, with dropout on the stored values inside (the input layer)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from mcn._jit import kernel
from mcn.nn._apply import run
from mcn.nn._rng import hash32, threshold
from mcn.nn._work import spread
from mcn.nn.features import SparseFeatures


@kernel
def _forward(
    start: int,
    stop: int,
    indptr: Any,
    indices: Any,
    values: Any,
    w: Any,
    limit: int,
    scale: Any,
    key: Any,
    out: Any,
) -> None:
    for r in range(start, stop):
        for e in range(indptr[r], indptr[r + 1]):
            if limit > 0 and hash32(e, key) < limit:
                continue
            v = values[e] * scale
            to, of = out[r], w[indices[e]]
            for k in range(of.shape[0]):
                to[k] += v * of[k]


@kernel
def _backward(
    start: int,
    stop: int,
    indptr: Any,
    rows: Any,
    entries: Any,
    values: Any,
    g: Any,
    limit: int,
    scale: Any,
    key: Any,
    out: Any,
) -> None:
    for c in range(start, stop):
        for slot in range(indptr[c], indptr[c + 1]):
            e = entries[slot]
            if limit > 0 and hash32(e, key) < limit:
                continue
            v = values[e] * scale
            to, of = out[c], g[rows[slot]]
            for k in range(of.shape[0]):
                to[k] += v * of[k]


class _SparseLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, x: SparseFeatures, p: float, key: int) -> torch.Tensor:
        w = weight.detach().contiguous().numpy()
        ctx.x, ctx.p, ctx.key = x, p, key
        out = np.zeros((x.shape[0], w.shape[1]), w.dtype)
        values = x.values.astype(w.dtype, copy=False)
        scale, limit = w.dtype.type(1.0 / (1.0 - p)), threshold(p)

        def work(start: int, stop: int) -> None:
            _forward(start, stop, x.indptr, x.indices, values, w, limit, scale, np.uint64(key), out)

        spread(work, x.shape[0], len(values) * w.shape[1], x.indptr)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().numpy()
        x, p = ctx.x, ctx.p
        out = np.zeros((x.shape[1], g.shape[1]), g.dtype)
        values = x.values.astype(g.dtype, copy=False)
        scale, limit = g.dtype.type(1.0 / (1.0 - p)), threshold(p)
        columns: list[Any] = [*x.by_column]

        def work(start: int, stop: int) -> None:
            _backward(start, stop, *[*columns, values, g, limit, scale, np.uint64(ctx.key), out])

        spread(work, x.shape[1], len(values) * g.shape[1], columns[0])
        return torch.from_numpy(out), None, None, None


def sparse_linear(x: SparseFeatures, weight: torch.Tensor, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``dropout(X) @ weight`` on the CPU; differentiable in `weight` alone.

    The work is that of the stored values of X that survive the dropout, forward and backward; the
    stored value number e is dropped when the hash of (key, e) says so.
    """
    out: torch.Tensor = run(_SparseLinear, weight, x, p, key)
    return out
