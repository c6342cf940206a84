"""From the five enumerated numbers per edge to the 13 edge orbits and 15 node orbits."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcn._jit import kernel


@kernel
def node_sums(indptr: Any, indices: Any, t: Any) -> Any:
    """Per node: degree d, the degrees of its neighbours summed D, the triangles on it T."""
    n = len(indptr) - 1
    degree, around, triangles = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for u in range(n):
        degree[u] += indptr[u + 1] - indptr[u]
        for e in range(indptr[u], indptr[u + 1]):
            degree[indices[e]] += 1
            triangles[u] += np.int64(t[e])
            triangles[indices[e]] += np.int64(t[e])
    for u in range(n):
        triangles[u] //= 2
        for e in range(indptr[u], indptr[u + 1]):
            around[u] += degree[indices[e]]
            around[indices[e]] += degree[u]
    return degree, around, triangles


@kernel
def _orbits(
    e: Any,
    u: Any,
    v: Any,
    degree: Any,
    around: Any,
    triangles: Any,
    t_: Any,
    s1_: Any,
    s2_: Any,
    k_: Any,
    c_: Any,
    o: Any,
) -> Any:
    """The 13 induced orbit counts of edge e = (u, v) into `o`."""
    du, dv = degree[u], degree[v]
    t, s1, s2 = np.int64(t_[e]), np.int64(s1_[e]), np.int64(s2_[e])
    k, c = np.int64(k_[e]), np.int64(c_[e])
    a, b = du - 1 - t, dv - 1 - t
    ce = s2 - 2 * t - 4 * k
    cc = t * (t - 1) // 2 - k
    c4 = c - ce - 2 * k
    tt = triangles[u] + triangles[v] - 2 * t - ce - 2 * k
    o[0] = 1
    o[1] = a + b
    o[2] = t
    o[3] = around[u] + around[v] - du - dv - 2 * s1 - a - b - 2 * tt - 2 * c4 - ce
    o[4] = a * b - c4
    o[5] = a * (a - 1) // 2 + b * (b - 1) // 2 - tt
    o[6] = c4
    o[7] = tt
    o[8] = t * (du + dv - 4) - ce - 4 * cc - 4 * k
    o[9] = s1 - 2 * t - ce - 2 * k
    o[10] = ce
    o[11] = cc
    o[12] = k


@kernel
def edge_columns(
    indptr: Any,
    indices: Any,
    degree: Any,
    around: Any,
    triangles: Any,
    t: Any,
    s1: Any,
    s2: Any,
    k: Any,
    c: Any,
    weights: Any,
) -> Any:
    """Int64 [M, rows of `weights`]: weighted sums of the 13 orbit counts of every edge."""
    columns = np.empty((len(indices), len(weights)), np.int64)
    o = np.empty(13, np.int64)
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            _orbits(e, u, v, degree, around, triangles, t, s1, s2, k, c, o)
            for i in range(len(weights)):
                total = 0
                for j in range(13):
                    total += weights[i, j] * o[j]
                columns[e, i] = total
    return columns


@kernel
def node_orbits(
    indptr: Any,
    indices: Any,
    degree: Any,
    around: Any,
    triangles: Any,
    t: Any,
    s1: Any,
    s2: Any,
    k: Any,
    c: Any,
) -> Any:
    """Int64 [N, 15]: the induced node orbits, in the usual order, from sums over each node's edges."""
    n = len(indptr) - 1
    s = np.zeros((n, 13), np.int64)
    o = np.empty(13, np.int64)
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            _orbits(e, u, v, degree, around, triangles, t, s1, s2, k, c, o)
            for j in range(13):
                s[u, j] += o[j]
                s[v, j] += o[j]
    r = np.empty((n, 15), np.int64)
    for u in range(n):
        d = degree[u]
        r[u, 0] = d
        r[u, 3] = s[u, 2] // 2
        r[u, 2] = d * (d - 1) // 2 - r[u, 3]
        r[u, 1] = s[u, 1] - 2 * r[u, 2]
        r[u, 5] = s[u, 4]
        r[u, 4] = s[u, 3] - s[u, 4]
        r[u, 8] = s[u, 6] // 2
        r[u, 10] = s[u, 9]
        r[u, 11] = (s[u, 8] - s[u, 9]) // 2
        r[u, 9] = s[u, 7] - r[u, 11]
        r[u, 13] = s[u, 11]
        r[u, 12] = s[u, 10] // 2 - s[u, 11]
        r[u, 14] = s[u, 12] // 3
        r[u, 7] = d * (d - 1) * (d - 2) // 6 - r[u, 11] - r[u, 13] - r[u, 14]
        r[u, 6] = s[u, 5] - 3 * r[u, 7]
    return r
