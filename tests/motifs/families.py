"""Families of graphs whose motif counts are known as formulas, in Python integers of any size.

Each gives its edges, and its counts by kind of edge and kind of node: one line per kind with an example
of it and the induced orbit counts that are not zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

Orbits = dict[str, int]


@dataclass(frozen=True)
class Family:
    edges: Any  # [2, M]
    per_edge: dict[tuple[int, int], Orbits]  # by an edge of each kind
    per_node: dict[int, Orbits]  # by a node of each kind
    totals: Orbits  # instances of the graphlets


def star(n: int) -> Family:
    """Node 0 joined to n leaves."""
    return Family(
        np.stack([np.zeros(n, np.int64), np.arange(1, n + 1)]),
        {(0, n): {"edge": 1, "2-star": n - 1, "3-star": comb(n - 1, 2)}},
        {
            0: {"edge": n, "2-star-center": comb(n, 2), "3-star-center": comb(n, 3)},
            n: {"edge": 1, "2-star-end": n - 1, "3-star-leaf": comb(n - 1, 2)},
        },
        {"edge": n, "2-star": comb(n, 2), "3-star": comb(n, 3)},
    )


def complete(n: int) -> Family:
    """Every pair of n nodes is joined."""
    return Family(
        np.stack(np.triu_indices(n, 1)),
        {(0, 1): {"edge": 1, "triangle": n - 2, "4-clique": comb(n - 2, 2)}},
        {0: {"edge": n - 1, "triangle": comb(n - 1, 2), "4-clique": comb(n - 1, 3)}},
        {"edge": comb(n, 2), "triangle": comb(n, 3), "4-clique": comb(n, 4)},
    )


def bipartite(a: int, b: int) -> Family:
    """Nodes 0..a-1, each joined to each of the nodes a..a+b-1."""

    def side(own: int, other: int) -> Orbits:
        return {
            "edge": other,
            "2-star-end": other * (own - 1),
            "2-star-center": comb(other, 2),
            "3-star-leaf": other * comb(own - 1, 2),
            "3-star-center": comb(other, 3),
            "4-cycle": (own - 1) * comb(other, 2),
        }

    return Family(
        np.stack([np.repeat(np.arange(a), b), np.tile(np.arange(a, a + b), a)]),
        {
            (0, a): {
                "edge": 1,
                "2-star": a + b - 2,
                "3-star": comb(a - 1, 2) + comb(b - 1, 2),
                "4-cycle": (a - 1) * (b - 1),
            }
        },
        {0: side(a, b), a + b - 1: side(b, a)},
        {
            "edge": a * b,
            "2-star": a * comb(b, 2) + b * comb(a, 2),
            "3-star": a * comb(b, 3) + b * comb(a, 3),
            "4-cycle": comb(a, 2) * comb(b, 2),
        },
    )


def windmill(k: int, m: int) -> Family:
    """M cliques of k nodes (k ≥ 3) that share node 0."""
    own, others = k - 1, (m - 1) * (k - 1)  # nodes of one blade, and of all the others
    edges = np.concatenate(
        [
            np.stack([np.zeros(m * own, np.int64), np.arange(1, m * own + 1)]),
            *(
                np.stack([np.arange(m) * own + i + 1, np.arange(m) * own + j + 1])
                for i, j in combinations(range(own), 2)
            ),
        ],
        axis=1,
    )
    pairs = comb(m, 2) * own**2  # of nodes of two blades
    triples = comb(m, 3) * own**3
    mixed = m * comb(own, 2) * others  # an edge of one blade and a node of another
    return Family(
        edges,
        {
            (0, 1): {  # at the hub
                "edge": 1,
                "2-star": others,
                "triangle": own - 1,
                "3-star": comb(m - 1, 2) * own**2,
                "tailed-triangle-tail": (m - 1) * comb(own, 2),
                "tailed-triangle-center": (own - 1) * others,
                "4-clique": comb(own - 1, 2),
            },
            (1, 2): {
                "edge": 1,
                "triangle": own - 1,
                "tailed-triangle-edge": others,
                "4-clique": comb(own - 1, 2),
            },
        },
        {
            0: {
                "edge": m * own,
                "2-star-center": pairs,
                "triangle": m * comb(own, 2),
                "3-star-center": triples,
                "tailed-triangle-center": mixed,
                "4-clique": m * comb(own, 3),
            },
            1: {
                "edge": own,
                "2-star-end": others,
                "triangle": comb(own, 2),
                "3-star-leaf": comb(m - 1, 2) * own**2,
                "tailed-triangle-tail": (m - 1) * comb(own, 2),
                "tailed-triangle-edge": (own - 1) * others,
                "4-clique": comb(own, 3),
            },
        },
        {
            "edge": m * comb(k, 2),
            "2-star": pairs,
            "triangle": m * comb(k, 3),
            "3-star": triples,
            "tailed-triangle": mixed,
            "4-clique": m * comb(k, 4),
        },
    )


def book(n: int) -> Family:
    """Nodes 0 and 1 joined, and n further nodes joined to both: n triangles on one edge."""
    pages = np.arange(2, n + 2)
    spine = np.array([[0], [1]])
    edges = np.concatenate(
        [spine, np.stack([np.zeros_like(pages), pages]), np.stack([np.ones_like(pages), pages])], axis=1
    )
    return Family(
        edges,
        {
            (0, 1): {"edge": 1, "triangle": n, "chordal-cycle-center": comb(n, 2)},
            (0, 2): {
                "edge": 1,
                "2-star": n - 1,
                "triangle": 1,
                "3-star": comb(n - 1, 2),
                "chordal-cycle-edge": n - 1,
            },
        },
        {
            0: {
                "edge": n + 1,
                "2-star-center": comb(n, 2),
                "triangle": n,
                "3-star-center": comb(n, 3),
                "chordal-cycle-center": comb(n, 2),
            },
            2: {
                "edge": 2,
                "2-star-end": 2 * (n - 1),
                "triangle": 1,
                "3-star-leaf": 2 * comb(n - 1, 2),
                "chordal-cycle-rim": n - 1,
            },
        },
        {
            "edge": 2 * n + 1,
            "2-star": 2 * comb(n, 2),
            "triangle": n,
            "3-star": 2 * comb(n, 3),
            "chordal-cycle": comb(n, 2),
        },
    )


def barbell(n: int) -> Family:
    """Two cliques of n nodes (n ≥ 3), and an edge between node 0 of the one and node n of the other."""
    clique = np.stack(np.triu_indices(n, 1))
    edges = np.concatenate([clique, clique + n, [[0], [n]]], axis=1)
    inner = n - 1
    return Family(
        edges,
        {
            (0, n): {
                "edge": 1,
                "2-star": 2 * inner,
                "4-path-center": inner**2,
                "tailed-triangle-tail": 2 * comb(inner, 2),
            },
            (0, 1): {
                "edge": 1,
                "2-star": 1,
                "triangle": n - 2,
                "4-path-edge": inner,
                "tailed-triangle-center": n - 2,
                "4-clique": comb(n - 2, 2),
            },
            (1, 2): {"edge": 1, "triangle": n - 2, "tailed-triangle-edge": 1, "4-clique": comb(n - 2, 2)},
        },
        {
            0: {
                "edge": n,
                "2-star-end": inner,
                "2-star-center": inner,
                "triangle": comb(inner, 2),
                "4-path-inner": inner**2,
                "tailed-triangle-tail": comb(inner, 2),
                "tailed-triangle-center": comb(inner, 2),
                "4-clique": comb(inner, 3),
            },
            1: {
                "edge": inner,
                "2-star-end": 1,
                "triangle": comb(inner, 2),
                "4-path-end": inner,
                "tailed-triangle-edge": n - 2,
                "4-clique": comb(inner, 3),
            },
        },
        {
            "edge": 2 * comb(n, 2) + 1,
            "2-star": 2 * inner,
            "triangle": 2 * comb(n, 3),
            "4-path": inner**2,
            "tailed-triangle": 2 * comb(inner, 2),
            "4-clique": 2 * comb(n, 4),
        },
    )


SMALL: dict[str, Callable[[], Family]] = {
    "star 7": lambda: star(7),
    "complete 8": lambda: complete(8),
    "bipartite 3 5": lambda: bipartite(3, 5),
    "windmill 3 4": lambda: windmill(3, 4),
    "windmill 5 3": lambda: windmill(5, 3),
    "book 6": lambda: book(6),
    "barbell 5": lambda: barbell(5),
}
"""Small enough to be counted by looking at every set of nodes."""
