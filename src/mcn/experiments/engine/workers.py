"""The local engine: worker processes, one unit each at a time, replaced when they die."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from mcn.experiments.engine.engines import Outcome, WorkerDied, attempt, sendable
from mcn.experiments.engine.unit import Unit

TRIES = 2
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Set to 1 in the environment of a worker: they share the cores among themselves."""


@dataclass
class _Job:
    key: str
    unit: Unit
    tries: int = 1


class _Worker:
    """A process, its pipe, and the job it has."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # forking beside threads (numba, torch) may hang
        self.connection: Connection[Any, Any]
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True, name="mcn-worker")
        with _starting():
            self.process.start()
        theirs.close()  # so that the worker's death is the end of the pipe
        self.job: _Job | None = None

    def give(self, job: _Job) -> None:
        self.job = job
        try:
            self.connection.send(job.unit)
        except OSError:  # it died while idle; `wait` sees that and replaces it
            return

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()
        self.process.close()


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
        idle = next((worker for worker in self._workers if worker.job is None), None)
        if idle is None:
            idle = _Worker()
            self._workers.append(idle)
        idle.give(_Job(key, unit))

    def wait(self, timeout: float) -> list[tuple[str, Outcome]]:
        """Rows that have come in; workers that have died are seen to."""
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        finished: list[tuple[str, Outcome]] = []
        for connection in wait(list(busy), timeout):
            worker = busy[connection]  # type: ignore[index]
            assert worker.job is not None
            job = worker.job
            try:
                outcome = worker.connection.recv()
            except (EOFError, OSError):
                outcome = self._replace(worker, job)
                if outcome is None:
                    continue
            else:
                worker.job = None
            finished.append((job.key, outcome))
        return finished

    def _replace(self, worker: _Worker, job: _Job) -> Outcome | None:
        worker.process.join()
        code = worker.process.exitcode
        self._workers.remove(worker)
        worker.end()
        if job.tries >= TRIES:
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            return WorkerDied(
                f"the worker processes of {job.unit.method} on {job.unit.source.title}, seed "
                f"{job.unit.seed}, died {job.tries} times (last: {how}); not enough memory? "
                "Try fewer jobs"
            )
        fresh = _Worker()
        self._workers.append(fresh)
        fresh.give(_Job(job.key, job.unit, job.tries + 1))
        return None

    def close(self) -> None:
        """Kill all workers: they hold nothing that could be lost."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()


@contextmanager
def _starting() -> Iterator[None]:
    """Start a process that has one thread from its first import on, and does not hear Ctrl-C."""
    before = {name: os.environ.get(name) for name in THREADS}
    main = threading.current_thread() is threading.main_thread()
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if main:
            signal.signal(signal.SIGINT, heard)


def serve(connection: Connection[Any, Any]) -> None:
    """Run units until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # what there is to say about the graph, the parent has said
    while True:
        try:
            unit = connection.recv()
        except EOFError:
            return
        connection.send(sendable(attempt(unit)))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)  # in the middle of a unit: nobody waits for its row any more
