"""Motif counts by looking at every set of two, three and four nodes: slow, and obviously right.

Also small graphs of every shape.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, combinations

import numpy as np

Edges = list[tuple[int, int]]

# Named by hand, independently of the catalogue: graphlet by sorted degrees, orbits by degrees.
GRAPHLET = {
    (1, 1): "edge", (1, 1, 2): "2-star", (2, 2, 2): "triangle",
    (1, 1, 2, 2): "4-path", (1, 1, 1, 3): "3-star", (2, 2, 2, 2): "4-cycle",
    (1, 2, 2, 3): "tailed-triangle", (2, 2, 3, 3): "chordal-cycle", (3, 3, 3, 3): "4-clique",
}  # fmt: skip
EDGE = [
    ("edge", (1, 1)), ("2-star", (1, 2)), ("triangle", (2, 2)),
    ("4-path", (1, 2)), ("4-path", (2, 2)), ("3-star", (1, 3)), ("4-cycle", (2, 2)),
    ("tailed-triangle", (1, 3)), ("tailed-triangle", (2, 3)), ("tailed-triangle", (2, 2)),
    ("chordal-cycle", (2, 3)), ("chordal-cycle", (3, 3)), ("4-clique", (3, 3)),
]  # fmt: skip
NODE = [
    ("edge", 1), ("2-star", 1), ("2-star", 2), ("triangle", 2),
    ("4-path", 1), ("4-path", 2), ("3-star", 1), ("3-star", 3), ("4-cycle", 2),
    ("tailed-triangle", 1), ("tailed-triangle", 2), ("tailed-triangle", 3),
    ("chordal-cycle", 2), ("chordal-cycle", 3), ("4-clique", 3),
]  # fmt: skip


def instances(n: int, edges: Iterable[tuple[int, int]], induced: bool) -> Iterator[tuple[str, Edges]]:
    """Every instance of every graphlet: its name and its own edges."""
    joined = {frozenset(edge) for edge in edges}
    for size in (2, 3, 4):
        for nodes in combinations(range(n), size):
            inside = [pair for pair in combinations(nodes, 2) if frozenset(pair) in joined]
            parts = (
                [tuple(inside)]
                if induced
                else chain.from_iterable(combinations(inside, k) for k in range(size - 1, len(inside) + 1))
            )
            for part in parts:
                # On so few nodes the degrees tell all: (1, 1, 1, 1), two edges apart, is no graphlet's.
                degrees = Counter(node for edge in part for node in edge)
                name = GRAPHLET.get(tuple(sorted(degrees.values())))
                if len(degrees) == size and name is not None:
                    yield name, list(part)


def count(
    n: int, edges: Iterable[tuple[int, int]], induced: bool
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """per_edge [M, 13], per_node [N, 15] and, per graphlet, the matrix of pairs that share an instance."""
    known = [tuple(map(int, edge)) for edge in edges]
    rows = {edge: row for row, edge in enumerate(sorted({(min(e), max(e)) for e in known}))}
    per_edge = np.zeros((len(rows), 13), np.int64)
    per_node = np.zeros((n, 15), np.int64)
    pairs = {name: np.zeros((n, n), np.int64) for name in GRAPHLET.values()}
    for name, part in instances(n, known, induced):
        degree = Counter(node for edge in part for node in edge)
        for u, v in part:
            orbit = EDGE.index((name, tuple(sorted((degree[u], degree[v])))))
            per_edge[rows[min(u, v), max(u, v)], orbit] += 1
        for u in degree:
            per_node[u, NODE.index((name, degree[u]))] += 1
        for u, v in combinations(degree, 2):
            pairs[name][u, v] += 1
            pairs[name][v, u] += 1
    return per_edge, per_node, pairs


def small_graph(seed: int, max_nodes: int = 8) -> tuple[int, Edges]:
    """Number of nodes and edges: empty, sparse, dense, stars, cliques, disconnected parts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, max_nodes + 1))
    every = list(combinations(range(n), 2))
    shape = rng.choice(["any", "any", "any", "star", "clique", "two cliques", "cycle", "empty"])
    if shape == "any":
        edges = [
            edge for edge, drawn in zip(every, rng.random(len(every)), strict=True) if drawn < seed % 7 / 6
        ]
    elif shape == "star":
        edges = [(0, v) for v in range(1, n)]
    elif shape == "clique":
        edges = every
    elif shape == "two cliques":
        half = n // 2
        edges = [e for e in every if (e[0] < half) == (e[1] < half)]
    elif shape == "cycle":
        edges = [(i, (i + 1) % n) for i in range(n)] if n > 2 else []
    else:
        edges = []
    if edges and rng.random() < 0.5:  # a few missing edges make chords and tails
        dropped = set(rng.integers(0, len(edges), int(rng.integers(0, 4))).tolist())
        edges = [edge for i, edge in enumerate(edges) if i not in dropped]
    return n, edges
