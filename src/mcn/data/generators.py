"""Random graphs for benchmarks and tests: simple, as int64 [2, M], u < v, sorted; the seed decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel

Edges = NDArray[np.int64]
_ROUNDS = 1000


def erdos_renyi(n: int, m: int, seed: int = 0) -> Edges:
    """G(n, m): m of the n(n-1)/2 possible edges, all sets equally likely."""
    total = n * (n - 1) // 2
    if not 0 <= m <= total:
        raise ValueError(f"m={m} edges do not fit on n={n} nodes; give 0 to {total}")
    rng = np.random.default_rng(seed)
    if 2 * m > total:
        kept = np.sort(rng.permutation(total)[:m])
        u, v = np.triu_indices(n, 1)
        return np.stack([u[kept], v[kept]]).astype(np.int64)
    return _distinct(lambda count: rng.integers(0, n, (2, count)), n, m)


def rmat(scale: int, edges: int, seed: int = 0, a: float = 0.57, b: float = 0.19, c: float = 0.19) -> Edges:
    """R-MAT with 2^scale nodes (Chakrabarti et al. 2004; Graph500's parameters by default).

    Pairs are drawn until `edges` distinct ones are there, self-loops left out; node numbers are shuffled.
    """
    check_rmat(scale, a, b, c)
    n = 2**scale
    if edges > n * (n - 1) // 2:
        raise ValueError(f"{edges} edges do not fit on 2**{scale} nodes; raise scale")
    rng = np.random.default_rng(seed)
    label = rng.permutation(n)
    return _distinct(lambda count: label[rmat_pairs(rng, scale, count, a, b, c)], n, edges)


def check_rmat(scale: int, a: float, b: float, c: float) -> None:
    """Refuse parameters that R-MAT does not have."""
    if min(a, b, c, 1 - a - b - c) < 0:
        raise ValueError(f"a, b, c and 1-a-b-c must not be negative, got {a}, {b}, {c}, {1 - a - b - c:g}")
    if not 1 <= scale <= 31:
        raise ValueError(f"scale must be 1 to 31 (2**scale nodes), got {scale}")


def barabasi_albert(n: int, m: int, seed: int = 0) -> Edges:
    """Preferential attachment: a star of m+1 nodes, then every node joins m others, picked by degree."""
    return powerlaw_cluster(n, m, 0.0, seed)


def powerlaw_cluster(n: int, m: int, p: float, seed: int = 0) -> Edges:
    """Preferential attachment with triangles (Holme and Kim 2002).

    As `barabasi_albert`, but each tie after a node's first goes, with probability p, to a neighbour of
    the node last picked by degree, which closes a triangle.
    """
    if not 1 <= m < n:
        raise ValueError(f"m must be at least 1 and below n, got m={m}, n={n}")
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, got {p}")
    ends = _attach(np.random.default_rng(seed), n, m, p)
    return _unkey(np.sort(_key(ends.reshape(-1, 2).T, n)), n)


def _key(pairs: NDArray[Any], n: int) -> Edges:
    low, high = np.minimum(pairs[0], pairs[1]), np.maximum(pairs[0], pairs[1])
    return np.asarray(low.astype(np.int64) * n + high)


def _unkey(keys: Edges, n: int) -> Edges:
    return np.stack([keys // n, keys % n])


def _distinct(draw: Callable[[int], NDArray[Any]], n: int, m: int) -> Edges:
    """Draw pairs until m distinct edges are there.

    A round draws only what is missing, so nothing is ever cut off, which would favour some edges.
    """
    found: list[Edges] = []
    missing = m
    for _ in range(_ROUNDS):
        if missing == 0:
            break
        pairs = draw(missing)
        keys = np.sort(_key(pairs[:, pairs[0] != pairs[1]], n))
        keys = keys[np.diff(keys, prepend=-1) > 0]
        for old in found:
            keys = keys[~_contains(old, keys)]
        found.append(keys)
        missing -= len(keys)
    if missing:
        raise ValueError(
            f"{m - missing} of {m} distinct edges after {_ROUNDS} rounds of drawing; ask for fewer"
        )
    return _unkey(np.sort(np.concatenate([*found, np.empty(0, np.int64)])), n)


def _contains(ascending: Edges, keys: Edges) -> NDArray[np.bool_]:
    if len(ascending) == 0:
        return np.zeros(len(keys), np.bool_)
    place = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.asarray(ascending[place] == keys)


@kernel
def rmat_pairs(rng: Any, scale: int, count: int, a: float, b: float, c: float) -> Any:
    """Draw `count` pairs of R-MAT, before nodes are shuffled."""
    pairs = np.zeros((2, count), np.int64)
    for e in range(count):
        u, v = 0, 0
        for _ in range(scale):
            r = rng.random()
            u <<= 1
            v <<= 1
            if r >= a + b:
                u |= 1
                v |= r >= a + b + c
            elif r >= a:
                v |= 1
        pairs[0, e] = u
        pairs[1, e] = v
    return pairs


@kernel
def _attach(rng: Any, n: int, m: int, p: float) -> Any:
    """The two ends of edge e stand at 2e and 2e+1, so that a random place is a node picked by degree.

    `head` and `following` chain the places of each node, to pick one of its neighbours.
    """
    ends = np.empty(2 * m * (n - m), np.int64)
    following = np.full(len(ends), -1, np.int64)
    head = np.full(n, -1, np.int64)
    degree = np.zeros(n, np.int64)
    joined = np.full(n, -1, np.int64)
    size = 0
    for node in range(m, n):
        hub = -1
        first = size
        while size < first + 2 * m:
            other = -1
            if node == m:
                other = (size - first) // 2
            elif hub >= 0 and rng.random() < p:
                place = head[hub]
                for _ in range(rng.integers(0, degree[hub])):
                    place = following[place]
                other = ends[place ^ 1]
            if other < 0 or other == node or joined[other] == node:
                other = ends[rng.integers(0, first)]
                if joined[other] == node:
                    continue
                hub = other
            joined[other] = node
            ends[size] = node
            ends[size + 1] = other
            size += 2
        for place in range(first, size):
            at = ends[place]
            following[place] = head[at]
            head[at] = place
            degree[at] += 1
    return ends
