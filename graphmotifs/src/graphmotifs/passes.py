"""The passes of the enumeration over a graph, on the threads of this process.

A pass counts what each node of a range of ranks brings to the edges. Every worker has counters of its own,
which are summed at the end: integer sums do not depend on who counted what, so that the numbers are the same
bits at any number of threads, and a task that is lost with its machine is done again and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs import edge_kernels
from graphmotifs._jit import kernel
from graphmotifs._threads import available_threads, run_chunks
from graphmotifs.catalogue import CLIQUES, CYCLES, TRIANGLES
from graphmotifs.graph import SimpleGraph
from graphmotifs.oriented import Oriented, orient, orient_by_id

Progress = Callable[[float], object]
Counts = NDArray[Any]  # unsigned, 32 bits where the graph's degrees allow it
RunPass = Callable[[str, NDArray[np.int64], Any, Counts | None], list[Counts]]
"""Carries out a pass: its name, the ranges, the type of its counters, and t for the pass that needs it."""

SMALL = 50_000
"""Edges below which a second thread costs more than it brings."""
_CHUNKS = 48
_LITTLE = 2_000_000  # edges times longest out-list below which a second thread does not pay either
_BRIEF = 2**26  # and below which one thread whose progress nobody asks for needs no plan
_WORD = 2**32


@dataclass(frozen=True)
class Enumerated:
    """The five numbers of every edge that the kernels count, in the order of the graph's sorted pairs.

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


def cast_as_counted(numbers: Sequence[Counts]) -> list[Counts]:
    """Return the numbers t, s1, s2, k and c of a file in the types that counting gives them.

    A kernel is compiled for every mixture of types that it meets, which takes seconds; there are four.
    """
    small, pair = numbers[:2], numbers[2:4]
    if any(int(values.max(initial=0)) >= _WORD for values in small):
        raise ValueError("numbers of triangles beyond 32 bits, which no graph has")
    kind = np.result_type(*pair) if pair else np.uint32
    return [
        *(values.astype(np.uint32, copy=False) for values in small),
        *(values.astype(kind, copy=False) for values in pair),
        *numbers[4:],
    ]


def useful_threads(edges: int, wanted: int | None) -> int:
    """Return how many threads to use: those wanted, or all cores; but one where there are few edges."""
    return 1 if edges < SMALL else available_threads() if wanted is None else wanted


def enumerate_edges(
    graph: SimpleGraph,
    threads: int | None = None,
    progress: Progress | None = None,
    stage: int = CYCLES,
) -> Enumerated:
    """Count the five numbers per edge, or those of the stages up to `stage`, on threads of this process.

    The result does not depend on `threads`.
    """
    g, plan, run, threads = prepare_passes(graph, threads, progress, stage)
    return run_passes(g, stage, plan, run, threads)


def prepare_passes(
    graph: SimpleGraph, threads: int | None, progress: Progress | None, stage: int, directed: bool = False
) -> tuple[Oriented, Plan, RunPass, int]:
    """Orient a graph and plan the passes over it; also the number of threads that pay off."""
    if graph.num_edges >= 2**31:
        raise ValueError(f"{graph.num_edges:,} edges: at most 2**31 are supported")
    threads = useful_threads(graph.num_edges, threads)
    both = stage == CYCLES
    g = None if directed or stage == CLIQUES else orient_by_id(graph, threads, both=both)
    if g is None:
        g = orient(graph, threads, both=both, directed=directed)
    widest = int(np.diff(g.out_ptr).max(initial=0))
    most = _BRIEF if threads == 1 and progress is None else _LITTLE
    little = graph.num_edges < SMALL or graph.num_edges * widest < most
    if little or (threads == 1 and stage == TRIANGLES):
        # No pass takes more than twice that many steps: not worth planning, let alone sharing out.
        threads, whole = 1, np.array([0, graph.num_nodes])
        plan = Plan(whole, whole, widest * (widest - 1) // 2, (1, 1))
    else:
        plan = plan_passes(g, stage, _CHUNKS, threads)
    return g, plan, _ThreadPasses(g, plan, threads, PassProgress(progress, plan, stage)), threads


def run_passes(g: Oriented, stage: int, plan: Plan, run: RunPass, threads: int = 1) -> Enumerated:
    """Count the numbers of every edge by the passes up to a stage, one pass after the other."""

    def ordered(values: list[Counts]) -> list[Counts]:
        if not len(g.pair):
            return values
        # One block, of which the system makes large pages: a small one costs as much as a thousand steps.
        block = np.empty((len(values), len(g.pair)), values[0].dtype)
        steps = range(len(values) + 1)
        run_chunks(lambda _worker, i, _stop: in_pair_order(values[i], g.pair, block[i]), steps, threads)
        return list(block)

    if stage == TRIANGLES:
        numbers = run("triangles alone", plan.triangles, np.uint32, None)
        return Enumerated(*ordered(numbers))
    found = run("triangles", plan.triangles, np.uint32, None)
    most = int(found[0].max(initial=0))
    kind = np.uint32 if 2 * most * most < _WORD else np.uint64  # s2 ≤ 2·t·max t and k ≤ t²/2
    cliques = (
        run("cliques", plan.triangles, kind, found[0]) if most else [np.zeros_like(each) for each in found]
    )
    numbers = ordered(found)
    del found  # few are held twice
    numbers += ordered(cliques) if most else cliques
    del cliques
    if stage == CYCLES:
        (by_place,) = run("cycles", plan.cycles, np.uint32 if _cycles_fit_32_bits(g) else np.uint64, None)
        numbers.append(edge_kernels.fold(by_place, g))
    return Enumerated(*numbers)


def range_counter(
    what: str, g: Oriented, room: int, t: Counts | None, counters: list[Counts]
) -> Callable[[int, int], object]:
    """Return a function that adds to `counters` what a range of ranks brings to every edge in a pass.

    A pass over the triangles leaves t, or t and s1; "cliques" s2 and k; "cycles" c by places in the rows. The
    ranges that one such function is called for must ascend.
    """
    n = len(g.out_ptr) - 1
    mark = np.zeros(n, np.uint32)
    if what in ("triangles alone", "triangles by direction"):
        zero = np.uint64(0)
        whole = (g.out, zero, counters[0])
        ways = None if what == "triangles alone" else g.ways
        given: Any = (g.out_ptr, zero, np.uint64(n), whole, whole, ways)
        return lambda start, stop: edge_kernels.closed_triples(start, stop, mark, *given)
    if what == "triangles":
        return lambda start, stop: edge_kernels.triangles(start, stop, mark, g, *counters)
    if what == "cliques":
        size = int(np.diff(g.out_ptr).max(initial=0))
        bits = np.empty(size * (size // 64 + 1) + 1, np.uint64)
        scratch = (mark, bits, np.empty((room + 1, 3), np.uint32), np.empty(size + 1, np.uint64))
        return lambda start, stop: edge_kernels.cliques(start, stop, *scratch, g, t, *counters)
    return lambda start, stop: edge_kernels.cycles(start, stop, mark, g, *counters)


def new_counters(what: str, edges: int, kind: Any) -> NDArray[Any]:
    """Return the counters of a pass, all zero: one per edge, one in each of its two rows, or nine."""
    each = {"triangles": (2, 1), "cliques": (2, 1), "cycles": (1, 2), "triangles by direction": (1, 9)}
    arrays, times = each.get(what, (1, 1))
    return np.zeros((arrays, times * edges), kind)


class _ThreadPasses:
    """Carries out passes on threads.

    The first worker's counters become the result, so they are new each time. The other workers use theirs
    again: fresh memory costs a page fault for every 4 KiB, which does not scale.
    """

    def __init__(self, g: Oriented, plan: Plan, threads: int, progress: PassProgress) -> None:
        self._g, self._plan, self._threads, self._progress = g, plan, threads, progress
        self._used: dict[int, Counts] = {}

    def __call__(self, what: str, bounds: NDArray[np.int64], kind: Any, t: Counts | None) -> list[Counts]:
        counters = [self._counters(worker, what, kind) for worker in range(self._threads)]
        workers = [range_counter(what, self._g, self._plan.room, t, private) for private in counters]
        run_chunks(
            lambda worker, start, stop: workers[worker](start, stop),
            bounds,
            self._threads,
            lambda _chunk: self._progress.advance(),
        )
        for private in counters[1:]:
            add_counters(counters[0], private)
        return counters[0]

    def _counters(self, worker: int, what: str, kind: Any) -> list[Counts]:
        if worker == 0 or kind != np.uint32:
            return list(new_counters(what, len(self._g.out), kind))
        if worker not in self._used:
            self._used[worker] = new_counters(what, len(self._g.out), kind)
        again = self._used[worker].reshape(len(new_counters(what, 0, kind)), -1)
        again.fill(0)
        return list(again)


def add_counters(total: list[Counts], further: list[Counts]) -> None:
    """Add the counters of one worker to the total, array by array."""
    for mine, theirs in zip(total, further, strict=True):
        mine += theirs


@dataclass(frozen=True)
class Plan:
    """Ranges of ranks that take about equally many steps, for the passes over triangles and over 4-cycles."""

    triangles: NDArray[np.int64]
    cycles: NDArray[np.int64]
    room: int  # for the triangles of one node
    steps: tuple[int, int]  # of a pass over triangles, and of that over cycles


def plan_passes(g: Oriented, stage: int, parts: int, threads: int = 1) -> Plan:
    """Cut the ranks into about `parts` ranges of equal work."""
    nodes = len(g.out_ptr) - 1
    work, rooms = np.empty(nodes, np.int64), [0]
    cuts = [nodes * i // (4 * threads) for i in range(4 * threads + 1)] if threads > 1 else [0, nodes]

    def look_at_triangles(_worker: int, start: int, stop: int) -> None:
        rooms.append(int(edge_kernels.estimate_triangle_steps(start, stop, g, work)))

    run_chunks(look_at_triangles, cuts, threads)
    triangles, triangle_steps = _cut_equal_work(work, parts)
    if stage < CYCLES:
        return Plan(triangles, triangles, max(rooms), (triangle_steps, 0))
    run_chunks(
        lambda _worker, start, stop: edge_kernels.estimate_cycle_steps(start, stop, g, work), cuts, threads
    )
    cycles, cycle_steps = _cut_equal_work(work, parts)
    return Plan(triangles, cycles, max(rooms), (triangle_steps, 2 * cycle_steps))


def _cut_equal_work(work: NDArray[np.int64], parts: int) -> tuple[NDArray[np.int64], int]:
    """Cut the nodes into consecutive ranges of about equal work; return the cuts and the sum of the work."""
    nodes = len(work)
    ends = np.cumsum(work, out=work)
    total = int(ends[-1]) if nodes else 0
    cuts = np.searchsorted(ends, np.arange(1, parts) * (total / parts), side="left")
    return np.unique(np.concatenate([[0], cuts, [nodes]])), total


class PassProgress:
    """Reports finished ranges of up to three passes as one fraction of the whole work."""

    def __init__(self, callback: Progress | None, plan: Plan, stage: int) -> None:
        self._callback, self._finished = callback, 0
        over_triangles, over_cycles = (plan.triangles, plan.steps[0]), (plan.cycles, plan.steps[1])
        passes = [over_triangles, over_triangles, over_cycles][:stage]
        total = sum(steps for _, steps in passes) or 1
        self._shares = [
            share
            for bounds, steps in passes
            for share in [steps / total / (len(bounds) - 1)] * (len(bounds) - 1)
        ]

    def advance(self, ranges: int = 1) -> None:
        """Report that further ranges are done."""
        self._finished += ranges
        if self._callback is not None:
            whole = self._finished == len(self._shares)
            self._callback(1.0 if whole else sum(self._shares[: self._finished]))


def _cycles_fit_32_bits(g: Oriented) -> bool:
    """Whether 32 bits hold the 4-cycles of every edge (u, v): there are at most (d(u) − 1)(d(v) − 1)."""
    if int(g.degree.max(initial=0)) ** 2 < _WORD:
        return True
    if not len(g.pair):
        return False
    others = g.degree.astype(np.int64) - 1
    low = np.flatnonzero(np.diff(g.out_ptr))
    high = g.out[g.out_ptr[low + 1] - 1]  # lists of ranks ascend: the last one has the highest degree
    return int((others[low] * others[high]).max()) < _WORD


@kernel
def in_pair_order(values: Any, pair: Any, ordered: Any) -> None:
    """Put the numbers of the edges into the order of the graph's sorted pairs."""
    for e in range(len(pair)):
        ordered[pair[e]] = values[e]
