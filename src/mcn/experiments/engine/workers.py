"""What carries out units: this process; worker processes of one unit each, replaced when they die; or Ray.

`Engine` is the interface that the runner drives.
"""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias

import torch

from graphmotifs._messages import one_of
from graphmotifs._ray import RETRIES, connect, import_ray
from graphmotifs._threads import available_threads
from mcn.experiments.engine.methods import METHODS, Method
from mcn.experiments.engine.source import Graph, install, is_loaded, load
from mcn.experiments.engine.unit import Unit, run_unit

ENGINES = ("local", "ray")
TRIES = 2
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Set to 1 in the environment of a worker: they share the cores among themselves."""
RowOrError = dict[str, Any] | Exception
"""The row of a finished unit, or what it raised."""
Engine: TypeAlias = "InProcess | LocalWorkers | RayTasks"
"""Carries out up to `slots` units at a time. `submit` starts one, if fewer are under way; `wait` gives those
that have finished since the last call, and waits some seconds for one; `close` ends all at once."""


class WorkerDied(RuntimeError):
    """A worker process ended without a result, twice for the same unit."""


@contextmanager
def open_engine(name: str, jobs: int | None = None, address: str | None = None) -> Iterator[Engine]:
    """The engine "local" or "ray", for one or several calls of `run_units`; all of it ends with the block.

    Args:
        jobs: units at a time; by default as many as this machine, or the cluster, has cores. With "local" and
            1 they run in this process.
        address: of a Ray cluster; None starts one on this machine.
    """
    check_engine(name, jobs, address)
    slots = available_threads() if jobs is None else jobs
    engine: Engine
    if name == "ray":
        engine = RayTasks(jobs, address)
    elif slots == 1:
        engine = InProcess()
    else:
        engine = LocalWorkers(slots)
    try:
        yield engine
    finally:
        engine.close()


def check_engine(name: str, jobs: int | None = None, address: str | None = None) -> None:
    """Refuse what `open_engine` cannot open, without opening it."""
    one_of("engine", name, ENGINES)
    if name == "ray":
        import_ray("mcn[search]")
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise ValueError(f"jobs must be an integer of at least 1, got {jobs!r}")
    if address is not None and name != "ray":
        raise ValueError(f"address {address!r} is of a Ray cluster; it needs engine='ray', got {name!r}")


def attempt(unit: Unit) -> RowOrError:
    """The row of a unit, or the exception it raised."""
    try:
        return run_unit(unit)
    except Exception as error:  # noqa: BLE001 - handed to the runner, which raises it
        if isinstance(error.__cause__, KeyboardInterrupt):  # numba's kernels wrap it in a SystemError
            raise KeyboardInterrupt from None
        return error


def attempt_elsewhere(unit: Unit, method: Method | None) -> RowOrError:
    """Do `attempt` in a worker: one thread, no warnings, and a method that only the parent may know."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # what there is to say about the graph, the parent has said
    if method is not None:
        METHODS.setdefault(unit.method, method)
    outcome = attempt(unit)
    try:
        pickle.loads(pickle.dumps(outcome))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - any exception type may refuse
        return RuntimeError(f"{type(outcome).__name__}: {outcome}")
    return outcome


class InProcess:
    """Runs one unit at a time, here, with all threads."""

    slots = 1

    def __init__(self) -> None:
        self._submitted: list[tuple[str, Unit]] = []

    def submit(self, key: str, unit: Unit) -> None:
        """Take the unit."""
        self._submitted.append((key, unit))

    def wait(self, timeout: float) -> list[tuple[str, RowOrError]]:
        """Run it."""
        submitted, self._submitted = self._submitted, []
        return [(key, attempt(unit)) for key, unit in submitted]

    def close(self) -> None:
        """Nothing to end."""


class _Worker:
    """A process, its pipe, and the unit it has under a key; in which try."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # forking beside threads (numba, torch) may hang
        self.connection: Connection[Any, Any]
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True, name="mcn-worker")
        with _starting():
            self.process.start()
        theirs.close()  # so that the worker's death is the end of the pipe
        self.job: tuple[str, Unit, int] | None = None

    def give(self, key: str, unit: Unit, attempts: int = 1) -> None:
        self.job = (key, unit, attempts)
        method: Method | None = METHODS[unit.method]
        try:
            pickle.dumps(method)
        except (AttributeError, pickle.PicklingError):  # a local function: the worker knows it, or says so
            method = None
        with suppress(OSError):  # it died while idle; `wait` sees that and replaces it
            self.connection.send((unit, method))

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class LocalWorkers:
    """Up to `slots` worker processes, started when they are needed.

    A worker that dies (killed for its memory, say) is replaced and its unit tried once more; if that
    worker dies too, the outcome of the unit is `WorkerDied`.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._workers: list[_Worker] = []

    def submit(self, key: str, unit: Unit) -> None:
        """Give the unit to an idle worker, or to a new one."""
        idle = next((worker for worker in self._workers if worker.job is None), None) or self._start()
        idle.give(key, unit)

    def _start(self) -> _Worker:
        self._workers.append(_Worker())
        return self._workers[-1]

    def wait(self, timeout: float) -> list[tuple[str, RowOrError]]:
        """Rows that have come in; workers that have died are seen to."""
        busy: dict[Any, _Worker] = {worker.connection: worker for worker in self._workers if worker.job}
        finished: list[tuple[str, RowOrError]] = []
        for connection in wait(list(busy), timeout):
            worker = busy[connection]
            assert worker.job is not None
            key, unit, attempts = worker.job
            worker.job = None
            try:
                finished.append((key, worker.connection.recv()))
            except (EOFError, OSError):
                self._workers.remove(worker)
                worker.process.join()  # with an exit code of its own
                worker.end()
                if attempts < TRIES:
                    self._start().give(key, unit, attempts + 1)
                else:
                    finished.append((key, _died(unit, worker.process.exitcode)))
        return finished

    def close(self) -> None:
        """Kill all workers: they hold nothing that could be lost."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()


def _died(unit: Unit, code: int | None) -> WorkerDied:
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return WorkerDied(
        f"the worker processes of {unit.method} on {unit.source.title}, seed {unit.seed}, died {TRIES} times "
        f"(last: {how}); not enough memory? Try fewer jobs"
    )


@contextmanager
def _starting() -> Iterator[None]:
    """Start a process that has one thread from its first import on, and does not hear Ctrl-C."""
    before = {name: os.environ[name] for name in THREADS if name in os.environ}
    main = threading.current_thread() is threading.main_thread()
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name in THREADS:
            os.environ.pop(name)
        os.environ.update(before)
        if main:
            signal.signal(signal.SIGINT, heard)


def serve(connection: Connection[Any, Any]) -> None:
    """Run units until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            unit, method = connection.recv()
        except EOFError:
            return
        connection.send(attempt_elsewhere(unit, method))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)  # in the middle of a unit: nobody waits for its row any more


class RayTasks:
    """Units as tasks of a Ray cluster of one CPU each, `jobs` at a time, by default one per CPU.

    A graph with its motif counts is put into the object store once; Ray copies it once to each node, and a
    worker process takes its own copy when it first meets the graph. Every machine of the cluster needs `mcn`
    installed. Rows come back to this process, which alone writes the ledger.

    Without an `address` ("auto", "host:port", "ray://…") one is started on this machine, which ends with
    `close`. A Ray that this process has started itself is used as it is.
    """

    def __init__(self, jobs: int | None, address: str | None) -> None:
        self._ray = import_ray("mcn[search]")
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
