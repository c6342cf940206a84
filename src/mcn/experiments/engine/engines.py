"""What carries out units: the interface that the runner drives, and the simplest engine, this process."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from mcn._names import one_of
from mcn._threads import available_threads
from mcn.experiments.engine.unit import Unit, run_unit

ENGINES = ("local", "ray")
Outcome = dict[str, Any] | Exception
"""The row of a finished unit, or what it raised."""


class WorkerDied(RuntimeError):
    """A worker process ended without a result, twice for the same unit."""


class Engine(Protocol):
    """Carries out up to `slots` units at a time."""

    slots: int

    def submit(self, key: str, unit: Unit) -> None:
        """Start a unit; called only while fewer than `slots` are under way."""
        ...

    def wait(self, timeout: float) -> list[tuple[str, Outcome]]:
        """The units that have finished since the last call; waits up to `timeout` seconds for one."""
        ...

    def close(self) -> None:
        """End everything at once, finished or not."""
        ...


class InProcess:
    """Runs one unit at a time, here, with all threads."""

    slots = 1

    def __init__(self) -> None:
        self._next: list[tuple[str, Unit]] = []

    def submit(self, key: str, unit: Unit) -> None:
        """Take the unit."""
        self._next.append((key, unit))

    def wait(self, timeout: float) -> list[tuple[str, Outcome]]:
        """Run it."""
        return [(key, attempt(unit)) for key, unit in _drained(self._next)]

    def close(self) -> None:
        """Nothing to end."""


@contextmanager
def open_engine(name: str, jobs: int | None = None, address: str | None = None) -> Iterator[Engine]:
    """An engine by its name, for one or several calls of `run_units`; everything of it ends with the block.

    Args:
        name: "local" or "ray".
        jobs: units at a time; by default as many as this machine, or the cluster, has cores. With "local" and
            1 they run in this process.
        address: of a Ray cluster; None starts one on this machine.
    """
    check_engine(name, jobs, address)
    engine = _make(name, jobs, address)
    try:
        yield engine
    finally:
        engine.close()


def check_engine(name: str, jobs: int | None = None, address: str | None = None) -> None:
    """Refuse what `open_engine` cannot open, without opening it."""
    one_of("engine", name, ENGINES)
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise ValueError(f"jobs must be an integer of at least 1, got {jobs!r}")
    if address is not None and name != "ray":
        raise ValueError(f"address {address!r} is of a Ray cluster; it needs engine='ray', got {name!r}")


def _make(name: str, jobs: int | None, address: str | None) -> Engine:
    # Both are imported late: each imports this file, and Ray may not be installed.
    if name == "ray":
        from mcn.experiments.engine.ray_engine import RayTasks

        return RayTasks(jobs, address)
    slots = available_threads() if jobs is None else jobs
    if slots == 1:
        return InProcess()
    from mcn.experiments.engine.workers import LocalWorkers

    return LocalWorkers(slots)


def attempt(unit: Unit) -> Outcome:
    """The row of a unit, or the exception it raised."""
    try:
        return run_unit(unit)
    except Exception as error:  # noqa: BLE001 - handed to the runner, which raises it
        if isinstance(error.__cause__, KeyboardInterrupt):  # numba's kernels wrap it in a SystemError
            raise KeyboardInterrupt from None
        return error


def sendable(outcome: Outcome) -> Outcome:
    """Return an outcome that can go to another process: an exception that cannot is replaced by its text."""
    try:
        pickle.loads(pickle.dumps(outcome))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - any exception type may refuse
        return RuntimeError(f"{type(outcome).__name__}: {outcome}")
    return outcome


def _drained(queue: list[tuple[str, Unit]]) -> list[tuple[str, Unit]]:
    taken = queue[:]
    queue.clear()
    return taken
