"""Counts of the directed motifs, at every arc and node.

Enumerated are, for every edge (u, v) of the underlying graph, its triangles by the ways in which u and v are
joined to the third node: nine numbers. The rest follows from degrees. With d_x(u) the neighbours of u by the
way x (out alone, in alone, both), the third nodes joined to u by x and not to v are d_x(u), less v itself if
that is the way to it, less the triangles in which u has the way x. These 9 + 3 + 3 numbers hold every
connected triple of the edge once, and which arc orbit each belongs to is a table (`arc_orbit_table`).

Why nothing here overflows. A graph has M < 2³¹ edges, so that each of the numbers of an arc is below 2³². A
triad holds two edges that share a node, which name it: a node is in fewer than M²/2 < 2⁶¹ triads. A node
orbit is a sum over the arcs at a node, in which a triad is seen at most four times: it stays below 2⁶³.
Totals are Python integers.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from graphmotifs._messages import one_of
from graphmotifs.base_counts import BaseCounts, MotifGroup, exact_sum
from graphmotifs.catalogue import TRIANGLES
from graphmotifs.graph import SimpleGraph, arc_ends, known_ways
from graphmotifs.node_pairs import drop_joined
from graphmotifs.passes import Counts, Progress, prepare_passes
from graphmotifs.triads import (
    ARC_ORBITS,
    DIRECTED_CATALOGUE,
    DIRECTED_MOTIFS,
    DIRECTED_NODE_ORBITS,
    DIRECTIONS,
    arc_orbit_columns,
    arc_orbit_table,
    directed_graphlet_of,
    directed_name,
)

if TYPE_CHECKING:
    from graphmotifs.motif_counts import MotifCounts

Matrix: TypeAlias = "sp.csr_array[np.int64]"  # a string: SciPy before 1.16 cannot be subscripted
_AT_CENTER = {
    **{"out-star": ("out", "out"), "in-star": ("in", "in"), "mutual-star": ("both", "both")},
    **{"chain": ("in", "out"), "mutual-in": ("in", "both"), "mutual-out": ("out", "both")},
}
"""How the middle of each open triad is joined to its two ends."""


def enumerate_arcs(graph: SimpleGraph, threads: int | None, progress: Progress | None = None) -> Counts:
    """Count the triangles of every edge (u < v, sorted) by direction, uint32 [M, 9].

    Column 3 x + y counts third nodes w by the ways x from u to w and y from v to w: 0 for an arc to w alone,
    1 for one from w alone, 2 for both. The result does not depend on `threads`.
    """
    g, plan, run, _ = prepare_passes(graph, threads, progress, TRIANGLES, directed=True)
    (by_ways,) = run("triangles by direction", plan.triangles, np.uint32, None)
    return np.asarray(_in_pair_order(by_ways.reshape(-1, 9), g.pair, g.swapped))


class ArcNumbers(NamedTuple):
    """What the orbits of arcs are derived from: the digraph, and numbers per node and per edge."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    ways: NDArray[np.uint8]
    degrees: NDArray[np.int64]  # [N, 3], by way
    closed: Counts  # [M, 9]
    table: NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class DirectedCounts(BaseCounts):
    """Counts of the directed motifs at every arc and node, made by ``count(…, directed=True)``.

    Kept are nine numbers per edge; columns are derived from them when asked for. All are of induced triads:
    three nodes are in one triad alone. `node_ids` [N] are the ids of the nodes where the graph had others
    than 0, 1, ….
    """

    graph: SimpleGraph
    closed: Counts
    node_ids: NDArray[Any] | None = field(default=None, compare=False)
    _undirected: MotifCounts | None = field(default=None, compare=False)
    _unit: ClassVar[str] = "arc"
    _node_orbits: ClassVar[tuple[str, ...]] = DIRECTED_NODE_ORBITS

    def __post_init__(self) -> None:
        if self.closed.shape != (len(known_ways(self.graph)), 9) or self.closed.dtype != np.uint32:
            raise ValueError(f"closed: expected uint32 of shape [{self.graph.num_edges}, 9]")

    @property
    def num_arcs(self) -> int:
        """Number of arcs; those of a reciprocal pair are two."""
        return len(self.arcs)

    @property
    def motifs(self) -> tuple[str, ...]:
        """The names that `column` and `adjacency` know, beside the aliases M1 … M13 and 021D … 300."""
        return DIRECTED_MOTIFS

    @property
    def arcs(self) -> NDArray[np.int64]:
        """Int64 [A, 2]: the arcs, sorted; the rows of `per_arc`."""
        return self._arc_rows[0]

    @cached_property
    def undirected(self) -> MotifCounts:
        """The counts of the same graph without its directions, made when they are first asked for."""
        from graphmotifs.counting import count

        return count(self.graph) if self._undirected is None else self._undirected

    @property
    def per_arc(self) -> NDArray[np.int64]:
        """Int64 [A, 32]: counts of the arc orbits `ARC_ORBITS`, computed at each access."""
        return self._columns(np.arange(len(ARC_ORBITS)))

    @property
    def per_node(self) -> NDArray[np.int64]:
        """Int64 [N, 33]: counts of the node orbits `DIRECTED_NODE_ORBITS`, computed at each access."""
        tail, head, times = _ends_of_orbits()
        sums = np.zeros((self.num_nodes, len(DIRECTED_NODE_ORBITS)), np.int64)
        node_sums(self._numbers, tail, head, sums)
        return sums // times

    def column(self, motif: str) -> NDArray[np.int64]:
        """Int64 [A]: counts of one motif per arc: an arc orbit, or a triad (the sum of its orbits)."""
        place = np.full(len(ARC_ORBITS), -1)
        place[arc_orbit_columns(motif)] = 0
        return self._columns(place)[:, 0]

    def instances(self) -> dict[str, int]:
        """Return how often each motif is in the whole digraph, as exact Python integers."""
        sums = dict(zip(DIRECTED_NODE_ORBITS, map(exact_sum, self.per_node.T), strict=True))
        # An instance is in the sum of an orbit once for every node that has this orbit.
        orbits = [(g.name, g.node_orbits) for g in DIRECTED_CATALOGUE]
        return {name: sums[nodes[0]] // nodes.count(nodes[0]) for name, nodes in orbits}

    def adjacency(self, motif: str, *, direction: str = "out", scope: str = "edges") -> Matrix:
        """The weighted adjacency of a directed motif, int64 CSR [N, N].

        Args:
            motif: a triad ("feed-forward-loop", "M5", "030T") or an arc orbit ("chain-start-middle").
            direction: "out": entry (i, j) counts the instances that contain the *arc* i → j; "in": those that
                contain j → i; "both": the sum of the two, which is symmetric.
            scope: "edges" as above; "pairs": instances that contain both *nodes*, joined or not, whatever the
                direction: the motif adjacency of Benson, Gleich and Leskovec (2016).
        """
        one_of("direction", direction, DIRECTIONS)
        one_of("scope", scope, ("edges", "pairs"))
        name = directed_name(motif)
        if scope == "pairs":
            if name != directed_graphlet_of(name).name:
                raise ValueError(f"scope='pairs' counts whole triads, and {name!r} is an orbit of one")
            if direction != "out":
                raise ValueError(f"scope='pairs' has no direction, got direction={direction!r}")
            return self._pair_matrix(name)
        out = self._matrix(self.column(name))
        if direction == "out":
            return out
        turned = sp.csr_array(out.T.tocsr())
        turned.sort_indices()
        return turned if direction == "in" else sp.csr_array(out + turned)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table of `to_frame` to a .csv or .parquet file; it appears complete or not at all."""
        if not self._save_table(path):
            raise ValueError(f"{path}: directed counts are saved as a table, to a name in .csv or .parquet")

    def __repr__(self) -> str:
        return f"DirectedCounts({self.num_nodes:,} nodes, {self.num_arcs:,} arcs)"

    @property
    def _groups(self) -> list[MotifGroup]:
        return [
            MotifGroup(g.name, tuple(dict.fromkeys(g.arc_orbits)), len(g.arcs)) for g in DIRECTED_CATALOGUE
        ]

    @property
    def _ends(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.arcs[:, 0], self.arcs[:, 1]

    @cached_property
    def _arc_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The arcs, and for every edge the rows of its two directions among them; -1 where there is none."""
        graph, places = self.graph, np.empty((self.graph.num_edges, 2), np.int64)
        arcs = arc_ends(graph.indptr, graph.indices, known_ways(graph), places)
        return np.ascontiguousarray(arcs.T), places

    @property
    def _numbers(self) -> ArcNumbers:
        graph, ways = self.graph, known_ways(self.graph)
        degrees = degrees_by_way(graph.indptr, graph.indices, ways)
        return ArcNumbers(graph.indptr, graph.indices, ways, degrees, self.closed, arc_orbit_table())

    def _columns(self, place: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sums of arc orbits, [A, largest place + 1]; an orbit is added at its place, or left out at -1."""
        columns = np.zeros((self.num_arcs, int(place.max()) + 1), np.int64)
        arc_columns(self._numbers, self._arc_rows[1], place, columns)
        return columns

    def _matrix(self, values: NDArray[np.int64]) -> Matrix:
        kept = values > 0
        tails, heads = self._ends
        matrix = sp.csr_array((values[kept], (tails[kept], heads[kept])), shape=(self.num_nodes,) * 2)
        matrix.sort_indices()
        return matrix

    def _pair_matrix(self, name: str) -> Matrix:
        """Count the instances that two nodes are in together, joined or not.

        Joined nodes are in as many instances as either of their arcs; others in those of open triads.
        """
        out = self._matrix(self.column(name))
        if name == "arc":  # the two arcs of a pair are two instances
            return sp.csr_array(out + out.T)
        joined = sp.csr_array(out.maximum(out.T))
        if name not in _AT_CENTER:
            return joined
        every, mutual = (self._matrix(self.column(kind)) for kind in ("arc", "reciprocal-arc"))
        one_way, ways = sp.csr_array(every - mutual), _AT_CENTER[name]
        first, second = ({"out": one_way, "in": one_way.T, "both": mutual}[way] for way in ways)
        wedges = first.T @ second
        if ways[0] != ways[1]:
            wedges = wedges + wedges.T
        total = sp.csr_array(joined + drop_joined(wedges, sp.csr_array(every + every.T)))
        total.sort_indices()
        return total


def _ends_of_orbits() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The node orbits of every arc orbit's tail and head, and how many arcs a node of each orbit has."""
    tail, head = np.empty(len(ARC_ORBITS), np.int64), np.empty(len(ARC_ORBITS), np.int64)
    times = np.zeros(len(DIRECTED_NODE_ORBITS), np.int64)
    for g in DIRECTED_CATALOGUE:
        nodes = [DIRECTED_NODE_ORBITS.index(orbit) for orbit in g.node_orbits]
        for (source, target), orbit in zip(g.arcs, g.arc_orbits, strict=True):
            column = ARC_ORBITS.index(orbit)
            tail[column], head[column] = nodes[source], nodes[target]
        for node, column in enumerate(nodes):
            times[column] = sum(node in arc for arc in g.arcs)
    return tail, head, times


@kernel
def _in_pair_order(values: Any, pair: Any, swapped: Any) -> Any:
    """Return nine numbers per edge in the order of the pairs; x and y change places where the ends do."""
    ordered = np.empty_like(values)
    for e in range(len(pair)):
        for x in range(3):
            for y in range(3):
                ordered[pair[e], 3 * y + x if swapped[e] else 3 * x + y] = values[e, 3 * x + y]
    return ordered


@kernel
def degrees_by_way(indptr: Any, indices: Any, ways: Any) -> Any:
    """Return int64 [N, 3]: how many neighbours of a node have an arc from it alone, to it alone, or both."""
    degrees = np.zeros((len(indptr) - 1, 3), np.int64)
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            way = np.int64(ways[e]) - 1
            degrees[u, way] += 1
            degrees[indices[e], way if way == 2 else 1 - way] += 1
    return degrees


@kernel
def _triples(e: Any, u: Any, v: Any, way: Any, numbers: Any, triples: Any) -> Any:
    """Write the connected triples of edge (u, v) into `triples`, in the order of `arc_orbit_table`."""
    for x in range(3):
        triples[9 + x] = numbers.degrees[u, x] - (x == way)
        triples[12 + x] = numbers.degrees[v, x] - (x == (way if way == 2 else 1 - way))
    for x in range(3):
        for y in range(3):
            count = np.int64(numbers.closed[e, 3 * x + y])
            triples[3 * x + y] = count
            triples[9 + x] -= count
            triples[12 + y] -= count
    triples[15], triples[16] = 1, way == 2


@kernel
def arc_columns(numbers: Any, rows: Any, place: Any, columns: Any) -> Any:
    """Add the orbit counts of every arc to its row: orbit o in column place[o], or nowhere if that is -1."""
    triples = np.empty(17, np.int64)
    for u in range(len(numbers.indptr) - 1):
        for e in range(numbers.indptr[u], numbers.indptr[u + 1]):
            way = np.int64(numbers.ways[e]) - 1
            _triples(e, u, numbers.indices[e], way, numbers, triples)
            for back in range(2):
                row = rows[e, back]
                if row < 0:
                    continue
                for i in range(17):
                    column = place[numbers.table[way // 2, back, i]]
                    if column >= 0:
                        columns[row, column] += triples[i]


@kernel
def node_sums(numbers: Any, tail: Any, head: Any, sums: Any) -> Any:
    """Add the orbit counts of every arc to both ends: orbit o in columns tail[o] and head[o] of theirs."""
    triples = np.empty(17, np.int64)
    for u in range(len(numbers.indptr) - 1):
        for e in range(numbers.indptr[u], numbers.indptr[u + 1]):
            v, way = np.int64(numbers.indices[e]), np.int64(numbers.ways[e]) - 1
            _triples(e, u, v, way, numbers, triples)
            for back in range(2):
                if way == 1 - back:  # there is no arc in this direction
                    continue
                source, target = (v, u) if back else (u, v)
                for i in range(17):
                    orbit = numbers.table[way // 2, back, i]
                    sums[source, tail[orbit]] += triples[i]
                    sums[target, head[orbit]] += triples[i]
