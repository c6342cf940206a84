"""Self-attention over the chosen rows, with Ψ as its prior: the logits, the softmax and the sums.

Kernels go over one row of Â at a time forward, and over one source at a time backward. Shapes: z
[num_src, H, D], s_dst [num_dst, H], s_src [num_src, H], alpha [E, H]; coefficient number ``n * H + h`` is
dropped when the hash of (key, number) is below `limit`, where n = e, or what `numbers` says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numba import types
from numba.extending import overload, register_jitable
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from mcn.matrices import Rows
from mcn.nn._parallel import run, spread
from mcn.nn._rng import drop_settings, hash32
from mcn.nn.linear import dropped

PRIORS = ("softmax", "product")


@dataclass(frozen=True)
class Attention:
    """Settings of one call of `attend`: its prior, the dropouts of coefficients and of z, and their keys.

    The first entry of row i counts as number ``numbers[i]`` where it is decided which coefficients are
    dropped; None if entries are numbered as they lie.
    """

    prior: str = "softmax"  # adds log Ã to the logits; "product" multiplies the finished softmax by Ã
    slope: float = 0.2  # of the LeakyReLU below zero
    coefficient_dropout: float = 0.0
    feature_dropout: float = 0.0
    coefficient_key: int = 0
    feature_key: int = 0
    numbers: NDArray[np.int64] | None = None
    return_coefficients: bool = False


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        z: torch.Tensor,
        s_dst: torch.Tensor,
        s_src: torch.Tensor,
        rows: Rows,
        how: Attention,
        alpha: NDArray[Any],
    ) -> torch.Tensor:
        """Write the softmax to `alpha` and return the sums."""
        zn, dst, src = (t.detach().contiguous().numpy() for t in (z, s_dst, s_src))
        zn = dropped(zn, how.feature_dropout, how.feature_key)
        prior = rows.values.astype(zn.dtype, copy=False)
        out = np.zeros((len(dst), *zn.shape[1:]), zn.dtype)
        limit, scale, key = drop_settings(how.coefficient_dropout, how.coefficient_key, zn.dtype)
        multiply, slope = how.prior == "product", zn.dtype.type(how.slope)
        numbers = rows.indptr if how.numbers is None else how.numbers
        job = _Job(*rows[:2], prior, multiply, dst, src, zn, slope, limit, scale, key, numbers, alpha)
        if len(zn):
            cost = alpha.size * (zn.shape[2] + 8)
            spread(lambda a, b: _forward(a, b, job, out), len(dst), cost, rows.indptr)
        ctx.job, ctx.how = job, how
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().numpy()
        job: _Job = ctx.job
        d_logit, d_dst = np.empty_like(job.alpha), np.zeros_like(job.s_dst)
        d_src, d_z = np.zeros_like(job.s_src), np.zeros_like(job.z)
        cost = job.alpha.size * (d_z.shape[2] + 4)
        if len(d_z):
            to = (job, g, d_logit, d_dst)
            spread(lambda a, b: _backward_rows(a, b, *to), len(d_dst), cost, job.indptr)
        turned = Rows(job.indptr, job.indices, job.prior).transpose(len(d_z))
        rest = (turned, job, g, d_logit, d_src, d_z)
        spread(lambda a, b: _backward_sources(a, b, *rest), len(d_z), cost, turned.indptr)
        d_z = dropped(d_z, ctx.how.feature_dropout, ctx.how.feature_key)
        return torch.from_numpy(d_z), torch.from_numpy(d_dst), torch.from_numpy(d_src), None, None, None


def attend(
    z: torch.Tensor, s_dst: torch.Tensor, s_src: torch.Tensor, rows: Rows, how: Attention
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Gather the chosen rows, softmax with prior, drop out, aggregate (eq:gat-integrate, eq:att_matrix).

    ``α_ij ∝ Ã_ij · exp(LeakyReLU(s_dst_i + s_src_j))`` under the prior "softmax", or
    ``α_ij = Ã_ij · softmax_j(LeakyReLU(s_dst_i + s_src_j))`` under "product". Gradients reach z, s_dst and
    s_src.

    Shapes:
        z: [num_src, H, D]. s_dst: [num_dst, H]. s_src: [num_src, H].
        result: [num_dst, H, D]; with `how.return_coefficients` also α before its dropout, [entries, H],
        without gradient.
    """
    alpha = np.empty((len(rows.indices), z.shape[1]), z.detach().numpy().dtype)
    out: torch.Tensor = run(_Attend, z, s_dst, s_src, rows, how, alpha)
    if not how.return_coefficients:
        return out
    return out, torch.from_numpy(alpha if how.prior == "softmax" else alpha * rows.values[:, None])


# Sums over nodes are made in blocks of this many rows, then over the blocks: fixed, whatever the threads.
_BLOCK = 8192


@kernel
def _half(start: int, stop: int, z: Any, att: Any, out: Any) -> None:
    _, heads, width = z.shape
    for n in range(start, stop):
        for h in range(heads):
            total = z.dtype.type(0)
            for d in range(width):
                total += z[n, h, d] * att[h, d]
            out[n, h] = total


@kernel
def _half_gradient(
    start: int, stop: int, count: int, g_src: Any, g_dst: Any, a_src: Any, a_dst: Any, out: Any
) -> None:
    _, heads, width = out.shape
    for n in range(start, stop):
        for h in range(heads):
            for d in range(width):
                out[n, h, d] = g_src[n, h] * a_src[h, d]
            if n < count:
                for d in range(width):
                    out[n, h, d] += g_dst[n, h] * a_dst[h, d]


@kernel
def _att_sums(start: int, stop: int, block: int, rows: int, z: Any, g: Any, out: Any) -> None:
    _, heads, width = z.shape
    for b in range(start, stop):
        for n in range(b * block, min(rows, (b + 1) * block)):
            for h in range(heads):
                v = g[n, h]
                for d in range(width):
                    out[b, h, d] += v * z[n, h, d]


def _att_gradient(z: Any, g: Any) -> torch.Tensor:
    blocks = -(-max(len(g), 1) // _BLOCK)
    partial = np.zeros((blocks, *z.shape[1:]), z.dtype)
    spread(lambda a, b: _att_sums(a, b, _BLOCK, len(g), z, g, partial), blocks, g.size * z.shape[2])
    return torch.from_numpy(np.add.reduce(partial, axis=0))


class _Logits(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.save_for_backward(z, att_src, att_dst)
        zn, a_src, a_dst = (t.detach().contiguous().numpy() for t in (z, att_src, att_dst))
        src = np.empty(zn.shape[:2], zn.dtype)
        dst = np.empty((num_dst, zn.shape[1]), zn.dtype)
        spread(lambda a, b: _half(a, b, zn, a_src, src), len(src), zn.size)
        spread(lambda a, b: _half(a, b, zn, a_dst, dst), num_dst, num_dst * zn[0].size if num_dst else 0)
        return torch.from_numpy(src), torch.from_numpy(dst)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        z, a_src, a_dst = (t.detach().contiguous().numpy() for t in ctx.saved_tensors)
        g_src, g_dst = (g.contiguous().numpy() for g in grads)
        out = np.empty_like(z)
        spread(
            lambda a, b: _half_gradient(a, b, len(g_dst), g_src, g_dst, a_src, a_dst, out), len(z), 2 * z.size
        )
        return torch.from_numpy(out), _att_gradient(z, g_src), _att_gradient(z, g_dst), None


def head_logits(
    z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the two halves of the logit a[h_i W, h_j W] (eq:gat-integrate), per node and head.

    Shapes:
        z: [num_src, H, D]. att_src, att_dst: [H, D].
        result: ``z_j · att_src`` for all sources, [num_src, H], and ``z_i · att_dst`` for the first `num_dst`
        of them, [num_dst, H].
    """
    out: tuple[torch.Tensor, torch.Tensor] = run(_Logits, z, att_src, att_dst, num_dst)
    return out


# An exponential that the compiler can vectorise, for float32; float64 keeps the library's.
_LOG2E = np.float32(1.44269504088896341)
_LN2_HIGH = np.float32(0.693359375)
_LN2_LOW = np.float32(-2.12194440e-4)
_LEAST = np.float32(-87.0)
_C0, _C1, _C2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
_C3, _C4, _C5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)
_HALF, _ONE, _ZERO = np.float32(0.5), np.float32(1.0), np.float32(0.0)


@register_jitable
def _exp_float32(x: Any) -> Any:
    """exp(x) for x ≤ 0 by a minimax polynomial on [-ln2/2, ln2/2], good to 2 units in the last place."""
    y = max(x, _LEAST)
    n = np.float32(math.floor(y * _LOG2E + _HALF))
    r = (y - n * _LN2_HIGH) - n * _LN2_LOW
    p = ((((_C0 * r + _C1) * r + _C2) * r + _C3) * r + _C4) * r + _C5
    p = (p * r) * r + r + _ONE
    power = np.int32(np.int32(np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return p * power if x >= _LEAST else _ZERO


def exp(x: Any) -> Any:
    """exp(x) of a number that is not positive, in its own type."""
    return x.dtype.type(math.exp(x))


@overload(exp)
def _overload_exp(x: Any) -> Any:
    def single(x: Any) -> Any:
        return _exp_float32(x)

    def double(x: Any) -> Any:
        return math.exp(x)

    return single if x == types.float32 else double


class _Job(NamedTuple):
    """The arguments that the kernels share; the shapes are given above, the settings by `Attention`."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    prior: NDArray[Any]  # Ã, the values of the chosen rows
    multiply: bool  # the prior "product"
    s_dst: NDArray[Any]
    s_src: NDArray[Any]
    z: NDArray[Any]
    slope: Any
    limit: int  # with `scale` and `key`: the dropout of the coefficients
    scale: Any
    key: np.uint64
    numbers: NDArray[np.int64]  # `indptr` where entries are numbered as they lie
    alpha: NDArray[Any]  # the softmax, written by `_forward`


@kernel
def _drop_row(row: Any, n: int, limit: int, key: Any) -> None:
    """Set the coefficients of entry number n to zero where the hash of their number is below `limit`."""
    if limit > 0:
        heads, zero = row.shape[0], row.dtype.type(0)
        for h in range(heads):
            row[h] = row[h] if hash32(n * heads + h, key) >= limit else zero


@kernel
def _forward(start: int, stop: int, job: _Job, out: Any) -> None:
    """For each target: softmax over its row into `alpha`, then the weighted sum of its sources into `out`.

    Without `multiply`, log Ã is added to the logits; with it, the finished softmax is multiplied by Ã.
    """
    indptr, indices, prior, multiply, s_dst, s_src, z, slope, limit, scale, key, numbers, alpha = job
    _, heads, width = z.shape
    top = np.empty(heads, z.dtype)
    total = np.empty(heads, z.dtype)
    coefficient = np.empty(heads, z.dtype)
    zero, one = z.dtype.type(0), z.dtype.type(1)
    least = z.dtype.type(-math.inf)
    for i in range(start, stop):
        top[:] = least
        total[:] = zero
        mine = s_dst[i]
        for e in range(indptr[i], indptr[i + 1]):
            log_prior = zero
            if not multiply and prior[e] != one:
                log_prior = z.dtype.type(math.log(prior[e])) if prior[e] > zero else least
            row, theirs = alpha[e], s_src[indices[e]]
            for h in range(heads):
                t = mine[h] + theirs[h]
                t = (t if t > zero else slope * t) + log_prior
                row[h] = t
                top[h] = top[h] if top[h] > t else t
        for h in range(heads):
            if top[h] == least:
                top[h] = zero
        for e in range(indptr[i], indptr[i + 1]):
            row = alpha[e]
            for h in range(heads):
                t = exp(row[h] - top[h])
                row[h] = t
                total[h] += t
        for h in range(heads):
            total[h] = one / total[h] if total[h] > zero else zero
        for e in range(indptr[i], indptr[i + 1]):
            row = alpha[e]
            for h in range(heads):
                row[h] *= total[h]
            weight = prior[e] * scale if multiply else scale
            for h in range(heads):
                coefficient[h] = row[h] * weight
            _drop_row(coefficient, numbers[i] - indptr[i] + e, limit, key)
            to, of = out[i], z[indices[e]]
            for h in range(heads):
                by = coefficient[h]
                for d in range(width):
                    to[h, d] += by * of[h, d]


@kernel
def _backward_rows(start: int, stop: int, job: _Job, g: Any, d_logit: Any, d_dst: Any) -> None:
    """Compute the gradient of every logit, which the pass over sources reads, and of the targets' halves."""
    indptr, indices, prior, multiply, s_dst, s_src, z, slope, limit, scale, key, numbers, alpha = job
    _, heads, width = z.shape
    mean = np.empty(heads, z.dtype)
    zero, one = z.dtype.type(0), z.dtype.type(1)
    for i in range(start, stop):
        mean[:] = zero
        for e in range(indptr[i], indptr[i + 1]):
            weight = prior[e] * scale if multiply else scale
            row, share, by, of = d_logit[e], alpha[e], g[i], z[indices[e]]
            for h in range(heads):
                t = zero
                for d in range(width):
                    t += by[h, d] * of[h, d]
                row[h] = t * weight
            _drop_row(row, numbers[i] - indptr[i] + e, limit, key)
            for h in range(heads):
                mean[h] += row[h] * share[h]
        mine, total = s_dst[i], d_dst[i]
        for e in range(indptr[i], indptr[i + 1]):
            row, share, theirs = d_logit[e], alpha[e], s_src[indices[e]]
            for h in range(heads):
                t = share[h] * (row[h] - mean[h])
                t *= one if mine[h] + theirs[h] > zero else slope
                row[h] = t
                total[h] += t


@kernel
def _backward_sources(
    start: int, stop: int, turned: Any, job: _Job, g: Any, d_logit: Any, d_src: Any, d_z: Any
) -> None:
    """Sum the gradients of each source over the targets that listen to it, in ascending order."""
    indptr, targets, entries = turned
    row_starts, _, prior, multiply, _, _, _, _, limit, scale, key, numbers, alpha = job
    _, heads, width = d_z.shape
    coefficient = np.empty(heads, d_z.dtype)
    for j in range(start, stop):
        total, to = d_src[j], d_z[j]
        for slot in range(indptr[j], indptr[j + 1]):
            e = entries[slot]
            weight = prior[e] * scale if multiply else scale
            row, share, of = d_logit[e], alpha[e], g[targets[slot]]
            for h in range(heads):
                total[h] += row[h]
                coefficient[h] = share[h] * weight
            i = targets[slot]
            _drop_row(coefficient, numbers[i] - row_starts[i] + e, limit, key)
            for h in range(heads):
                by = coefficient[h]
                for d in range(width):
                    to[h, d] += by * of[h, d]
