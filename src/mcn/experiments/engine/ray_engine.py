"""The engine "ray": the same units as tasks of a Ray cluster.

A graph with its motif counts is put into the object store once; Ray copies it once to each node, and a worker
process takes its own copy when it first meets the graph. Every machine of the cluster needs `mcn` installed.
Rows come back to this process, which alone writes the ledger.
"""

from __future__ import annotations

import copy
from typing import Any

from mcn._ray import RETRIES, connect, import_ray
from mcn.baselines import METHODS, Method
from mcn.experiments.engine.source import Graph, install, is_loaded, load
from mcn.experiments.engine.unit import Unit
from mcn.experiments.engine.workers import RowOrError, WorkerDied, attempt_elsewhere


class RayTasks:
    """Units as tasks of one CPU each, `jobs` at a time, by default one per CPU of the cluster.

    Without an `address` ("auto", "host:port", "ray://…") one is started on this machine, which ends with
    `close`. A Ray that this process has started itself is used as it is.
    """

    def __init__(self, jobs: int | None, address: str | None) -> None:
        self._ray = import_ray("search")
        self._started = not self._ray.is_initialized()
        if self._started:
            connect(self._ray, jobs, address)
        self.slots = jobs or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._task = self._ray.remote(num_cpus=1, max_retries=RETRIES)(_run)
        self._graphs: dict[tuple[Any, int], Any] = {}
        self._running: dict[Any, tuple[str, Unit]] = {}

    def submit(self, key: str, unit: Unit) -> None:
        """Start the task of a unit; its graph goes to the cluster when it is the first of that graph."""
        place = (unit.source, unit.source.draw(unit.seed))
        if place not in self._graphs:
            self._graphs[place] = self._ray.put(load(unit.source, unit.seed))
        # In a list the reference is handed on as it is: a worker that has the graph already does not read it.
        reference = self._task.remote(unit, [self._graphs[place]], METHODS[unit.method])
        self._running[reference] = (key, unit)

    def wait(self, timeout: float) -> list[tuple[str, RowOrError]]:
        """Rows of the tasks that have ended."""
        done, _ = self._ray.wait(list(self._running), timeout=timeout)
        finished = []
        for reference in done:
            key, unit = self._running.pop(reference)
            finished.append((key, self._outcome(reference, unit)))
        return finished

    def _outcome(self, reference: Any, unit: Unit) -> RowOrError:
        try:
            outcome: RowOrError = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:  # before the unit began: an import, the graph
            return RuntimeError(f"a task failed on the cluster ({error.cause!r}); is mcn installed there?")
        except self._ray.exceptions.RayError as error:
            return WorkerDied(
                f"{unit.method} on {unit.source.title}, seed {unit.seed}: Ray gave up after {RETRIES + 1} "
                f"tries ({type(error).__name__}); not enough memory? Try fewer jobs"
            )
        return outcome

    def close(self) -> None:
        """Cancel what is running; end the cluster if it was started here, else leave it."""
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._running.clear()
        self._graphs.clear()
        if self._started:
            self._ray.shutdown()


def _run(unit: Unit, graph: list[Any], method: Method) -> RowOrError:
    """The task itself, in a worker process of the cluster."""
    import ray

    if not is_loaded(unit.source, unit.seed):
        # A copy: what comes from the object store cannot be written to, and compiled kernels would tell.
        shared: Graph = ray.get(graph[0])
        copied = Graph(shared.data.clone(), copy.deepcopy(shared.counts), shared.fingerprint)
        install(unit.source, unit.seed, copied)
    return attempt_elsewhere(unit, method)
