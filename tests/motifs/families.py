"""Families of graphs whose motif counts are known exactly at any size, in Python integers.

How often an edge or a node of some kind is in a motif is a polynomial in the sizes of its family: it counts
the choices of at most four nodes among groups whose sizes are polynomials. Brute force on the small members
of a family fixes the polynomials; Lagrange's formula, in fractions, gives their values at any other sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import prod

import numpy as np

from tests.motifs.brute_force import count


@dataclass(frozen=True)
class Family:
    edges: Callable[..., np.ndarray]  # [2, M]
    kinds: Callable[..., tuple[list[tuple[int, int]], list[int]]]  # an edge and a node of every kind
    small: tuple[range, ...]  # sizes that fix the polynomials: their degree is below the number of sizes

    def by_brute_force(self, *sizes: int) -> np.ndarray:
        """Counts of an edge of every kind, of a node of every kind, and of all edges together, in one row."""
        edges = self.edges(*sizes)
        per_edge, per_node, _ = count(int(edges.max()) + 1, edges.T.tolist(), induced=True)
        of_pair = {pair: row for row, pair in enumerate(sorted(map(tuple, np.sort(edges.T).tolist())))}
        some_edges, some_nodes = self.kinds(*sizes)
        rows = [per_edge[[of_pair[edge] for edge in some_edges]], per_node[some_nodes], per_edge.sum(axis=0)]
        return np.concatenate([np.ravel(row) for row in rows]).astype(object)

    def expected(self, *sizes: int) -> list[int]:
        """The same at any sizes."""
        total = 0
        for at, row in _small_members(self).items():
            total = total + row * prod(
                Fraction(size - other, here - other)
                for size, here, known in zip(sizes, at, self.small, strict=True)
                for other in known
                if other != here
            )
        assert all(value.denominator == 1 for value in total)
        return [int(value) for value in total]


@cache
def _small_members(family: Family) -> dict[tuple[int, ...], np.ndarray]:
    return {sizes: family.by_brute_force(*sizes) for sizes in product(*family.small)}


def _spokes(n: int, hub: int = 0, first: int = 1) -> np.ndarray:
    return np.stack([np.full(n, hub), np.arange(first, first + n)])


def _windmill(k: int, m: int) -> np.ndarray:
    blades = np.arange(m) * (k - 1)
    inside = [np.stack([blades + i, blades + j]) for i, j in combinations(range(1, k), 2)]
    return np.concatenate([_spokes(m * (k - 1)), *inside], axis=1)


def _barbell(n: int) -> np.ndarray:
    clique = np.stack(np.triu_indices(n, 1))
    return np.concatenate([clique, clique + n, [[0], [n]]], axis=1)


FAMILIES = {
    # Node 0 joined to n leaves.
    "star": Family(_spokes, lambda n: ([(0, n)], [0, n]), (range(1, 6),)),
    # Every pair of n nodes is joined.
    "complete": Family(lambda n: np.stack(np.triu_indices(n, 1)), lambda n: ([(0, 1)], [0]), (range(2, 7),)),
    # Nodes 0..a-1, each joined to each of the nodes a..a+b-1.
    "bipartite": Family(
        lambda a, b: np.stack([np.repeat(np.arange(a), b), np.tile(np.arange(a, a + b), a)]),
        lambda a, b: ([(0, a)], [0, a + b - 1]),
        (range(1, 5), range(1, 5)),
    ),
    # m cliques of k nodes (k ≥ 3) that share node 0.
    "windmill": Family(_windmill, lambda k, m: ([(0, 1), (1, 2)], [0, 1]), (range(3, 8), range(1, 5))),
    # Nodes 0 and 1 joined, and n further nodes joined to both: n triangles on one edge.
    "book": Family(
        lambda n: np.concatenate([[[0], [1]], _spokes(n, 0, 2), _spokes(n, 1, 2)], axis=1),
        lambda n: ([(0, 1), (0, 2)], [0, 2]),
        (range(1, 6),),
    ),
    # Two cliques of n nodes (n ≥ 3), and an edge between node 0 of the one and node n of the other.
    "barbell": Family(_barbell, lambda n: ([(0, n), (0, 1), (1, 2)], [0, 1]), (range(3, 8),)),
}
