"""Running many units: those that the ledger has are not run, the others go to an engine."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from mcn._files import Claim
from mcn.experiments.engine.engines import Engine, Outcome, open_engine
from mcn.experiments.engine.ledger import Ledger
from mcn.experiments.engine.unit import Unit, blank_row

_POLL = 0.2  # seconds between looks at units that another process is running


def run_units(
    units: Sequence[Unit],
    ledger: Ledger | None = None,
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    finished: Callable[[dict[str, Any]], Any] | None = None,
    engine: str | Engine = "local",
    address: str | None = None,
    keep_failures: bool = False,
) -> list[dict[str, Any]]:
    """The rows of the units (see `run_unit`), in their order; what is in the ledger already is not run.

    Every row is added to the ledger as soon as it arrives, so a killed process loses at most the units under
    way, and a second call goes on from there. Two processes may share a ledger: a unit that the other one is
    running is left to it, and taken over if it dies. Rows do not depend on `jobs` or `engine` (`seconds` do).

    Args:
        units: what to run; equal ones run once.
        ledger: where rows are kept; None keeps them nowhere.
        jobs: units at a time. 1 runs them in this process; more run in worker processes of one thread each.
            By default as many as there are cores (or, for "ray", as the cluster has).
        progress: told how many units are done, and of how many.
        finished: told of every row when it is there, those of the ledger included.
        engine: "local", or "ray" for the workers of a Ray cluster; or what `open_engine` gave, with its own
            `jobs` and `address`.
        address: of the Ray cluster; None starts one on this machine.
        keep_failures: a unit that raises ValueError or MemoryError (a stack too large, say) gets a row with
            the reason in `error`; otherwise its error is raised, and what was running is ended.

    Raises:
        ValueError: what a unit raised, now or when it got its row.
        RuntimeError: a unit's worker died twice.
        OSError: the ledger cannot be written.
    """
    keys = [unit.key() for unit in units]
    book = _Book(ledger, dict(zip(keys, units, strict=True)), progress, finished, keep_failures)
    book.look()
    if book.waiting:
        with ExitStack() as stack:
            if isinstance(engine, str):
                # A single unit needs no worker process, whatever the cores.
                few = 1 if jobs is None and engine == "local" and len(book.waiting) == 1 else jobs
                engine = stack.enter_context(open_engine(engine, few, address))
            stack.callback(book.release)
            _drive(engine, book)
    return [book.rows[key] for key in keys]


def _drive(engine: Engine, book: _Book) -> None:
    """Keep the engine's slots filled with what can be claimed until every unit has its row."""
    while book.waiting or book.claims:
        while book.waiting and len(book.claims) < engine.slots and (key := book.claim()):
            engine.submit(key, book.waiting.pop(key))
        if not book.claims:  # all that is left is being run by another process
            time.sleep(_POLL)
            continue
        for key, outcome in engine.wait(_POLL if book.waiting else 1.0):
            book.enter(key, outcome)


class _Book:
    """Which units are waiting, under way and done."""

    def __init__(
        self,
        ledger: Ledger | None,
        units: dict[str, Unit],
        progress: Callable[[int, int], Any] | None,
        finished: Callable[[dict[str, Any]], Any] | None,
        keep_failures: bool,
    ) -> None:
        self.ledger, self.units, self.progress, self.finished = ledger, units, progress, finished
        self.keep_failures = keep_failures
        self.waiting = dict(units)
        self.claims: dict[str, Claim | None] = {}
        self.rows: dict[str, dict[str, Any]] = {}

    def look(self) -> None:
        """Take the rows that the ledger has."""
        if self.ledger is not None:
            for key in list(self.waiting):
                self._take(key)
        self._report()

    def claim(self) -> str | None:
        """The first waiting unit that nobody else is running; units that turn out to be done are taken."""
        for key in deque(self.waiting):
            if self.ledger is None:
                self.claims[key] = None
                return key
            claim = self.ledger.claim(key)
            if self._take(key):  # looked up after claiming: who held it before has added the row by now
                self._report()
                if claim is not None:
                    claim.release()
            elif claim is not None:
                self.claims[key] = claim
                return key
        return None

    def enter(self, key: str, outcome: Outcome) -> None:
        """Keep a finished unit's row."""
        unit = self.units[key]
        if isinstance(outcome, Exception):
            if not (self.keep_failures and isinstance(outcome, ValueError | MemoryError)):
                raise outcome
            outcome = blank_row(unit) | {"error": str(outcome) or type(outcome).__name__}
        if outcome["key"] != key:
            raise ValueError(
                f"{unit.source.title}: the graph, or mcn itself, has changed while in use; start again"
            )
        if self.ledger is not None:
            self.ledger.add(outcome)
        self._keep(key, outcome)
        claim = self.claims.pop(key)
        if claim is not None:
            claim.release()
        self._report()

    def release(self) -> None:
        """Give up all claims."""
        for claim in self.claims.values():
            if claim is not None:
                claim.release()
        self.claims.clear()

    def _take(self, key: str) -> bool:
        assert self.ledger is not None
        row = self.ledger.get(key)
        if row is None:
            return False
        if row["error"] is not None and not self.keep_failures:
            raise ValueError(f"{self.ledger.path}: this run failed before: {row['error']}")
        self._keep(key, row)
        del self.waiting[key]
        return True

    def _keep(self, key: str, row: dict[str, Any]) -> None:
        self.rows[key] = row
        if self.finished is not None:
            self.finished(row)

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(len(self.rows), len(self.units))
