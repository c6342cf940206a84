"""Sharing the enumeration out between threads, within a small and known amount of memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn._threads import available_threads, run_chunks
from mcn.data.simple import SimpleGraph
from mcn.motifs import kernels
from mcn.motifs.orient import Oriented, orient

Counts = NDArray[Any]  # unsigned, 32 bits where the graph's degrees allow it

SMALL = 50_000
"""Edges below which a second thread costs more than it brings."""
_CHUNKS = 48
_LITTLE = 2_000_000  # edges times longest out-list below which that is true as well
_WORD = 2**32


@dataclass(frozen=True)
class Enumerated:
    """The five numbers of every edge, in the order of the graph's sorted pairs (see `kernels`)."""

    t: Counts
    s1: Counts
    s2: Counts
    k: Counts
    c: Counts


def enumerate_edges(
    graph: SimpleGraph, threads: int | None = None, progress: Callable[[float], object] | None = None
) -> Enumerated:
    """Count the five numbers per edge. The result does not depend on `threads`."""
    if graph.num_edges >= 2**31:
        raise ValueError(f"{graph.num_edges:,} edges: at most 2**31 are supported")
    if graph.num_edges < SMALL:
        threads = 1
    elif threads is None:
        threads = available_threads()
    g = orient(graph, threads)
    report = _Progress(progress)
    in_start = kernels.skip_leaves(g.degree, g.in_ptr, g.in_node)
    widest = int(np.diff(g.out_ptr).max(initial=0))
    if graph.num_edges < SMALL or graph.num_edges * widest < _LITTLE:
        # No phase takes more than twice that many steps: not worth planning, let alone sharing out.
        threads, bounds, room = 1, np.array([0, graph.num_nodes]), widest * (widest - 1) // 2
        cycle_bounds, work = bounds, [1, 1, 1]
    else:
        bounds, steps, room = _triangle_plan(g, threads)
        cycle_bounds, cycle_steps = _cycle_plan(g, threads, in_start)
        work = [steps, steps, 2 * cycle_steps]
    report.plan(work, [len(bounds), len(bounds), len(cycle_bounds)])

    spare = _Spare(len(g.degree), len(g.out))
    found = _triangles(g, bounds, threads, report, spare)
    found += _cliques(g, bounds, threads, report, room, found[0], spare)
    found += [_cycles(g, cycle_bounds, threads, report, in_start, spare)]

    def reorder(_worker: int, i: int, _stop: int) -> None:  # one each at a time: few are held twice
        found[i] = _in_pair_order(found[i], g.pair)

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


def _triangle_plan(g: Oriented, threads: int) -> tuple[NDArray[np.int64], int, int]:
    """Ranges of equal work for the triangles, the whole of it, and room for one node's triangles."""
    work = np.empty(len(g.degree), np.int64)
    rooms = [0]

    def plan(_worker: int, start: int, stop: int) -> None:
        rooms.append(int(kernels.triangle_work(start, stop, g.out_ptr, g.out, work)))

    run_chunks(plan, _even(len(work), threads), threads)
    return *_bounds(work), max(rooms)


def _cycle_plan(g: Oriented, threads: int, in_start: NDArray[np.uint64]) -> tuple[NDArray[np.int64], int]:
    """Ranges of equal work for the cycles, and the whole of it."""
    work = np.empty(len(g.degree), np.int64)
    lists = (in_start, g.out_ptr, g.in_ptr, g.in_node, g.in_edge)

    def plan(_worker: int, start: int, stop: int) -> None:
        kernels.cycle_work(start, stop, *lists, work)

    run_chunks(plan, _even(len(work), threads), threads)
    return _bounds(work)


def _even(count: int, threads: int) -> list[int]:
    parts = 1 if threads == 1 else 4 * threads
    return [count * i // parts for i in range(parts + 1)]


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
    most = int(t.max(initial=0))
    if most == 0:
        return [np.zeros_like(t), np.zeros_like(t)]
    kind = np.uint32 if 2 * most * most < _WORD else np.uint64  # s2 ≤ 2·t·max t and k ≤ t²/2
    size = int(np.diff(g.out_ptr).max(initial=0))
    scratch = [
        (
            mark,
            np.empty(size * (size // 64 + 1) + 1, np.uint64),
            np.empty((room + 1, 3), np.uint32),
            np.empty(size + 1, np.uint64),
        )
        for mark in spare.per_node(threads)
    ]
    private = spare.per_edge(threads, kind)

    def work(worker: int, start: int, stop: int) -> None:
        kernels.cliques(start, stop, *scratch[worker], g.out_ptr, g.out, t, *private[worker])

    run_chunks(work, bounds, threads, report.done)
    return _sum(private)


def _cycles(
    g: Oriented,
    bounds: NDArray[np.int64],
    threads: int,
    report: _Progress,
    in_start: NDArray[np.uint64],
    spare: _Spare,
) -> Counts:
    kind = np.uint32 if _largest_product(g.degree, g.out_ptr, g.out) < _WORD else np.uint64
    wedges, private = spare.per_node(threads), spare.per_edge(threads, kind)
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


def _bounds(work: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Cut the nodes into consecutive ranges of about equal work; also the whole of it."""
    nodes = len(work)
    ends = np.cumsum(work, out=work)
    total = int(ends[-1]) if nodes else 0
    cuts = np.searchsorted(ends, np.arange(1, _CHUNKS) * (total / _CHUNKS), side="left")
    return np.unique(np.concatenate([[0], cuts, [nodes]])), total


@kernel
def _in_pair_order(values: Any, pair: Any) -> Any:
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
