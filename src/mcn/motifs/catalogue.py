"""The motifs: connected graphs on 2 to 4 nodes, and the places (orbits) an edge or a node can have in one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mcn._names import did_you_mean
from mcn.data.limits import told

Edges = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Graphlet:
    """A connected graph on `size` nodes. Its edge and node orbits are told apart by degrees alone."""

    name: str
    size: int
    edges: Edges
    edge_orbits: tuple[tuple[str, tuple[int, int]], ...]  # name, degrees of the two ends
    node_orbits: tuple[tuple[str, int], ...]  # name, degree


CATALOGUE: tuple[Graphlet, ...] = (
    Graphlet("edge", 2, ((0, 1),), (("edge", (1, 1)),), (("edge", 1),)),
    Graphlet("2-star", 3, ((0, 1), (0, 2)), (("2-star", (1, 2)),), (("2-star-end", 1), ("2-star-center", 2))),
    Graphlet("triangle", 3, ((0, 1), (0, 2), (1, 2)), (("triangle", (2, 2)),), (("triangle", 2),)),
    Graphlet(
        "4-path",
        4,
        ((0, 1), (1, 2), (2, 3)),
        (("4-path-edge", (1, 2)), ("4-path-center", (2, 2))),
        (("4-path-end", 1), ("4-path-inner", 2)),
    ),
    Graphlet(
        "3-star",
        4,
        ((0, 1), (0, 2), (0, 3)),
        (("3-star", (1, 3)),),
        (("3-star-leaf", 1), ("3-star-center", 3)),
    ),
    Graphlet("4-cycle", 4, ((0, 1), (1, 2), (2, 3), (0, 3)), (("4-cycle", (2, 2)),), (("4-cycle", 2),)),
    Graphlet(
        "tailed-triangle",
        4,
        ((0, 1), (0, 2), (0, 3), (2, 3)),
        (
            ("tailed-triangle-tail", (1, 3)),
            ("tailed-triangle-center", (2, 3)),
            ("tailed-triangle-edge", (2, 2)),
        ),
        (("tailed-triangle-tail", 1), ("tailed-triangle-edge", 2), ("tailed-triangle-center", 3)),
    ),
    Graphlet(
        "chordal-cycle",
        4,
        ((0, 1), (1, 2), (2, 3), (0, 3), (0, 2)),
        (("chordal-cycle-edge", (2, 3)), ("chordal-cycle-center", (3, 3))),
        (("chordal-cycle-rim", 2), ("chordal-cycle-center", 3)),
    ),
    Graphlet(
        "4-clique",
        4,
        ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)),
        (("4-clique", (3, 3)),),
        (("4-clique", 3),),
    ),
)

GRAPHLETS: tuple[str, ...] = tuple(g.name for g in CATALOGUE)
EDGE_ORBITS: tuple[str, ...] = tuple(name for g in CATALOGUE for name, _ in g.edge_orbits)
NODE_ORBITS: tuple[str, ...] = tuple(name for g in CATALOGUE for name, _ in g.node_orbits)
MOTIFS: tuple[str, ...] = tuple(dict.fromkeys(EDGE_ORBITS + GRAPHLETS))
"""Every name an adjacency can be asked for: the edge orbits, and the graphlets as sums over theirs."""


def graphlet_of(motif: str) -> Graphlet:
    """The graphlet that a motif name (a graphlet's or an edge orbit's) belongs to.

    >>> graphlet_of("4-path-center").name
    '4-path'
    """
    for g in CATALOGUE:
        if motif == g.name or any(motif == orbit for orbit, _ in g.edge_orbits):
            return g
    hint = did_you_mean(motif, MOTIFS, most=3) or ";"
    raise ValueError(f"unknown motif {told(motif)}{hint} known motifs: {', '.join(MOTIFS)}")


def orbit_weights(motif: str) -> NDArray[np.int64]:
    """Int64 [13]: which edge orbits a motif name sums over."""
    g = graphlet_of(motif)
    orbits = [motif] if motif in EDGE_ORBITS else [name for name, _ in g.edge_orbits]
    return np.isin(EDGE_ORBITS, orbits).astype(np.int64)


@cache
def edge_copies() -> NDArray[np.int64]:
    """Int64 [13, 13]: entry [j, i] counts the non-induced orbit j in one induced orbit i, per edge.

    Take the graphlet of orbit i with one of its edges marked: how many of its spanning subgraphs keep
    that edge and have it in orbit j? Counts of not necessarily induced subgraphs are this matrix times
    the induced ones.
    """
    table = np.zeros((len(EDGE_ORBITS), len(EDGE_ORBITS)), np.int64)
    for g in CATALOGUE:
        for name, ends in g.edge_orbits:
            marked = next(e for e in g.edges if _edge_degrees(g.edges, e) == ends)
            for part in _spanning(g):
                if marked in part:
                    inner = _classify(part)
                    orbit = {d: n for n, d in inner.edge_orbits}[_edge_degrees(part, marked)]
                    table[EDGE_ORBITS.index(orbit), EDGE_ORBITS.index(name)] += 1
    return table


@cache
def node_copies() -> NDArray[np.int64]:
    """Int64 [15, 15]: the same as `edge_copies` for node orbits."""
    table = np.zeros((len(NODE_ORBITS), len(NODE_ORBITS)), np.int64)
    for g in CATALOGUE:
        for name, degree in g.node_orbits:
            marked = next(u for u in range(g.size) if _degrees(g.edges)[u] == degree)
            for part in _spanning(g):
                inner = _classify(part)
                orbit = {d: n for n, d in inner.node_orbits}[_degrees(part)[marked]]
                table[NODE_ORBITS.index(orbit), NODE_ORBITS.index(name)] += 1
    return table


@cache
def graphlet_copies() -> NDArray[np.int64]:
    """Int64 [9, 9]: entry [j, i] counts the spanning copies of graphlet j in graphlet i."""
    table = np.zeros((len(CATALOGUE), len(CATALOGUE)), np.int64)
    for i, g in enumerate(CATALOGUE):
        for part in _spanning(g):
            table[CATALOGUE.index(_classify(part)), i] += 1
    return table


def _spanning(g: Graphlet) -> Iterable[Edges]:
    """Connected subgraphs of `g` on all its nodes."""
    for size in range(g.size - 1, len(g.edges) + 1):
        for part in combinations(g.edges, size):
            if len(_degrees(part)) == g.size and _connected(part):
                yield part


def _connected(edges: Edges) -> bool:
    seen = set(edges[0])
    for _ in edges:
        for u, v in edges:
            if u in seen or v in seen:
                seen |= {u, v}
    return len(seen) == len(_degrees(edges))


def _degrees(edges: Edges) -> dict[int, int]:
    degrees: dict[int, int] = {}
    for e in edges:
        for u in e:
            degrees[u] = degrees.get(u, 0) + 1
    return degrees


def _edge_degrees(edges: Edges, edge: tuple[int, int]) -> tuple[int, int]:
    a, b = sorted(_degrees(edges)[u] for u in edge)
    return a, b


@cache
def _by_degrees() -> dict[tuple[int, ...], Graphlet]:
    return {tuple(sorted(_degrees(g.edges).values())): g for g in CATALOGUE}


def _classify(edges: Edges) -> Graphlet:
    return _by_degrees()[tuple(sorted(_degrees(edges).values()))]
