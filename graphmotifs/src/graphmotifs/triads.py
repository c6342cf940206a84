"""The directed motifs: arcs, the 13 connected digraphs on three nodes (triads), and the places in them.

The names follow what the nodes do; Benson's M1 … M13 and the man-codes (021D … 300: the numbers of mutual,
asymmetric and null pairs) are understood too. A node's place is its *role*; an arc's is the roles of its tail
and its head.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import did_you_mean, told

Arc = tuple[int, int]
DIRECTIONS = ("out", "in", "both")


@dataclass(frozen=True)
class Digraph:
    """A connected digraph on two or three nodes; nodes that a symmetry exchanges have the same role."""

    name: str
    aliases: tuple[str, ...]  # the man-code, Benson's number
    roles: tuple[str, ...]  # of its nodes
    arcs: tuple[Arc, ...]

    @cached_property
    def node_orbits(self) -> tuple[str, ...]:
        """The orbit of every node."""
        return tuple(f"{self.name}-{role}" if role else self.name for role in self.roles)

    @cached_property
    def arc_orbits(self) -> tuple[str, ...]:
        """The orbit of every arc."""
        ends = [(self.roles[tail], self.roles[head]) for tail, head in self.arcs]
        if len(set(ends)) == 1:
            return (self.name,) * len(ends)
        return tuple("-".join([self.name, *dict.fromkeys(pair)]) for pair in ends)


_PAIR = ((1, 2), (2, 1))
DIRECTED_CATALOGUE: tuple[Digraph, ...] = (
    Digraph("arc", (), ("source", "target"), ((0, 1),)),
    Digraph("reciprocal-arc", (), ("", ""), ((0, 1), (1, 0))),
    Digraph("out-star", ("021D", "M8"), ("center", "end", "end"), ((0, 1), (0, 2))),
    Digraph("in-star", ("021U", "M10"), ("center", "end", "end"), ((1, 0), (2, 0))),
    Digraph("chain", ("021C", "M9"), ("start", "middle", "end"), ((0, 1), (1, 2))),
    Digraph("mutual-in", ("111D", "M12"), ("source", "center", "tip"), ((0, 1), *_PAIR)),
    Digraph("mutual-out", ("111U", "M11"), ("target", "center", "tip"), ((1, 0), *_PAIR)),
    Digraph("mutual-star", ("201", "M13"), ("end", "center", "end"), ((0, 1), (1, 0), *_PAIR)),
    Digraph("feed-forward-loop", ("030T", "M5"), ("source", "middle", "target"), ((0, 1), (1, 2), (0, 2))),
    Digraph("cycle", ("030C", "M1"), ("", "", ""), ((0, 1), (1, 2), (2, 0))),
    Digraph("regulated-mutual", ("120D", "M6"), ("source", "pair", "pair"), ((0, 1), (0, 2), *_PAIR)),
    Digraph("regulating-mutual", ("120U", "M7"), ("target", "pair", "pair"), ((1, 0), (2, 0), *_PAIR)),
    Digraph("mutual-cycle", ("120C", "M2"), ("middle", "start", "end"), ((1, 0), (0, 2), *_PAIR)),
    Digraph("semi-clique", ("210", "M3"), ("source", "center", "target"), ((0, 2), (0, 1), (1, 0), *_PAIR)),
    Digraph("clique", ("300", "M4"), ("", "", ""), ((0, 1), (1, 0), (0, 2), (2, 0), *_PAIR)),
)

DIRECTED_GRAPHLETS: tuple[str, ...] = tuple(g.name for g in DIRECTED_CATALOGUE)
ARC_ORBITS: tuple[str, ...] = tuple(dict.fromkeys(name for g in DIRECTED_CATALOGUE for name in g.arc_orbits))
DIRECTED_NODE_ORBITS: tuple[str, ...] = tuple(
    dict.fromkeys(name for g in DIRECTED_CATALOGUE for name in g.node_orbits)
)
DIRECTED_MOTIFS: tuple[str, ...] = tuple(dict.fromkeys(ARC_ORBITS + DIRECTED_GRAPHLETS))
"""Every name a directed adjacency can be asked for, beside the aliases."""
_ALIASES = {alias: g.name for g in DIRECTED_CATALOGUE for alias in g.aliases}


def directed_name(motif: str) -> str:
    """Return the name that a directed motif has here: itself, or what an alias stands for.

    >>> directed_name("M5"), directed_name("030C"), directed_name("chain-start-middle")
    ('feed-forward-loop', 'cycle', 'chain-start-middle')
    """
    name = _ALIASES.get(str(motif).upper(), motif)
    if name not in DIRECTED_MOTIFS:
        hint = did_you_mean(motif, DIRECTED_MOTIFS, most=3) or ";"
        known = ", ".join(DIRECTED_GRAPHLETS)
        raise ValueError(f"unknown directed motif {told(motif)}{hint} known are {known} and their orbits")
    return name


def is_directed_name(name: str) -> bool:
    """Whether a name is that of a directed motif or arc orbit, or an alias of one."""
    return name.upper() in _ALIASES or name in DIRECTED_MOTIFS


def directed_graphlet_of(motif: str) -> Digraph:
    """Return the digraph that a directed motif's name belongs to.

    >>> directed_graphlet_of("M8").arcs
    ((0, 1), (0, 2))
    """
    name = directed_name(motif)
    return next(g for g in DIRECTED_CATALOGUE if name == g.name or name in g.arc_orbits)


def arc_orbit_columns(motif: str) -> list[int]:
    """Return the columns of `ARC_ORBITS` that a directed motif sums over."""
    name, g = directed_name(motif), directed_graphlet_of(motif)
    names = set(g.arc_orbits) if name == g.name else {name}
    return [column for column, orbit in enumerate(ARC_ORBITS) if orbit in names]


@cache
def arc_orbit_table() -> NDArray[np.int64]:
    """Int64 [2, 2, 17]: the orbit of an arc among three nodes, by what joins them.

    The first index says whether the arc is reciprocal, the second from which end of its edge (a, b) it comes:
    a → b or b → a. The last is 3 x + y where a third node is joined to both (x is the way from a to it, y
    that from b: 0 for out alone, 1 for in alone, 2 for both), 9 + x where it is joined to a alone, and 12 + y
    where it is joined to b alone. The last two are the arc by itself, and as a reciprocal one.
    """
    table = np.empty((2, 2, 17), np.int64)
    table[:, :, 15:] = ARC_ORBITS.index("arc"), ARC_ORBITS.index("reciprocal-arc")
    ways = (0, 1, 2)
    joined: list[tuple[int | None, int | None]] = list(product(ways, ways))
    joined += [*product(ways, [None]), *product([None], ways)]
    for reciprocal, back, (place, (x, y)) in product((0, 1), (0, 1), enumerate(joined)):
        marked = (1, 0) if back else (0, 1)
        arcs = {marked, marked[::-1] if reciprocal else marked, *_ways(0, x), *_ways(1, y)}
        table[reciprocal, back, place] = ARC_ORBITS.index(_orbit_of(arcs, marked))
    return table


def _ways(end: int, way: int | None) -> list[Arc]:
    """The arcs between an end of the edge and the third node, which is number 2."""
    return [] if way is None else [[(end, 2)], [(2, end)], [(end, 2), (2, end)]][way]


def _orbit_of(arcs: set[Arc], marked: Arc) -> str:
    for g in DIRECTED_CATALOGUE:
        for order in permutations(range(len(g.roles))):
            renamed = [(order[tail], order[head]) for tail, head in g.arcs]
            if set(renamed) == arcs:
                return g.arc_orbits[renamed.index(marked)]
    raise AssertionError(f"no connected digraph on three nodes has the arcs {arcs}")
