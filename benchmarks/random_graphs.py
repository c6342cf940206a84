"""Random graphs for benchmarks and tests; the seed decides.

Functions return a simple graph, int64 [2, M], u < v, sorted. `rmat_stream` and `PlantedGraph` draw graphs of
any size piece by piece, for what does not fit into memory: their pieces hold what was drawn, repeats and
self-loops included, which `mcn.GraphStore.write` drops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._jit import kernel

Edges = NDArray[np.int64]
_ROUNDS = 1000
PIECE = 2**21
"""Edges, or rows of features, of a piece."""


def erdos_renyi(n: int, m: int, seed: int = 0) -> Edges:
    """G(n, m): m of the n(n-1)/2 possible edges, all sets equally likely."""
    total = n * (n - 1) // 2
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
    n = 2**scale
    rng = np.random.default_rng(seed)
    label = rng.permutation(n)
    return _distinct(lambda count: label[rmat_pairs(rng, scale, count, a, b, c)], n, edges)


def barabasi_albert(n: int, m: int, seed: int = 0) -> Edges:
    """Preferential attachment: a star of m+1 nodes, then every node joins m others, picked by degree."""
    return powerlaw_cluster(n, m, 0.0, seed)


def powerlaw_cluster(n: int, m: int, p: float, seed: int = 0) -> Edges:
    """Preferential attachment with triangles (Holme and Kim 2002).

    As `barabasi_albert`, but each tie after a node's first goes, with probability p, to a neighbour of
    the node last picked by degree, which closes a triangle.
    """
    ends = _attach(np.random.default_rng(seed), n, m, p)
    return _unkey(np.sort(_key(ends.reshape(-1, 2).T, n)), n)


def rmat_stream(
    scale: int, edges: int, seed: int = 0, a: float = 0.57, b: float = 0.19, c: float = 0.19
) -> Iterator[NDArray[np.int32]]:
    """Draw `edges` pairs of R-MAT with 2^scale nodes (see `mcn.data.rmat`), as pieces [2, E]."""
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.arange(2**scale, dtype=np.int32))
    for start in range(0, edges, PIECE):
        yield label[rmat_pairs(rng, scale, min(PIECE, edges - start), a, b, c)]


@dataclass(frozen=True)
class PlantedGraph:
    """A degree-corrected block model with planted classes and closed triangles, drawn piece by piece.

    Every class is cut into groups. A share `closed` of the edges comes as triangles of a node and two others
    of its group; another edge goes to a node of the same class with probability `inside`, else to any. Nodes
    are picked so that the degree of the x-th fraction of a class goes as x^(-1/2), which gives degrees with
    a tail of exponent 3. The features of a node are its class's centre, of length `signal`, plus standard
    normal noise. Labels of nodes are shuffled; the seed decides everything.

    Args:
        num_nodes: N.
        num_edges: edges that are drawn; repeats and self-loops make the graph's own number smaller.
        num_classes: planted classes, of equal size.
        closed: share of the edges that are drawn as triangles.
        inside: share of the others that stay in the class.
        group: nodes of a group.
        num_features: columns of the features.
        signal: distance of a class's centre from zero.
        labelled: share of the nodes in each of training and validation; the others are for testing.
        seed: of all draws.
    """

    num_nodes: int
    num_edges: int
    num_classes: int = 10
    closed: float = 0.2
    inside: float = 0.5
    group: int = 16
    num_features: int = 32
    signal: float = 1.0
    labelled: float = 0.1
    seed: int = 0

    @cached_property
    def _label(self) -> NDArray[np.int32]:
        """The node that each place (class by class, hubs first) is called."""
        return self._rng(0).permutation(np.arange(self.num_nodes, dtype=np.int32))

    @cached_property
    def y(self) -> NDArray[np.int64]:
        """The class of every node."""
        y = np.empty(self.num_nodes, np.int64)
        y[self._label] = np.arange(self.num_nodes) % self.num_classes
        return y

    def edges(self) -> Iterator[NDArray[np.int32]]:
        """Draw the edges: pieces [2, E]."""
        rng = self._rng(1)
        left = self.num_edges
        while left > 0:
            draw = min(PIECE, left)
            shape = (self.num_nodes, self.num_classes, self.group, self.closed, self.inside)
            yield self._label[_planted(rng, draw, *shape)]
            left -= draw

    def x(self) -> Iterator[NDArray[np.float32]]:
        """Draw the features: pieces of rows."""
        rng = self._rng(2)
        centres = rng.standard_normal((self.num_classes, self.num_features)).astype(np.float32)
        centres *= self.signal / np.linalg.norm(centres, axis=1, keepdims=True)
        for start in range(0, self.num_nodes, PIECE // 16):
            own = self.y[start : start + PIECE // 16]
            noise = rng.standard_normal((len(own), self.num_features), np.float32)
            yield noise + centres[own]

    def masks(self) -> dict[str, NDArray[np.bool_]]:
        """Draw the split."""
        place = self._rng(3).random(self.num_nodes)
        return {
            "train_mask": place < self.labelled,
            "val_mask": (place >= self.labelled) & (place < 2 * self.labelled),
            "test_mask": place >= 2 * self.labelled,
        }

    def _rng(self, part: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, part))


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


@kernel
def _planted(rng: Any, count: int, n: int, classes: int, group: int, closed: float, inside: float) -> Any:
    """Places [2, count]; place i is number i // classes of class i % classes, hubs first."""
    pairs = np.empty((2, count), np.int32)
    at = 0
    while at < count:
        own = rng.integers(0, classes)
        size = (n - own + classes - 1) // classes
        first = int(size * rng.random() ** 2)
        u = first * classes + own
        if rng.random() < closed / (3 - 2 * closed):  # a triangle is three edges
            base = min(first // group * group, size - group)
            i, j = base + rng.integers(0, group), base + rng.integers(0, group)
            three = (u, i * classes + own, j * classes + own)
            for k in range(3):
                if at < count:
                    pairs[0, at], pairs[1, at] = three[k], three[(k + 1) % 3]
                    at += 1
            continue
        other = own if rng.random() < inside else rng.integers(0, classes)
        size = (n - other + classes - 1) // classes
        pairs[0, at], pairs[1, at] = u, int(size * rng.random() ** 2) * classes + other
        at += 1
    return pairs
