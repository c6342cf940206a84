"""The enumeration on a Ray cluster: ranges of ranked nodes as tasks, whose numbers are summed here.

A task counts what the nodes of its range bring, with counters of its own, exactly as a thread does (see
`enumerate`); integer sums do not depend on who counted what, so a task that is lost with its worker or its
machine is done again and changes nothing. A worker reads the graph once: from the store's folder, which every
machine must see under the same path, or from what is shipped to its machine.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._ray import RETRIES, ClusterError, connect, import_ray
from mcn.data.csr_graph import SimpleGraph
from mcn.motifs import kernels
from mcn.motifs.enumerate import (
    CYCLES,
    TRIANGLES,
    Counts,
    Enumerated,
    clique_scratch,
    in_pair_order,
    plan_work,
)
from mcn.motifs.orient import Oriented, orient
from mcn.store import GraphStore

UNITS = 6
"""Tasks per slot of the cluster and stage, so that a lost or a slow one costs little."""
_graphs: dict[str, Oriented] = {}  # of a worker process: the graph it counts in


def enumerate_on_ray(
    graph: SimpleGraph,
    stage: int,
    *,
    store: GraphStore | None = None,
    address: str | None = None,
    jobs: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Enumerated:
    """Count the numbers of the stages up to `stage`, bit for bit those of `enumerate_edges`.

    Args:
        graph: the graph.
        stage: how far to go.
        store: where the workers read it; shipped to them if not given.
        address: of a running cluster; None starts one on this machine, which ends with the count.
        jobs: tasks at a time; as many as the cluster has CPUs if not given.
        progress: called with the finished fraction now and then.

    Raises:
        ValueError: Ray is not installed.
        OSError: no cluster at this address.
        ClusterError: a task failed for good; says why.
    """
    ray = import_ray()
    started = not ray.is_initialized()
    if started:
        connect(ray, jobs, address)
    try:
        return _Counting(ray, graph, stage, store, jobs, progress).result()
    finally:
        if started:
            ray.shutdown()


class _Counting:
    def __init__(
        self,
        ray: Any,
        graph: SimpleGraph,
        stage: int,
        store: GraphStore | None,
        jobs: int | None,
        progress: Callable[[float], object] | None,
    ) -> None:
        self._ray, self._stage, self._progress = ray, stage, progress
        self._slots = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES)(count_range)
        self._g = orient(graph, both=stage == CYCLES)
        self._plan = plan_work(self._g, stage, UNITS * self._slots)
        if store is not None:
            self._source: Any = (store.entries["indices"].sha256, str(store.path.resolve()), None)
        else:
            key = f"{id(graph)}-{np.random.default_rng().integers(2**62)}"
            self._source = (key, None, [ray.put((graph.num_nodes, graph.indptr, graph.indices))])
        self._finished = 0

    def result(self) -> Enumerated:
        plan, m = self._plan, len(self._g.out)
        if self._stage == TRIANGLES:
            found = self._sum("t", plan.triangles, [np.zeros(m, np.uint32)], None)
        else:
            found = self._sum("t s1", plan.triangles, [np.zeros(m, np.uint32) for _ in "ab"], None)
            kind = plan.clique_kind(found[0])
            t = self._ray.put(found[0])
            found += self._sum("s2 k", plan.triangles, [np.zeros(m, kind) for _ in "ab"], t)
        if self._stage == CYCLES:
            both = self._sum("c", plan.cycles, [np.zeros(m, plan.cycle_kind) for _ in "ab"], None)
            kernels.fold(both[1], self._g.in_edge, both[0])
            found.append(both[0])
        return Enumerated(*(in_pair_order(each, self._g.pair) for each in found))

    def _sum(self, what: str, bounds: NDArray[np.int64], total: list[Counts], t: Any) -> list[Counts]:
        """Carry out the ranges of a stage, a few more than slots at a time, and add up what they bring."""
        waiting = list(pairwise(bounds.tolist()))
        units = len(waiting)
        running: list[Any] = []
        while waiting or running:
            while waiting and len(running) < self._slots + 2:
                start, stop = waiting.pop(0)
                given = (what, self._source, start, stop, total[0].dtype.str, self._plan.room, t)
                running.append(self._task.remote(*given, self._stage))
            done, running = self._ray.wait(running)
            for reference in done:
                for mine, theirs in zip(total, self._outcome(reference), strict=True):
                    mine += theirs
            self._finished += len(done)
            if self._progress is not None:
                stages = {TRIANGLES: 1, CYCLES: 3}.get(self._stage, 2)
                self._progress(min(1.0, self._finished / (stages * units)))
        return total

    def _outcome(self, reference: Any) -> list[Counts]:
        try:
            found: list[Counts] = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise ClusterError(
                f"a counting task failed on the cluster ({brief_cause(error)}); every machine needs mcn "
                "installed, and sees a packed graph under the same path"
            ) from None
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"Ray gave up on a counting task after {RETRIES + 1} tries ({type(error).__name__}); "
                "not enough memory? Try fewer jobs"
            ) from None
        return found


def brief_cause(error: Any) -> str:
    """The first line of what a task raised."""
    text = repr(error.cause) if getattr(error, "cause", None) is not None else str(error)
    return text.strip().splitlines()[0][:300]


def count_range(
    what: str, source: Any, start: int, stop: int, kind: str, room: int, t: Any, stage: int
) -> list[Counts]:
    """The task itself, in a worker process: what the ranks in [start, stop) bring to every edge."""
    g = _graph(source, stage)
    m, n = len(g.out), len(g.degree)
    found = [np.zeros(m, np.dtype(kind)) for _ in range(1 if what == "t" else 2)]
    mark = np.zeros(n, np.uint32)
    if what == "t":
        zero, last = np.uint64(0), np.uint64(n)
        kernels.closed_triples(
            start, stop, mark, g.out_ptr, g.out, zero, found[0], zero, last, g.out, zero, found[0]
        )
    elif what == "t s1":
        kernels.triangles(start, stop, mark, g.degree, g.out_ptr, g.out, *found)
    elif what == "s2 k":
        own = np.array(t)  # a copy: what comes from the object store cannot be written to
        given: Any = (mark, *clique_scratch(g, room), g.out_ptr, g.out, own, *found)
        kernels.cliques(start, stop, *given)
    else:
        in_start = kernels.skip_leaves(g.degree, g.in_ptr, g.in_node)
        lists = (in_start, g.out_ptr, g.out, g.in_ptr, g.in_node, g.in_edge)
        kernels.cycles(start, stop, mark, *lists, *found)
    return found


def _graph(source: Any, stage: int) -> Oriented:
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
        _graphs[key] = orient(graph, both=stage == CYCLES)
    return _graphs[key]
