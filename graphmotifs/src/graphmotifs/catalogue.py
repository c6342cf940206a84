"""The motifs: connected graphs on 2 to 4 nodes, and the places (orbits) an edge or a node can have in one.

Also what has to be enumerated for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import did_you_mean, told

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


TRIANGLES, CLIQUES, CYCLES = 1, 2, 3
"""Stages of the enumeration: triangles of every edge alone; what 4-cliques need too; 4-cycles as well."""
_WITH_CYCLES = ("4-path-edge", "4-path-center", "4-cycle")
ORBIT_STAGES = [
    TRIANGLES if orbit in EDGE_ORBITS[:3] else CYCLES if orbit in _WITH_CYCLES else CLIQUES
    for orbit in EDGE_ORBITS
]
"""The stage that each edge orbit needs (see `derive`): only paths and cycles on four nodes need them all."""


def stage_of(motif: str, induced: bool = True) -> int:
    """Return the stage of the enumeration that the counts of a motif need.

    >>> stage_of("triangle"), stage_of("4-clique"), stage_of("4-cycle")
    (1, 2, 3)
    """
    weights = orbit_weights(motif)
    if not induced:
        weights = weights @ edge_copies()
    return max(stage for stage, part in zip(ORBIT_STAGES, weights, strict=True) if part)


def stage_of_all(motifs: Sequence[str] | None, induced: bool = True) -> int:
    """Return the stage that several motifs need; all stages if none are named."""
    check_names(motifs)
    if motifs is None:
        return CYCLES
    return max((stage_of(motif, induced) for motif in motifs), default=TRIANGLES)


def check_names(motifs: object) -> None:
    """Refuse one name where several are expected."""
    if isinstance(motifs, str):
        raise ValueError(f"motifs must be several names, got the string {motifs!r}; write [{motifs!r}]")


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
    return _copies_in(
        EDGE_ORBITS,
        lambda g: g.edge_orbits,
        lambda edges: {edge: edge_degrees(edges, edge) for edge in edges},
    )


@cache
def node_copies() -> NDArray[np.int64]:
    """Int64 [15, 15]: the same as `edge_copies` for node orbits."""
    return _copies_in(NODE_ORBITS, lambda g: g.node_orbits, _degrees)


@cache
def graphlet_copies() -> NDArray[np.int64]:
    """Int64 [9, 9]: entry [j, i] counts the spanning copies of graphlet j in graphlet i."""
    return _copies_in(GRAPHLETS, lambda g: ((g.name, 0),), lambda edges: {"whole": 0})


def _copies_in(
    names: tuple[str, ...],
    orbits: Callable[[Graphlet], Sequence[tuple[str, Any]]],
    places: Callable[[Edges], Mapping[Any, Any]],
) -> NDArray[np.int64]:
    """Count the copies of orbit j in orbit i; `places` gives the degrees that tell those of a graph."""
    table = np.zeros((len(names), len(names)), np.int64)
    for g in CATALOGUE:
        for name, degrees in orbits(g):
            marked = next(place for place, found in places(g.edges).items() if found == degrees)
            for part in _spanning_parts(g):
                kept = places(part)
                if marked in kept:
                    orbit = next(orbit for orbit, found in orbits(_graphlet(part)) if found == kept[marked])
                    table[names.index(orbit), names.index(name)] += 1
    return table


def _spanning_parts(g: Graphlet) -> Iterable[Edges]:
    """Connected subgraphs of `g` on its nodes; up to four, enough edges that reach all connect them."""
    for size in range(g.size - 1, len(g.edges) + 1):
        yield from (part for part in combinations(g.edges, size) if len(_degrees(part)) == g.size)


def _degrees(edges: Edges) -> Counter[int]:
    return Counter(node for edge in edges for node in edge)


def edge_degrees(edges: Edges, edge: tuple[int, int]) -> tuple[int, int]:
    """Return the degrees of both ends of an edge, the smaller one first."""
    a, b = sorted(_degrees(edges)[u] for u in edge)
    return a, b


def _graphlet(edges: Edges) -> Graphlet:
    found = sorted(_degrees(edges).values())
    return next(g for g in CATALOGUE if sorted(_degrees(g.edges).values()) == found)
