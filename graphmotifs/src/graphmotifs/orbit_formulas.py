"""Formulas that turn the five enumerated numbers per edge into the 13 edge orbits and the 15 node orbits.

Why nothing here overflows unseen. A graph has M < 2³¹ edges, which bounds the rest: the ends of an edge
have d(u) + d(v) ≤ M + 1; an edge has t < 2³⁰ triangles, because each takes two more edges; a node has
T ≤ M triangles, and the degrees around it sum to D ≤ 2M. Per edge every term and every count is then below
2⁶² (the largest: t (d(u) + d(v)), a b, a²/2 + b²/2, s2 ≤ 2 t max t). Per node, let E = M − d be the edges
elsewhere, of which x(v) are at neighbour v; Σ x ≤ 2E and Σ x² ≤ E² + E. Then paths and 4-cycles on a node
are at most 2 d E ≤ M²/2, tailed triangles at most d E as center or tail and Σ x² as edge, leaves of 3-stars
at most Σ x²/2, chordal cycles at most d E as center and E²/2 as rim, cliques at most (2M)^1.5. The sums over
a node's edges hold each of them up to three times, and stay below 2⁶³.

The one exception is the center of a 3-star, d (d − 1) (d − 2) / 6 less the triples that are joined: it
reaches 2⁶³ at a degree of about 3.8 million. `node_orbits` therefore counts it, and the sums that contain
it, in uint64, and reports the first node for which it does not fit. (numba promises LLVM that *signed*
integers do not wrap, so arithmetic that may wrap has to be unsigned.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from graphmotifs.graph import node_degrees

MOST_TRIPLES = 4_801_280
"""The largest degree d for which d (d − 1) (d − 2) / 6 is below 2⁶⁴."""


def _triples(d: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return d (d − 1) (d − 2) / 6, exact up to `MOST_TRIPLES`: it is divided first and multiplied last."""
    pairs, last = d * (d - 1) // 2, np.maximum(d - 2, 0)
    whole = pairs % 3 == 0  # of three numbers in a row one is divisible by 3
    pairs, last = np.where(whole, pairs // 3, pairs), np.where(whole, last, last // 3)
    return np.asarray(pairs.astype(np.uint64) * last.astype(np.uint64))


class EdgeNumbers(NamedTuple):
    """What the orbits are derived from: the graph, three sums per node and five numbers per edge."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    degree: NDArray[np.int64]  # d, per node
    around: NDArray[np.int64]  # D: the degrees of its neighbours, summed
    triangles: NDArray[np.int64]  # T: the triangles on it
    t: NDArray[Any]  # per edge, see `kernels`
    s1: NDArray[Any]
    s2: NDArray[Any]
    k: NDArray[Any]
    c: NDArray[Any]


@kernel
def node_sums(indptr: Any, indices: Any, t: Any) -> Any:
    """Return, for every node, its degree, the sum of its neighbours' degrees, and the triangles on it."""
    n = len(indptr) - 1
    degree, around, triangles = node_degrees(indptr, indices), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            triangles[u] += np.int64(t[e])
            triangles[indices[e]] += np.int64(t[e])
    for u in range(n):
        triangles[u] //= 2
        for e in range(indptr[u], indptr[u + 1]):
            around[u] += degree[indices[e]]
            around[indices[e]] += degree[u]
    return degree, around, triangles


@kernel
def _orbits(e: Any, u: Any, v: Any, numbers: Any, o: Any) -> Any:
    """Write the 13 induced orbit counts of edge e = (u, v) into `o`; docs/motifs.md has the formulas."""
    degree, around, triangles = numbers.degree, numbers.around, numbers.triangles
    du, dv = degree[u], degree[v]
    t, s1, s2 = np.int64(numbers.t[e]), np.int64(numbers.s1[e]), np.int64(numbers.s2[e])
    k, c = np.int64(numbers.k[e]), np.int64(numbers.c[e])
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
def orbit_rows(start: Any, stop: Any, numbers: Any, rows: Any) -> Any:
    """Write the 13 orbit counts of the edges of nodes in [start, stop) into their rows."""
    for u in range(start, stop):
        for e in range(numbers.indptr[u], numbers.indptr[u + 1]):
            _orbits(e, u, numbers.indices[e], numbers, rows[e])


@kernel
def edge_columns(start: Any, stop: Any, numbers: Any, weights: Any, columns: Any) -> Any:
    """Write weighted sums of the 13 orbit counts of the edges of nodes in [start, stop) into `columns`."""
    o = np.empty(13, np.int64)
    for u in range(start, stop):
        for e in range(numbers.indptr[u], numbers.indptr[u + 1]):
            _orbits(e, u, numbers.indices[e], numbers, o)
            for i in range(len(weights)):
                columns[e, i] = _weighted(weights[i], o)


@kernel
def _weighted(weights: Any, o: Any) -> Any:
    total = 0
    for j in range(13):
        total += weights[j] * o[j]
    return total


@kernel
def orbit_totals(numbers: Any, weights: Any) -> Any:
    """Return, per row of `weights`, the sum over all edges (two halves), and the edges and nodes with any.

    No weights stand for the induced orbits themselves.
    """
    count = len(weights) if len(weights) else 13
    high, low, edges = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    touched = np.zeros(len(numbers.degree), np.uint16)  # a bit for every orbit
    o = np.empty(13, np.int64)
    for u in range(len(numbers.degree)):
        for e in range(numbers.indptr[u], numbers.indptr[u + 1]):
            v = numbers.indices[e]
            _orbits(e, u, v, numbers, o)
            bits: Any = 0
            for i in range(count):
                value = _weighted(weights[i], o) if len(weights) else o[i]
                high[i] += value >> 32
                low[i] += value & 0xFFFFFFFF
                edges[i] += value != 0
                bits |= np.int64(value != 0) << i
            touched[u] |= np.uint16(bits)
            touched[v] |= np.uint16(bits)
    nodes = np.zeros(count, np.int64)
    for u in range(len(touched)):
        for i in range(count):
            nodes[i] += (touched[u] >> i) & 1
    return high, low, edges, nodes


def node_orbits(numbers: EdgeNumbers) -> tuple[NDArray[np.int64], int]:
    """Return the induced node orbits, int64 [N, 15], in the usual order, from sums over each node's edges.

    Also the first node whose 3-stars (as their center) do not fit into int64, or one of whose counts is
    negative, as the numbers of its edges contradict each other; or -1.
    """
    d, n = numbers.degree, len(numbers.degree)
    sums, stars = _sums_of_orbits(numbers)
    s, r = np.ascontiguousarray(sums.reshape(n, 13).T), np.empty((15, n), np.int64)
    r[0] = d
    r[3] = s[2] // 2
    r[2] = d * (d - 1) // 2 - r[3]
    r[1] = s[1] - 2 * r[2]
    r[5] = s[4]
    r[4] = s[3] - s[4]
    r[8] = s[6] // 2
    r[10] = s[9]
    r[11] = (s[8] - s[9]) // 2
    r[9] = s[7] - r[11]
    r[13] = s[11]
    r[12] = s[10] // 2 - s[11]
    r[14] = s[12] // 3
    # Joined triples are fewer than M·d: past `MOST_TRIPLES` taking them away does not help.
    centers = _triples(d) - (r[11] + r[13] + r[14]).astype(np.uint64)
    r[7] = centers.view(np.int64)
    # Modulo 2⁶⁴ on both sides; the difference itself is at most M² and therefore exact.
    r[6] = (stars - np.uint64(3) * centers).view(np.int64)
    bad = np.flatnonzero((d > MOST_TRIPLES) | (r.min(0) < 0))
    return np.ascontiguousarray(r.T), int(bad[0]) if len(bad) else -1


@kernel
def _sums_of_orbits(numbers: Any) -> Any:
    """Return sums of the orbits of each node's edges; apart, modulo 2⁶⁴, that of o[5], which may not fit."""
    n = len(numbers.degree)
    s, stars = np.zeros(13 * n, np.int64), np.zeros(n, np.uint64)
    o = np.empty(13, np.int64)
    for u in range(n):
        for e in range(numbers.indptr[u], numbers.indptr[u + 1]):
            v = numbers.indices[e]
            _orbits(e, u, v, numbers, o)
            stars[u] += np.uint64(o[5])
            stars[v] += np.uint64(o[5])
            o[5] = 0
            for j in range(13):
                s[13 * u + j] += o[j]
                s[13 * np.int64(v) + j] += o[j]
    return s, stars


@kernel
def first_impossible(numbers: Any, complete: Any) -> Any:
    """Return the first edge whose five numbers no graph with these degrees can have, or -1.

    Numbers within these bounds cannot overflow on their way to the orbits; if all five were counted
    (`complete`), a negative orbit is a contradiction between them.
    """
    indptr, indices, degree, _, _, t, s1, s2, k, c = numbers
    most = np.uint64(0)
    for e in range(len(t)):
        most = max(most, np.uint64(t[e]))
    o = np.empty(13, np.int64)
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            a, b = np.uint64(degree[u] - 1), np.uint64(degree[v] - 1)
            te = np.uint64(t[e])
            if (
                te > min(a, b)
                or np.uint64(s1[e]) > np.uint64(2 * len(indices))
                or np.uint64(s2[e]) > np.uint64(2) * te * most
                or np.uint64(k[e]) > te * te // np.uint64(2)
                or np.uint64(c[e]) > a * b
            ):
                return e
            _orbits(e, u, v, numbers, o)
            for j in range(13):
                if o[j] < 0 and complete:
                    return e
    return -1
