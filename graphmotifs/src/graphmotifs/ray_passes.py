"""The passes of the enumeration as tasks of a Ray cluster."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._ray import RETRIES, ClusterError, connect, import_ray
from graphmotifs.catalogue import CYCLES
from graphmotifs.graph import SimpleGraph
from graphmotifs.graph_rows import GraphRows
from graphmotifs.oriented import Oriented, orient
from graphmotifs.passes import (
    Counts,
    Enumerated,
    PassProgress,
    Progress,
    add_counters,
    new_counters,
    plan_passes,
    range_counter,
    run_passes,
)

TASKS = 6
"""Tasks per slot of a cluster and pass, so that a lost or a slow one costs little."""


def enumerate_on_ray(
    graph: SimpleGraph,
    stage: int,
    *,
    rows: GraphRows | None = None,
    address: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Enumerated:
    """Count the numbers of the stages up to `stage` on a cluster, bit for bit those of `enumerate_edges`.

    A worker reads the graph once, from what is shipped to its machine: the edges themselves, or `rows`, of
    which only the paths are shipped if that is how they are pickled.

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
        plan = plan_passes(g, stage, TASKS * slots)
        shipped = (graph.num_nodes, graph.indptr, graph.indices) if rows is None else rows
        # In a list, a reference is handed to a task as it is; every count has a key of its own.
        source = (f"{id(graph)}-{np.random.default_rng().integers(2**62)}", [ray.put(shipped)])
        passes = _RayPasses(
            ray, source, len(g.out), plan.room, slots, stage, PassProgress(progress, plan, stage)
        )
        return run_passes(g, stage, plan, passes)
    finally:
        if started:
            ray.shutdown()


class _RayPasses:
    """Carries out passes as tasks of a cluster, a few more than slots at a time."""

    def __init__(
        self, ray: Any, source: Any, edges: int, room: int, slots: int, stage: int, progress: PassProgress
    ) -> None:
        self._ray, self._source, self._edges, self._room = ray, source, edges, room
        self._slots, self._both, self._progress = slots, stage == CYCLES, progress
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES)(count_range)

    def __call__(self, what: str, bounds: NDArray[np.int64], kind: Any, t: Counts | None) -> list[Counts]:
        total = list(new_counters(what, self._edges, kind))
        shipped = None if t is None else self._ray.put(t)
        waiting = list(pairwise(bounds.tolist()))
        running: list[Any] = []
        while waiting or running:
            while waiting and len(running) < self._slots + 2:
                given = (what, self._source, self._both, *waiting.pop(0), np.dtype(kind).str, self._room)
                running.append(self._task.remote(*given, shipped))
            done, running = self._ray.wait(running)
            for reference in done:
                add_counters(total, self._outcome(reference))
            self._progress.advance(len(done))
        return total

    def _outcome(self, reference: Any) -> list[Counts]:
        try:
            counters: list[Counts] = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = repr(error.cause) if getattr(error, "cause", None) is not None else str(error)
            raise ClusterError(
                f"a counting task failed on the cluster ({cause.strip().splitlines()[0][:300]}); "
                "every machine needs graphmotifs installed, and sees a graph on disk under the same path"
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
    counters = list(new_counters(what, len(g.out), np.dtype(kind)))
    t = None if t is None else np.array(t)  # a copy: what comes from the object store cannot be written to
    range_counter(what, g, room, t, counters)(start, stop)
    return counters


def _graph_of_worker(source: Any, both: bool) -> Oriented:
    key, (reference,) = source
    if key not in _graphs:
        import ray

        shipped = ray.get(reference)
        _graphs.clear()
        if isinstance(shipped, GraphRows):
            graph = shipped.in_memory()
        else:
            n, indptr, indices = shipped
            graph = SimpleGraph(n, np.array(indptr), np.array(indices))
        _graphs[key] = orient(graph, both=both)
    return _graphs[key]
