"""Kernels of the fused attention: one row of Â at a time forward, one source at a time backward.

Shapes: z [num_src, H, D], s_dst [num_dst, H], s_src [num_src, H], alpha [E, H]; coefficient number
``e * H + h`` is dropped when the hash of (key, number) is below `limit`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mcn._jit import kernel
from mcn.nn._exp import exp
from mcn.nn._rng import hash32


@kernel
def forward(
    start: int,
    stop: int,
    indptr: Any,
    indices: Any,
    prior: Any,
    multiply: bool,
    s_dst: Any,
    s_src: Any,
    z: Any,
    slope: Any,
    limit: int,
    scale: Any,
    key: Any,
    alpha: Any,
    out: Any,
) -> None:
    """Softmax over each target's row (with log Ã added to the logit unless `multiply`), then aggregate."""
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
            if limit > 0:
                for h in range(heads):
                    coefficient[h] = coefficient[h] if hash32(e * heads + h, key) >= limit else zero
            to, of = out[i], z[indices[e]]
            for h in range(heads):
                by = coefficient[h]
                for d in range(width):
                    to[h, d] += by * of[h, d]


@kernel
def backward_rows(
    start: int,
    stop: int,
    indptr: Any,
    indices: Any,
    prior: Any,
    multiply: bool,
    s_dst: Any,
    s_src: Any,
    z: Any,
    slope: Any,
    limit: int,
    scale: Any,
    key: Any,
    alpha: Any,
    g: Any,
    d_logit: Any,
    d_dst: Any,
) -> None:
    """Gradient of every logit (kept for the pass over sources) and of the targets' half of it."""
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
            if limit > 0:
                for h in range(heads):
                    row[h] = row[h] if hash32(e * heads + h, key) >= limit else zero
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
    prior: Any,
    multiply: bool,
    limit: int,
    scale: Any,
    key: Any,
    alpha: Any,
    g: Any,
    d_logit: Any,
    d_src: Any,
    d_z: Any,
) -> None:
    """Gradients of each source, summed over the targets that listen to it in ascending order."""
    _, heads, width = d_z.shape
    coefficient, zero = np.empty(heads, d_z.dtype), d_z.dtype.type(0)
    for j in range(start, stop):
        total, to = d_src[j], d_z[j]
        for slot in range(indptr[j], indptr[j + 1]):
            e = entries[slot]
            weight = prior[e] * scale if multiply else scale
            row, share, of = d_logit[e], alpha[e], g[targets[slot]]
            for h in range(heads):
                total[h] += row[h]
                coefficient[h] = share[h] * weight
            if limit > 0:
                for h in range(heads):
                    coefficient[h] = coefficient[h] if hash32(e * heads + h, key) >= limit else zero
            for h in range(heads):
                by = coefficient[h]
                for d in range(width):
                    to[h, d] += by * of[h, d]
