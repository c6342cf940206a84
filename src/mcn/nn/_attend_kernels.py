"""Kernels of the fused attention: one row of Â at a time forward, one source at a time backward.

Shapes: z [num_src, H, D], s_dst [num_dst, H], s_src [num_src, H], alpha [E, H]; coefficient number
``n * H + h`` is dropped when the hash of (key, number) is below `limit`, where n = e, or what `numbers` says.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload, register_jitable
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.nn._rng import hash32

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


class Job(NamedTuple):
    """The arguments that the kernels share; the shapes are given above.

    indptr, indices, prior: the chosen rows, with Ã as their values. multiply: the prior "product".
    slope: slope of the LeakyReLU below zero. limit, scale, key: the dropout of the coefficients.
    numbers: n of the first entry of each row; `indptr` where entries are numbered as they lie.
    alpha: the softmax, written by `forward`.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    prior: NDArray[Any]
    multiply: bool
    s_dst: NDArray[Any]
    s_src: NDArray[Any]
    z: NDArray[Any]
    slope: Any
    limit: int
    scale: Any
    key: np.uint64
    numbers: NDArray[np.int64]
    alpha: NDArray[Any]


@kernel
def drop_row(row: Any, n: int, limit: int, key: Any) -> None:
    """Set the coefficients of entry number n to zero where the hash of their number is below `limit`."""
    if limit > 0:
        heads, zero = row.shape[0], row.dtype.type(0)
        for h in range(heads):
            row[h] = row[h] if hash32(n * heads + h, key) >= limit else zero


@kernel
def forward(
    start: int,
    stop: int,
    job: Job,
    out: Any,
) -> None:
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
            drop_row(coefficient, numbers[i] - indptr[i] + e, limit, key)
            to, of = out[i], z[indices[e]]
            for h in range(heads):
                by = coefficient[h]
                for d in range(width):
                    to[h, d] += by * of[h, d]


@kernel
def backward_rows(
    start: int,
    stop: int,
    job: Job,
    g: Any,
    d_logit: Any,
    d_dst: Any,
) -> None:
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
            drop_row(row, numbers[i] - indptr[i] + e, limit, key)
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
def backward_sources(
    start: int,
    stop: int,
    indptr: Any,
    targets: Any,
    entries: Any,
    job: Job,
    g: Any,
    d_logit: Any,
    d_src: Any,
    d_z: Any,
) -> None:
    """Sum the gradients of each source over the targets that listen to it, in ascending order."""
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
            drop_row(coefficient, numbers[i] - row_starts[i] + e, limit, key)
            for h in range(heads):
                by = coefficient[h]
                for d in range(width):
                    to[h, d] += by * of[h, d]
