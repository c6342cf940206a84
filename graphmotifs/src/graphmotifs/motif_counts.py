"""`MotifCounts`: the counts of every edge and node of an undirected graph."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphmotifs import orbit_formulas
from graphmotifs._files import atomic_write, read_arrays
from graphmotifs._threads import cut_rows, run_chunks
from graphmotifs.base_counts import BaseCounts, MotifGroup
from graphmotifs.catalogue import (
    CATALOGUE,
    CYCLES,
    EDGE_ORBITS,
    GRAPHLETS,
    MOTIFS,
    NODE_ORBITS,
    ORBIT_STAGES,
    TRIANGLES,
    edge_copies,
    graphlet_copies,
    graphlet_of,
    node_copies,
    orbit_weights,
    stage_of,
)
from graphmotifs.directed_counts import DirectedCounts, enumerate_arcs
from graphmotifs.graph import SimpleGraph
from graphmotifs.node_pairs import NonAdjacentPairs
from graphmotifs.orbit_formulas import EdgeNumbers
from graphmotifs.passes import Enumerated, cast_as_counted, useful_threads

_FORMATS = {1: "mcn-motif-counts-1-triangles", 2: "mcn-motif-counts-1-cliques", 3: "mcn-motif-counts-1"}
"""By the stage of the enumeration, which decides what arrays there are."""
_ARRAYS = ["indptr", "indices", "t", "s1", "s2", "k", "c"]
_NUMBERS = ("num_nodes", "self_loops", "duplicates", "one_way", "induced")


@dataclass(frozen=True, repr=False)
class MotifCounts(BaseCounts):
    """Motif counts of every edge and node of a graph, made by `count_motifs`.

    Kept are five numbers per edge; the columns are derived from them when asked for, so ask for one
    `column` or `adjacency` rather than for all of `per_edge` where memory matters. Counts that were made for
    some `motifs` alone keep fewer, and know those of `motifs`. `node_ids` [N] are the ids of the nodes where
    the graph had others than 0, 1, …; a file of `save` does not hold them.
    """

    graph: SimpleGraph
    enumerated: Enumerated
    induced: bool = True
    threads: int | None = field(default=None, compare=False)
    node_ids: NDArray[Any] | None = field(default=None, compare=False)
    _unit: ClassVar[str] = "edge"
    _node_orbits: ClassVar[tuple[str, ...]] = NODE_ORBITS

    def __post_init__(self) -> None:
        for name, array in vars(self.enumerated).items():
            if array is None:
                continue
            if array.shape != (self.num_edges,) or array.dtype not in (np.uint32, np.uint64):
                raise ValueError(
                    f"enumerated.{name} has shape {list(array.shape)}, dtype {array.dtype}; expected uint32 "
                    f"or uint64 of shape [{self.num_edges}], a number per edge"
                )

    @property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        return self.graph.num_edges

    @property
    def motifs(self) -> tuple[str, ...]:
        """The names that `column` and `adjacency` know: all of `MOTIFS`, or those counted for."""
        return tuple(name for name in MOTIFS if stage_of(name, self.induced) <= self.enumerated.stage)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Int64 [M, 2]: the undirected edges, u < v, sorted; the rows of `per_edge`."""
        return self.graph.pairs

    @property
    def per_edge(self) -> NDArray[np.int64]:
        """Int64 [M, 13]: counts of the edge orbits `EDGE_ORBITS`, computed at each access."""
        numbers = self._all_numbers("per_edge")
        if not self.induced:
            return self._columns(np.eye(len(EDGE_ORBITS), dtype=np.int64), self.induced)
        rows = np.empty((self.num_edges, len(EDGE_ORBITS)), np.int64)
        self._in_chunks(lambda start, stop: orbit_formulas.orbit_rows(start, stop, numbers, rows))
        return rows

    @property
    def per_node(self) -> NDArray[np.int64]:
        """Int64 [N, 15]: counts of the node orbits `NODE_ORBITS`, computed at each access."""
        counts, too_large = orbit_formulas.node_orbits(self._all_numbers("per_node"))
        if too_large < 0 and not self.induced:
            # Sums of counts ≥ 0; the only one that can exceed int64 is the center of all 3-stars.
            degree = counts[:, 0]
            hub = int(degree.argmax()) if len(degree) else 0
            if len(degree) and comb(int(degree[hub]), 3) >= 2**63:
                too_large = hub
        if too_large >= 0:
            self._refuse_hub(too_large)
        return counts if self.induced else counts @ node_copies().T

    def _refuse_hub(self, node: int) -> None:
        degree = int(self.graph.degrees[node])
        if comb(degree, 3) < 2**63:  # whatever it is the center of, fits
            raise ValueError(
                f"the numbers of the edges at node {node} contradict each other; if these counts are from a "
                "file, it was altered: count again"
            )
        raise ValueError(
            f"the count of '3-star-center' at node {node}, which has {degree:,} neighbours, does not fit "
            "into 64 bits; per_edge, column, adjacency and totals are exact: use those, or leave this "
            "node out"
        )

    def column(self, motif: str) -> NDArray[np.int64]:
        """Int64 [M]: counts of one motif per edge: an edge orbit, or a graphlet (the sum of its orbits)."""
        return self._columns(orbit_weights(motif)[None], self.induced)[:, 0]

    def adjacency(self, motif: str, *, scope: str = "edges") -> sp.csr_array[np.int64]:
        """The weighted motif adjacency A_t, symmetric with zero diagonal, as int64 CSR [N, N].

        Args:
            motif: an edge orbit ("4-path-center") or a graphlet ("4-path").
            scope: "edges": entry (i, j) counts the instances that contain the *edge* (i, j), the
                paper's definition. "pairs": those that contain both *nodes*, adjacent or not; then
                `motif` must be a graphlet.
        """
        if scope == "edges":
            return self._symmetric(self.column(motif))
        if scope != "pairs":
            raise ValueError(f"scope must be 'edges' or 'pairs', got {scope!r}")
        graphlet = graphlet_of(motif)
        if motif != graphlet.name:
            raise ValueError(
                f"scope='pairs' counts whole graphlets, and {motif!r} is one orbit of {graphlet.name!r}; "
                f"ask for {graphlet.name!r}"
            )
        total = sp.csr_array((self.num_nodes, self.num_nodes), dtype=np.int64)
        copies = graphlet_copies()[GRAPHLETS.index(motif)]
        for g, times in zip(CATALOGUE, copies, strict=True):
            if (g.name == motif) if self.induced else times > 0:
                total = total + (1 if self.induced else times) * self._pair_matrix(g.name)
        return total.tocsr()

    @property
    def _groups(self) -> list[MotifGroup]:
        return [
            MotifGroup(g.name, tuple(orbit for orbit, _ in g.edge_orbits), len(g.edges))
            for g in CATALOGUE
            if g.name in self.motifs
        ]

    @property
    def _ends(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._tails, self.graph.indices

    def _orbit_total(self, orbit: str) -> tuple[int, int, int]:
        high, low, edges, nodes = (column[EDGE_ORBITS.index(orbit)] for column in self._orbit_totals)
        return (int(high) << 32) + int(low), int(edges), int(nodes)

    @cached_property
    def _orbit_totals(self) -> tuple[NDArray[np.int64], ...]:
        weights = np.empty((0, 13), np.int64) if self.induced else edge_copies().astype(np.int64)
        found: tuple[NDArray[np.int64], ...] = orbit_formulas.orbit_totals(self._numbers, weights)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an .npz file (compressed, no pickle); it appears complete or not at all.

        A name that ends in .csv or .parquet gets the table of `to_frame`, which `load` does not read.
        """
        if self._save_table(path):
            return
        arrays: dict[str, Any] = {"format": np.array(_FORMATS[self.enumerated.stage])}
        arrays |= {name: np.array(int(getattr(self.graph, name))) for name in _NUMBERS if name != "induced"}
        arrays["induced"] = np.array(int(self.induced))
        arrays |= {"indptr": self.graph.indptr, "indices": self.graph.indices}
        arrays |= {name: counted for name, counted in vars(self.enumerated).items() if counted is not None}
        with atomic_write(path) as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MotifCounts:
        """Read what `save` wrote.

        Raises:
            ValueError: the file is something else, damaged, or inconsistent in itself; or it takes more
                memory than `MCN_MAX_BYTES` in the environment allows (2 GiB if that is not set).
            OSError: the file is not there or cannot be read.
        """
        content = read_arrays(path, ("format", *_NUMBERS, *_ARRAYS), "not a file of motif counts, or damaged")
        kind = str(content.pop("format", None))
        if kind not in _FORMATS.values():
            raise ValueError(f"{path}: not a file of motif counts")
        names = _ARRAYS[:3] if kind == _FORMATS[1] else _ARRAYS[:6] if kind == _FORMATS[2] else _ARRAYS
        complete = {*_NUMBERS, *names} <= content.keys()
        counts = _checked({name: content[name] for name in (*_NUMBERS, *names)}) if complete else None
        if counts is None:
            raise ValueError(
                f"{path}: the arrays in this file do not make up motif counts; it was damaged or altered"
            )
        return counts

    def __repr__(self) -> str:
        kind = "" if self.induced else ", induced=False"
        return f"MotifCounts({self.num_nodes:,} nodes, {self.num_edges:,} edges{kind})"

    @cached_property
    def directed(self) -> DirectedCounts:
        """The counts of the directed motifs of the same graph, made when they are first asked for.

        Raises:
            ValueError: the directions of the edges are not known.
        """
        return DirectedCounts(self.graph, enumerate_arcs(self.graph, self.threads), self.node_ids, self)

    @cached_property
    def _numbers(self) -> EdgeNumbers:
        g, x = self.graph, self.enumerated
        given = cast_as_counted([np.zeros_like(x.t) if part is None else part for part in vars(x).values()])
        degree, around, triangles = orbit_formulas.node_sums(g.indptr, g.indices, given[0])
        return EdgeNumbers(g.indptr, g.indices, degree, around, triangles, *given)

    def _all_numbers(self, what: str) -> EdgeNumbers:
        if self.enumerated.stage < CYCLES:
            raise ValueError(f"{what} needs all motifs, and only {', '.join(self.motifs)} were counted")
        return self._numbers

    @property
    def _tails(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.num_nodes), np.diff(self.graph.indptr))

    def _columns(self, weights: NDArray[np.int64], induced: bool) -> NDArray[np.int64]:
        if not induced:
            weights = weights @ edge_copies()
        needed = max((stage for stage, part in zip(ORBIT_STAGES, weights.T, strict=True) if part.any()))
        if needed > self.enumerated.stage:
            raise ValueError(
                f"this motif was not counted; count_motifs was asked for {', '.join(self.motifs)}"
            )
        if not weights[:, :2].any() and needed == TRIANGLES:
            return self.enumerated.t[:, None] * weights[:, 2]
        if needed == TRIANGLES:
            degrees, closed = self.graph.degrees, self.enumerated.t.astype(np.int64)
            open_ = degrees[self._tails] + degrees[self.graph.indices] - 2 - 2 * closed
            columns = weights[:, 0] + open_[:, None] * weights[:, 1] + closed[:, None] * weights[:, 2]
            return np.asarray(columns)
        columns = np.empty((self.num_edges, len(weights)), np.int64)
        given = (self._numbers, np.ascontiguousarray(weights), columns)
        self._in_chunks(lambda start, stop: orbit_formulas.edge_columns(start, stop, *given))
        return columns

    def _in_chunks(self, work: Callable[[int, int], object]) -> None:
        """Call `work` for ranges of nodes of about equal numbers of edges, on as many threads as counting."""
        threads = useful_threads(self.num_edges, self.threads)
        cuts = cut_rows(self.graph.indptr, 1 if threads == 1 else 4 * threads)
        run_chunks(lambda _worker, start, stop: work(start, stop), cuts, threads)

    def _symmetric(self, values: NDArray[np.int64]) -> sp.csr_array[np.int64]:
        kept = values > 0
        ends = (self._tails[kept], self.graph.indices[kept].astype(np.int64))
        upper = sp.csr_array((values[kept], ends), shape=(self.num_nodes, self.num_nodes))
        matrix = (upper + upper.T).tocsr()
        matrix.sort_indices()
        return matrix

    def _pair_matrix(self, graphlet: str) -> sp.csr_array[np.int64]:
        adjacent = self._symmetric(self._columns(orbit_weights(graphlet)[None], induced=True)[:, 0])
        apart = self._non_adjacent.matrix(graphlet)
        return adjacent if apart is None else adjacent + apart

    @cached_property
    def _non_adjacent(self) -> NonAdjacentPairs:
        weights = np.stack([orbit_weights("edge"), orbit_weights("triangle")])
        edge, triangle = self._columns(weights, induced=True).T
        return NonAdjacentPairs(self._symmetric(edge), self._symmetric(triangle))


def _checked(content: dict[str, NDArray[Any]]) -> MotifCounts | None:
    """Return the counts that arrays of a file make up; None if they contradict each other.

    Kernels do not check their indices, so that everything is checked here.
    """
    given = [content[name] for name in _NUMBERS]
    if not all(x.shape == () and x.dtype.kind in "iu" and 0 <= int(x) < 2**63 for x in given):
        return None
    numbers: dict[str, Any] = {name: int(content[name]) for name in _NUMBERS}
    induced = numbers.pop("induced")
    there = [content[name] for name in _ARRAYS[2:] if name in content]
    try:
        graph = SimpleGraph(indptr=content["indptr"], indices=content["indices"], **numbers)
        counts = MotifCounts(graph, Enumerated(*there), bool(induced))
        five = cast_as_counted(there)
    except ValueError:
        return None
    tails, indptr, indices = counts._tails, graph.indptr, graph.indices
    same_row = tails[1:] == tails[:-1]
    if induced > 1 or not ((tails < indices).all() and (indices[1:] > indices[:-1])[same_row].all()):
        return None
    few = np.minimum(five[0], len(indices))  # yet to be checked
    five += [np.zeros_like(five[0])] * (5 - len(there))
    edges = EdgeNumbers(indptr, indices, *orbit_formulas.node_sums(indptr, indices, few), *five)
    return counts if int(orbit_formulas.first_impossible(edges, len(there) == 5)) < 0 else None
