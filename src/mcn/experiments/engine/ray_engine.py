"""The engine "ray": the same units as tasks of a Ray cluster.

A graph with its motif counts is put into the object store once; Ray copies it once to each node, and a worker
process takes its own copy when it first meets the graph. Every machine of the cluster needs `mcn` installed.
Rows come back to this process, which alone writes the ledger.
"""

from __future__ import annotations

import copy
import logging
import os
import warnings
from typing import Any

from mcn._threads import available_threads
from mcn.baselines.registry import METHODS, Method
from mcn.experiments.engine.engines import Outcome, WorkerDied, attempt, sendable
from mcn.experiments.engine.source import Graph, install, is_loaded, load
from mcn.experiments.engine.unit import Unit

RETRIES = 3
"""How often a task is started again when its worker or its node dies."""


class RayTasks:
    """Units as tasks of one CPU each.

    Args:
        jobs: units at a time; by default one per CPU of the cluster.
        address: of a running cluster ("auto", "host:port", "ray://…"); None starts one on this machine, which
            ends with `close`. A Ray that this process has started itself is used as it is.
    """

    def __init__(self, jobs: int | None, address: str | None) -> None:
        self._ray = _import_ray()
        self._started = not self._ray.is_initialized()
        if self._started:
            _connect(self._ray, jobs, address)
        self.slots = jobs or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._task = self._ray.remote(num_cpus=1, max_retries=RETRIES)(_run)
        self._graphs: dict[tuple[Any, int], Any] = {}
        self._running: dict[Any, tuple[str, Unit]] = {}

    def submit(self, key: str, unit: Unit) -> None:
        """Start the task of a unit; its graph goes to the cluster when it is the first of that graph."""
        place = (unit.source, unit.source.draw(unit.seed))
        if place not in self._graphs:
            self._graphs[place] = self._ray.put(load(unit.source, unit.seed))
        own = METHODS[unit.method]
        # In a list the reference is handed on as it is: a worker that has the graph already does not read it.
        self._running[self._task.remote(unit, [self._graphs[place]], own)] = (key, unit)

    def wait(self, timeout: float) -> list[tuple[str, Outcome]]:
        """Rows of the tasks that have ended."""
        done, _ = self._ray.wait(list(self._running), timeout=timeout)
        finished = []
        for reference in done:
            key, unit = self._running.pop(reference)
            finished.append((key, self._outcome(reference, unit)))
        return finished

    def _outcome(self, reference: Any, unit: Unit) -> Outcome:
        try:
            outcome: Outcome = self._ray.get(reference)
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


def _run(unit: Unit, graph: list[Any], method: Method) -> Outcome:
    """The task itself, in a worker process of the cluster."""
    import ray
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # what there is to say about the graph, the driver has said
    if not is_loaded(unit.source, unit.seed):
        # A copy: what comes from the object store cannot be written to, and compiled kernels would tell.
        shared: Graph = ray.get(graph[0])
        own = Graph(shared.data.clone(), copy.deepcopy(shared.counts), shared.fingerprint)
        install(unit.source, unit.seed, own)
    METHODS.setdefault(unit.method, method)  # it may be registered in the driver only
    return sendable(attempt(unit))


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported home
    # Since 2.5x Ray warns, unless told, that it will leave the environment of tasks without GPUs alone.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations of Ray's own dependencies
            import ray
            import ray.exceptions
    except ImportError:
        raise ValueError("the engine 'ray' needs Ray: pip install 'mcn[search]'") from None
    return ray


def _connect(ray: Any, jobs: int | None, address: str | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address is None:
            cpus = jobs or available_threads()
            ray.init(address="local", num_cpus=cpus, include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0]
        raise OSError(f"no Ray cluster could be reached at {address or 'this machine'} ({first})") from error
