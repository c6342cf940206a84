"""X W for dense X, dropout and bias, with the same bits at any thread count.

A BLAS splits its sums differently for every number of threads, and the choice of a motif is an argmax
that may turn on the last bit. The products of a layer are small, so they are made here, in a fixed order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from mcn._jit import kernel
from mcn.nn._rng import hash32, threshold
from mcn.nn._work import run, spread

_TILE = 64  # rows that are turned round together when the result is narrow
_NARROW = 16  # columns below which vectors run over rows instead of columns


@kernel
def _wide(start: int, stop: int, x: Any, w: Any, out: Any) -> None:
    """Compute rows start … stop of ``x @ w``, eight columns of x at a time to pass over `out` less often."""
    depth = x.shape[1]
    for r in range(start, stop):
        f = 0
        while f + 8 <= depth:
            a0, a1, a2, a3 = x[r, f], x[r, f + 1], x[r, f + 2], x[r, f + 3]
            a4, a5, a6, a7 = x[r, f + 4], x[r, f + 5], x[r, f + 6], x[r, f + 7]
            for k in range(w.shape[1]):
                out[r, k] += ((a0 * w[f, k] + a1 * w[f + 1, k]) + (a2 * w[f + 2, k] + a3 * w[f + 3, k])) + (
                    (a4 * w[f + 4, k] + a5 * w[f + 5, k]) + (a6 * w[f + 6, k] + a7 * w[f + 7, k])
                )
            f += 8
        while f < depth:
            a0 = x[r, f]
            for k in range(w.shape[1]):
                out[r, k] += a0 * w[f, k]
            f += 1


@kernel
def _narrow(start: int, stop: int, x: Any, w: Any, out: Any) -> None:
    """Compute the same for a `w` of few columns: transpose tiles of rows, and let vectors run along them."""
    depth, width = w.shape
    turned = np.zeros((depth, _TILE), x.dtype)
    total = np.empty((width, _TILE), x.dtype)
    for first in range(start, stop, _TILE):
        rows = min(_TILE, stop - first)
        for f in range(depth):
            for j in range(rows):
                turned[f, j] = x[first + j, f]
        total[:] = 0
        for k in range(width):
            for f in range(depth):
                v = w[f, k]
                for j in range(_TILE):
                    total[k, j] += v * turned[f, j]
        for j in range(rows):
            for k in range(width):
                out[first + j, k] = total[k, j]


@kernel
def _weight_gradient(start: int, stop: int, x: Any, g: Any, out: Any) -> None:
    """Compute columns start … stop of ``(x.T @ g).T``, summing rows in groups of eight."""
    count = x.shape[0]
    r = 0
    while r + 8 <= count:
        for k in range(g.shape[1]):
            a0, a1, a2, a3 = g[r, k], g[r + 1, k], g[r + 2, k], g[r + 3, k]
            a4, a5, a6, a7 = g[r + 4, k], g[r + 5, k], g[r + 6, k], g[r + 7, k]
            for f in range(start, stop):
                out[k, f] += ((a0 * x[r, f] + a1 * x[r + 1, f]) + (a2 * x[r + 2, f] + a3 * x[r + 3, f])) + (
                    (a4 * x[r + 4, f] + a5 * x[r + 5, f]) + (a6 * x[r + 6, f] + a7 * x[r + 7, f])
                )
        r += 8
    while r < count:
        for k in range(g.shape[1]):
            a0 = g[r, k]
            for f in range(start, stop):
                out[k, f] += a0 * x[r, f]
        r += 1


@kernel
def drop(start: int, stop: int, x: Any, limit: int, scale: Any, key: Any, out: Any) -> None:
    """Copy entries start … stop of the flat `x`, as zero where the hash of the position is below `limit`."""
    zero = x.dtype.type(0)
    # Unsigned counters: a signed index may be negative to numba, and LLVM then checks for overlap too widely.
    for n in range(np.uint64(start), np.uint64(stop)):
        out[n] = x[n] * scale if hash32(n, key) >= limit else zero


@kernel
def _column_sums(x: Any, out: Any) -> None:
    for r in range(x.shape[0]):
        for k in range(x.shape[1]):
            out[k] += x[r, k]


def dropped(x: Any, p: float, key: int) -> Any:
    """Copy the array `x` with its entries dropped by (key, position); return `x` itself when p is 0."""
    if p == 0.0:
        return x
    out = np.empty_like(x)
    source, target = x.reshape(-1), out.reshape(-1)
    scale, limit = x.dtype.type(1.0 / (1.0 - p)), threshold(p)

    def work(start: int, stop: int) -> None:
        drop(start, stop, source, limit, scale, np.uint64(key), target)

    spread(work, len(source), len(source))
    return out


def _matmul(x: Any, w: Any) -> Any:
    out = np.zeros((x.shape[0], w.shape[1]), w.dtype)
    rows = _narrow if w.shape[1] < _NARROW else _wide
    spread(lambda start, stop: rows(start, stop, x, w, out), x.shape[0], x.size * w.shape[1])
    return out


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, p: float, key: int) -> torch.Tensor:
        w = weight.detach().contiguous().numpy()
        kept = dropped(x.detach().contiguous().numpy(), p, key)
        ctx.save_for_backward(x if p == 0.0 else torch.from_numpy(kept), weight)
        ctx.p, ctx.key = p, key
        return torch.from_numpy(_matmul(kept, w))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().numpy()
        kept, weight = (t.detach().contiguous().numpy() for t in ctx.saved_tensors)
        grad_x = grad_w = None
        if ctx.needs_input_grad[0]:
            grad = _matmul(g, np.ascontiguousarray(weight.T))
            grad_x = torch.from_numpy(dropped(grad, ctx.p, ctx.key))
        if ctx.needs_input_grad[1]:
            out = np.zeros(weight.shape[::-1], g.dtype)
            spread(lambda a, b: _weight_gradient(a, b, kept, g, out), weight.shape[0], kept.size * g.shape[1])
            grad_w = torch.from_numpy(np.ascontiguousarray(out.T))
        return grad_x, grad_w, None, None


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, p: float, key: int) -> torch.Tensor:
        ctx.p, ctx.key = p, key
        return torch.from_numpy(dropped(x.detach().contiguous().numpy(), p, key))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return torch.from_numpy(dropped(grads[0].contiguous().numpy(), ctx.p, ctx.key)), None, None


class _AddBias(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return x + bias

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous()
        out = np.zeros(g.shape[1], g.numpy().dtype)
        _column_sums(g.numpy(), out)
        return g, torch.from_numpy(out)


def linear(x: torch.Tensor, weight: torch.Tensor, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``dropout(x) @ weight`` on the CPU; `weight` is [in, out]."""
    out: torch.Tensor = run(_Linear, x, weight, p, key)
    return out


def dropout(x: torch.Tensor, p: float, key: int) -> torch.Tensor:
    """`x` with its entries dropped by (key, position), the kept ones scaled by 1/(1-p), on the CPU."""
    if p == 0.0:
        return x
    out: torch.Tensor = run(_Dropout, x, p, key)
    return out


def add_bias(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """``x + bias`` on the CPU, the bias's gradient summed in the order of the rows."""
    out: torch.Tensor = run(_AddBias, x, bias)
    return out
