"""Sharing the enumeration out between threads, within a small and known amount of memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn._threads import available_threads, run_chunks
from mcn.data.csr_graph import SimpleGraph
from mcn.motifs import kernels
from mcn.motifs.orient import Oriented, orient

Counts = NDArray[Any]  # unsigned, 32 bits where the graph's degrees allow it

SMALL = 50_000
"""Edges below which a second thread costs more than it brings."""
_CHUNKS = 48
_LITTLE = 2_000_000  # edges times longest out-list below which that is true as well
_WORD = 2**32


TRIANGLES, CLIQUES, CYCLES = 1, 2, 3
"""Stages of the enumeration: t alone; t, s1, s2 and k; all five numbers."""


@dataclass(frozen=True)
class Enumerated:
    """The five numbers of every edge, in the order of the graph's sorted pairs (see `kernels`).

    Those of stages that were not asked for are None.
    """

    t: Counts
    s1: Counts | None = None
    s2: Counts | None = None
    k: Counts | None = None
    c: Counts | None = None

    @property
    def stage(self) -> int:
        """How far the enumeration went."""
        return CYCLES if self.c is not None else CLIQUES if self.k is not None else TRIANGLES


def as_counted(numbers: Sequence[Counts]) -> list[Counts]:
    """Give the numbers of a file, t, s1, s2, k and c, the types that counting gives them.

    A kernel is compiled for every mixture of types that it meets, which takes seconds; there are four.

    Raises:
        ValueError: t or s1 is more than any graph has.
    """
    small, pair = numbers[:2], numbers[2:4]
    if any(int(each.max(initial=0)) >= _WORD for each in small):
        raise ValueError("numbers of triangles beyond 32 bits, which no graph has")
    kind = np.result_type(*pair) if pair else np.uint32
    return [
        *(each.astype(np.uint32, copy=False) for each in small),
        *(each.astype(kind, copy=False) for each in pair),
        *numbers[4:],
    ]


def worth_threads(edges: int, wanted: int | None) -> int:
    """Return how many threads to use: those wanted, or all cores; one for few edges."""
    return 1 if edges < SMALL else available_threads() if wanted is None else wanted


def enumerate_edges(
    graph: SimpleGraph,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
    stage: int = CYCLES,
) -> Enumerated:
    """Count the five numbers per edge, or those of the stages up to `stage`.

    The result does not depend on `threads`.
    """
    if graph.num_edges >= 2**31:
        raise ValueError(f"{graph.num_edges:,} edges: at most 2**31 are supported")
    threads = worth_threads(graph.num_edges, threads)
    g = orient(graph, threads, both=stage > TRIANGLES)
    report = _Progress(progress)
    if stage == TRIANGLES:
        return Enumerated(in_pair_order(_only_triangles(g, threads, report), g.pair))
    in_start = kernels.skip_leaves(g.degree, g.in_ptr, g.in_node)
    widest = int(np.diff(g.out_ptr).max(initial=0))
    if graph.num_edges < SMALL or graph.num_edges * widest < _LITTLE:
        # No phase takes more than twice that many steps: not worth planning, let alone sharing out.
        threads, bounds, room = 1, np.array([0, graph.num_nodes]), widest * (widest - 1) // 2
        cycle_bounds, work = bounds, [1, 1, 1]
    else:
        bounds, steps, room = _triangle_plan(g, threads)
        cycle_bounds, cycle_steps = _cycle_plan(g, threads, in_start) if stage == CYCLES else (bounds, 0)
        work = [steps, steps, 2 * cycle_steps]
    report.plan(work[:stage], [len(bounds), len(bounds), len(cycle_bounds)][:stage])

    spare = _Spare(len(g.degree), len(g.out))
    found = _triangles(g, bounds, threads, report, spare)
    found += _cliques(g, bounds, threads, report, room, found[0], spare)
    if stage == CYCLES:
        found += [_cycles(g, cycle_bounds, threads, report, in_start, spare)]

    def reorder(_worker: int, i: int, _stop: int) -> None:  # one each at a time: few are held twice
        found[i] = in_pair_order(found[i], g.pair)

    run_chunks(reorder, range(len(found) + 1), threads)
    return Enumerated(*found)


class _Spare:
    """The counters of the workers.

    The first worker's counters become the result, so they are new each time. The other workers use theirs
    again: fresh memory costs a page fault for every 4 KiB, which does not scale.
    """

    def __init__(self, nodes: int, edges: int) -> None:
        self._nodes, self._edges = nodes, edges
        self._used: dict[int, list[Counts]] = {}

    def per_node(self, threads: int) -> list[Counts]:
        """Zeros for every node, per worker."""
        return [np.zeros(self._nodes, np.uint32) for _ in range(threads)]

    def per_edge(self, threads: int, kind: Any) -> list[list[Counts]]:
        """Two arrays of zeros for every edge, per worker."""
        return [self._pair(worker, kind) for worker in range(threads)]

    def _pair(self, worker: int, kind: Any) -> list[Counts]:
        if worker == 0 or kind != np.uint32:
            return [np.zeros(self._edges, kind), np.zeros(self._edges, kind)]
        if worker in self._used:
            for array in self._used[worker]:
                array.fill(0)
        else:
            self._used[worker] = [np.zeros(self._edges, kind), np.zeros(self._edges, kind)]
        return self._used[worker]


@dataclass(frozen=True)
class Plan:
    """Ranges of equal work for tasks elsewhere, and the sizes of what they need."""

    triangles: NDArray[np.int64]
    cycles: NDArray[np.int64]
    room: int  # for the triangles of one node
    cycle_kind: Any  # of the numbers that count 4-cycles

    @staticmethod
    def clique_kind(t: Counts) -> Any:
        """The type of numbers that s2 and k fit into: s2 ≤ 2·t·max t and k ≤ t²/2."""
        most = int(t.max(initial=0))
        return np.uint32 if 2 * most * most < _WORD else np.uint64


def plan_work(g: Oriented, stage: int, parts: int) -> Plan:
    """Cut the ranks into about `parts` ranges of equal work, for triangles and for cycles."""
    triangles, _, room = _triangle_plan(g, 1, parts)
    if stage < CYCLES:
        return Plan(triangles, triangles[:1], room, np.uint32)
    in_start = kernels.skip_leaves(g.degree, g.in_ptr, g.in_node)
    return Plan(triangles, _cycle_plan(g, 1, in_start, parts)[0], room, _cycle_kind(g))


def _triangle_plan(g: Oriented, threads: int, parts: int = _CHUNKS) -> tuple[NDArray[np.int64], int, int]:
    """Ranges of equal work for the triangles, the whole of it, and room for one node's triangles."""
    work = np.empty(len(g.degree), np.int64)
    rooms = [0]

    def plan(_worker: int, start: int, stop: int) -> None:
        rooms.append(int(kernels.triangle_work(start, stop, g.out_ptr, g.out, work)))

    run_chunks(plan, _even(len(work), threads), threads)
    return *_bounds(work, parts), max(rooms)


def _cycle_plan(
    g: Oriented, threads: int, in_start: NDArray[np.uint64], parts: int = _CHUNKS
) -> tuple[NDArray[np.int64], int]:
    """Ranges of equal work for the cycles, and the whole of it."""
    work = np.empty(len(g.degree), np.int64)
    lists = (in_start, g.out_ptr, g.in_ptr, g.in_node, g.in_edge)

    def plan(_worker: int, start: int, stop: int) -> None:
        kernels.cycle_work(start, stop, *lists, work)

    run_chunks(plan, _even(len(work), threads), threads)
    return _bounds(work, parts)


def _even(count: int, threads: int) -> list[int]:
    parts = 1 if threads == 1 else 4 * threads
    return [count * i // parts for i in range(parts + 1)]


def _only_triangles(g: Oriented, threads: int, report: _Progress) -> Counts:
    if threads == 1 or len(g.out) < SMALL:
        bounds, steps = np.array([0, len(g.degree)]), 1
    else:
        bounds, steps, _ = _triangle_plan(g, threads)
    report.plan([steps], [len(bounds)])
    nodes, zero, last = len(g.degree), np.uint64(0), np.uint64(len(g.degree))
    marks = [np.zeros(nodes, np.uint32) for _ in range(threads)]
    private = [np.zeros(len(g.out), np.uint32) for _ in range(threads)]

    def work(worker: int, start: int, stop: int) -> None:
        t = private[worker]
        kernels.closed_triples(
            start, stop, marks[worker], g.out_ptr, g.out, zero, t, zero, last, g.out, zero, t
        )

    run_chunks(work, bounds, threads, report.done)
    return _sum([[t] for t in private])[0]


def _triangles(
    g: Oriented, bounds: NDArray[np.int64], threads: int, report: _Progress, spare: _Spare
) -> list[Counts]:
    marks, private = spare.per_node(threads), spare.per_edge(threads, np.uint32)

    def work(worker: int, start: int, stop: int) -> None:
        kernels.triangles(start, stop, marks[worker], g.degree, g.out_ptr, g.out, *private[worker])

    run_chunks(work, bounds, threads, report.done)
    return _sum(private)


def _cliques(
    g: Oriented,
    bounds: NDArray[np.int64],
    threads: int,
    report: _Progress,
    room: int,
    t: Counts,
    spare: _Spare,
) -> list[Counts]:
    if not t.any():
        return [np.zeros_like(t), np.zeros_like(t)]
    kind = Plan.clique_kind(t)
    scratch = [(mark, *clique_scratch(g, room)) for mark in spare.per_node(threads)]
    private = spare.per_edge(threads, kind)

    def work(worker: int, start: int, stop: int) -> None:
        kernels.cliques(start, stop, *scratch[worker], g.out_ptr, g.out, t, *private[worker])

    run_chunks(work, bounds, threads, report.done)
    return _sum(private)


def clique_scratch(g: Oriented, room: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """What `kernels.cliques` works in: bitmaps, the triangles of one node, and a number per neighbour."""
    size = int(np.diff(g.out_ptr).max(initial=0))
    bits = np.empty(size * (size // 64 + 1) + 1, np.uint64)
    return bits, np.empty((room + 1, 3), np.uint32), np.empty(size + 1, np.uint64)


def _cycle_kind(g: Oriented) -> Any:
    return np.uint32 if _largest_product(g.degree, g.out_ptr, g.out) < _WORD else np.uint64


def _cycles(
    g: Oriented,
    bounds: NDArray[np.int64],
    threads: int,
    report: _Progress,
    in_start: NDArray[np.uint64],
    spare: _Spare,
) -> Counts:
    wedges, private = spare.per_node(threads), spare.per_edge(threads, _cycle_kind(g))
    lists = (in_start, g.out_ptr, g.out, g.in_ptr, g.in_node, g.in_edge)

    def work(worker: int, start: int, stop: int) -> None:
        kernels.cycles(start, stop, wedges[worker], *lists, *private[worker])

    run_chunks(work, bounds, threads, report.done)
    c_out, c_in = _sum(private)
    kernels.fold(c_in, g.in_edge, c_out)
    return c_out


@kernel
def _largest_product(degree: Any, out_ptr: Any, out: Any) -> Any:
    """No edge is on more 4-cycles than (d(u) − 1)(d(v) − 1)."""
    largest: Any = 0
    for u in range(len(degree)):
        if out_ptr[u + 1] > out_ptr[u]:  # lists ascend, so the last neighbour has the highest degree
            v = out[out_ptr[u + 1] - np.uint64(1)]
            largest = max(largest, (np.int64(degree[u]) - 1) * (np.int64(degree[v]) - 1))
    return largest


def _sum(private: list[list[Counts]]) -> list[Counts]:
    """Add the workers' accumulators into the first worker's."""
    total = private[0]
    for other in private[1:]:
        for mine, theirs in zip(total, other, strict=True):
            mine += theirs
    return total


def _bounds(work: NDArray[np.int64], parts: int) -> tuple[NDArray[np.int64], int]:
    """Cut the nodes into consecutive ranges of about equal work; also the whole of it."""
    nodes = len(work)
    ends = np.cumsum(work, out=work)
    total = int(ends[-1]) if nodes else 0
    cuts = np.searchsorted(ends, np.arange(1, parts) * (total / parts), side="left")
    return np.unique(np.concatenate([[0], cuts, [nodes]])), total


@kernel
def in_pair_order(values: Any, pair: Any) -> Any:
    """The numbers of the edges in the order of the graph's sorted pairs."""
    ordered = np.empty_like(values)
    for e in range(len(pair)):
        ordered[pair[e]] = values[e]
    return ordered


class _Progress:
    """Turns finished chunks of the three phases into one fraction of the work."""

    def __init__(self, callback: Callable[[float], object] | None) -> None:
        self._callback = callback
        self._shares: list[float] = []
        self._finished = 0

    def plan(self, work: list[int], lengths: list[int]) -> None:
        total = sum(work) or 1
        for steps, length in zip(work, lengths, strict=True):
            self._shares += [steps / total / max(1, length - 1)] * (length - 1)

    def done(self, _chunk: int) -> None:
        self._finished += 1
        if self._callback is not None:
            self._callback(min(1.0, sum(self._shares[: self._finished])))
