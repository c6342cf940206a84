"""The passes of the enumeration, shared out between threads or the machines of a Ray cluster.

A pass counts what each node of a range of ranks brings to the edges. Every worker has counters of its own,
which are summed at the end: integer sums do not depend on who counted what, so that the numbers are the same
bits at any number of threads, and a task that is lost with its machine is done again and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn._ray import RETRIES, ClusterError, connect, import_ray
from mcn._threads import available_threads, run_chunks
from mcn.data.csr_graph import SimpleGraph
from mcn.motifs import kernels
from mcn.motifs.catalogue import CLIQUES, CYCLES, TRIANGLES
from mcn.motifs.orient import Oriented, as_numbered, orient
from mcn.store import GraphStore

Progress = Callable[[float], object]
Counts = NDArray[Any]  # unsigned, 32 bits where the graph's degrees allow it
RunPass = Callable[[str, NDArray[np.int64], Any, Counts | None], list[Counts]]
"""Carries out a pass: its name, the ranges, the type of its counters, and t for the pass that needs it."""

SMALL = 50_000
"""Edges below which a second thread costs more than it brings."""
TASKS = 6
"""Tasks per slot of a cluster and pass, so that a lost or a slow one costs little."""
_CHUNKS = 48
_LITTLE = 2_000_000  # edges times longest out-list below which a second thread does not pay either
_BRIEF = 2**26  # and below which one thread whose progress nobody asks for needs no plan
_WORD = 2**32


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


def worth_threads(edges: int, wanted: int | None) -> int:
    """Return how many threads to use: those wanted, or all cores; one for few edges."""
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
    g, plan, run, threads = on_threads(graph, threads, progress, stage)
    return _enumerate(g, stage, plan, run, threads)


def on_threads(
    graph: SimpleGraph, threads: int | None, progress: Progress | None, stage: int, directed: bool = False
) -> tuple[Oriented, Plan, RunPass, int]:
    """Orient a graph and plan the passes over it; also the number of threads that pay off."""
    if graph.num_edges >= 2**31:
        raise ValueError(f"{graph.num_edges:,} edges: at most 2**31 are supported")
    threads = worth_threads(graph.num_edges, threads)
    both = stage == CYCLES
    g = None if directed or stage == CLIQUES else as_numbered(graph, threads, both=both)
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
        plan = plan_work(g, stage, _CHUNKS, threads)
    return g, plan, _ThreadPasses(g, plan, threads, _Progress(progress, plan, stage)), threads


def _enumerate(g: Oriented, stage: int, plan: Plan, run: RunPass, threads: int = 1) -> Enumerated:
    """Carry out the passes up to a stage, one after the other."""

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
        (by_place,) = run("cycles", plan.cycles, np.uint32 if _cycles_fit(g) else np.uint64, None)
        numbers.append(kernels.fold(by_place, g))
    return Enumerated(*numbers)


def range_counter(
    what: str, g: Oriented, room: int, t: Counts | None, counters: list[Counts]
) -> Callable[[int, int], object]:
    """Return what adds to `counters` whatever a range of ranks brings to every edge in a pass.

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
        return lambda start, stop: kernels.closed_triples(start, stop, mark, *given)
    if what == "triangles":
        return lambda start, stop: kernels.triangles(start, stop, mark, g, *counters)
    if what == "cliques":
        size = int(np.diff(g.out_ptr).max(initial=0))
        bits = np.empty(size * (size // 64 + 1) + 1, np.uint64)
        scratch = (mark, bits, np.empty((room + 1, 3), np.uint32), np.empty(size + 1, np.uint64))
        return lambda start, stop: kernels.cliques(start, stop, *scratch, g, t, *counters)
    return lambda start, stop: kernels.cycles(start, stop, mark, g, *counters)


def _counters(what: str, edges: int, kind: Any) -> NDArray[Any]:
    """Return a pass's counters, all zero, a row each: for every edge one, two places, or nine directions."""
    each = {"triangles": (2, 1), "cliques": (2, 1), "cycles": (1, 2), "triangles by direction": (1, 9)}
    arrays, times = each.get(what, (1, 1))
    return np.zeros((arrays, times * edges), kind)


class _ThreadPasses:
    """Carries out passes on threads.

    The first worker's counters become the result, so they are new each time. The other workers use theirs
    again: fresh memory costs a page fault for every 4 KiB, which does not scale.
    """

    def __init__(self, g: Oriented, plan: Plan, threads: int, progress: _Progress) -> None:
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
            _add(counters[0], private)
        return counters[0]

    def _counters(self, worker: int, what: str, kind: Any) -> list[Counts]:
        if worker == 0 or kind != np.uint32:
            return list(_counters(what, len(self._g.out), kind))
        if worker not in self._used:
            self._used[worker] = _counters(what, len(self._g.out), kind)
        again = self._used[worker].reshape(len(_counters(what, 0, kind)), -1)
        again.fill(0)
        return list(again)


def _add(total: list[Counts], further: list[Counts]) -> None:
    for mine, theirs in zip(total, further, strict=True):
        mine += theirs


@dataclass(frozen=True)
class Plan:
    """Ranges of ranks of about equal work, for the passes over triangles and over cycles."""

    triangles: NDArray[np.int64]
    cycles: NDArray[np.int64]
    room: int  # for the triangles of one node
    steps: tuple[int, int]  # of a pass over triangles, and of that over cycles


def plan_work(g: Oriented, stage: int, parts: int, threads: int = 1) -> Plan:
    """Cut the ranks into about `parts` ranges of equal work."""
    nodes = len(g.out_ptr) - 1
    work, rooms = np.empty(nodes, np.int64), [0]
    cuts = [nodes * i // (4 * threads) for i in range(4 * threads + 1)] if threads > 1 else [0, nodes]

    def look_at_triangles(_worker: int, start: int, stop: int) -> None:
        rooms.append(int(kernels.triangle_work(start, stop, g, work)))

    run_chunks(look_at_triangles, cuts, threads)
    triangles, triangle_steps = _bounds(work, parts)
    if stage < CYCLES:
        return Plan(triangles, triangles, max(rooms), (triangle_steps, 0))
    run_chunks(lambda _worker, start, stop: kernels.cycle_work(start, stop, g, work), cuts, threads)
    cycles, cycle_steps = _bounds(work, parts)
    return Plan(triangles, cycles, max(rooms), (triangle_steps, 2 * cycle_steps))


def _bounds(work: NDArray[np.int64], parts: int) -> tuple[NDArray[np.int64], int]:
    """Cut the nodes into consecutive ranges of about equal work; also the whole of it."""
    nodes = len(work)
    ends = np.cumsum(work, out=work)
    total = int(ends[-1]) if nodes else 0
    cuts = np.searchsorted(ends, np.arange(1, parts) * (total / parts), side="left")
    return np.unique(np.concatenate([[0], cuts, [nodes]])), total


class _Progress:
    """Turns finished ranges of up to three passes into one fraction of the work."""

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
        """Report that so many further ranges are done."""
        self._finished += ranges
        if self._callback is not None:
            whole = self._finished == len(self._shares)
            self._callback(1.0 if whole else sum(self._shares[: self._finished]))


def _cycles_fit(g: Oriented) -> bool:
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


def enumerate_on_ray(
    graph: SimpleGraph,
    stage: int,
    *,
    store: GraphStore | None = None,
    address: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Enumerated:
    """Count the numbers of the stages up to `stage` on a cluster, bit for bit those of `enumerate_edges`.

    A worker reads the graph once: from the store's folder, which every machine must see under the same path,
    or from what is shipped to its machine.

    Without an address a cluster is started on this machine, which ends with the count. `jobs` are tasks at a
    time; as many as the cluster has CPUs if not given. A `ClusterError` says why a task failed for good.
    """
    ray = import_ray()
    started = not ray.is_initialized()
    if started:
        connect(ray, jobs, address)
    try:
        slots = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        g = orient(graph, both=stage == CYCLES)
        plan = plan_work(g, stage, TASKS * slots)
        if store is not None:
            source: Any = (store.entries["indices"].sha256, str(store.path.resolve()), None)
        else:
            key = f"{id(graph)}-{np.random.default_rng().integers(2**62)}"
            source = (key, None, [ray.put((graph.num_nodes, graph.indptr, graph.indices))])
        passes = _RayPasses(
            ray, source, len(g.out), plan.room, slots, stage, _Progress(progress, plan, stage)
        )
        return _enumerate(g, stage, plan, passes)
    finally:
        if started:
            ray.shutdown()


class _RayPasses:
    """Carries out passes as tasks of a cluster, a few more than slots at a time."""

    def __init__(
        self, ray: Any, source: Any, edges: int, room: int, slots: int, stage: int, progress: _Progress
    ) -> None:
        self._ray, self._source, self._edges, self._room = ray, source, edges, room
        self._slots, self._both, self._progress = slots, stage == CYCLES, progress
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES)(count_range)

    def __call__(self, what: str, bounds: NDArray[np.int64], kind: Any, t: Counts | None) -> list[Counts]:
        total = list(_counters(what, self._edges, kind))
        shipped = None if t is None else self._ray.put(t)
        waiting = list(pairwise(bounds.tolist()))
        running: list[Any] = []
        while waiting or running:
            while waiting and len(running) < self._slots + 2:
                given = (what, self._source, self._both, *waiting.pop(0), np.dtype(kind).str, self._room)
                running.append(self._task.remote(*given, shipped))
            done, running = self._ray.wait(running)
            for reference in done:
                _add(total, self._outcome(reference))
            self._progress.advance(len(done))
        return total

    def _outcome(self, reference: Any) -> list[Counts]:
        try:
            counters: list[Counts] = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = repr(error.cause) if getattr(error, "cause", None) is not None else str(error)
            raise ClusterError(
                f"a counting task failed on the cluster ({cause.strip().splitlines()[0][:300]}); "
                "every machine needs mcn installed, and sees a packed graph under the same path"
            ) from None
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"Ray gave up on a counting task after {RETRIES + 1} tries ({type(error).__name__}); "
                "not enough memory? Try fewer jobs"
            ) from None
        return counters


_graphs: dict[str, Oriented] = {}  # of a worker process: the graph it counts in


def count_range(
    what: str, source: Any, both: bool, start: int, stop: int, kind: str, room: int, t: Any
) -> list[Counts]:
    """The task itself, in a worker process: what the ranks in [start, stop) bring to every edge in a pass."""
    g = _graph_of_worker(source, both)
    counters = list(_counters(what, len(g.out), np.dtype(kind)))
    t = None if t is None else np.array(t)  # a copy: what comes from the object store cannot be written to
    range_counter(what, g, room, t, counters)(start, stop)
    return counters


def _graph_of_worker(source: Any, both: bool) -> Oriented:
    key, path, shipped = source
    if key not in _graphs:
        _graphs.clear()
        if path is not None:
            from mcn.motifs.count import graph_of_store

            store = GraphStore.open(path)
            if store.entries["indices"].sha256 != key:
                raise ValueError(f"{path}: another graph than the one to be counted")
            graph = graph_of_store(store)
        else:
            import ray

            n, indptr, indices = ray.get(shipped[0])
            graph = SimpleGraph(n, np.array(indptr), np.array(indices))
        _graphs[key] = orient(graph, both=both)
    return _graphs[key]
