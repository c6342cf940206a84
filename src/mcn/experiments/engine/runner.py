"""Running many units: those that the ledger has are not run, others go to an engine; comparing methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from torch_geometric.data import Data

from graphmotifs._files import Claim
from graphmotifs._messages import did_you_mean, told
from mcn.data import given_weights
from mcn.experiments.engine.ledger import Ledger
from mcn.experiments.engine.methods import TrainedMethod, check_methods, find_method
from mcn.experiments.engine.results import result_row
from mcn.experiments.engine.source import Source, in_memory
from mcn.experiments.engine.unit import Unit, blank_row
from mcn.experiments.engine.workers import Engine, RowOrError, open_engine
from mcn.motifs import MotifCounts
from mcn.train.recipes import RECIPES, all_settings
from mcn.train.settings import declared

_POLL = 0.2  # seconds between looks at units that another process is running


def run_units(
    units: Sequence[Unit],
    ledger: Ledger | None = None,
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    engine: str | Engine = "local",
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
        engine: "local"; "ray" for the workers of a Ray cluster on this machine; or what `open_engine` gave,
            with its own `jobs` and address.
        keep_failures: a unit that raises ValueError or MemoryError (a stack too large, say) gets a row with
            the reason in `error`; otherwise its error is raised, and what was running is ended.

    Raises:
        ValueError: what a unit raised, now or when it got its row.
        RuntimeError: a unit's worker died twice.
        OSError: the ledger cannot be written.
    """
    keys = [unit.key() for unit in units]
    named = dict(zip(keys, units, strict=True))
    book = _Book(ledger, named, progress or _ignore, keep_failures)
    book.look()
    if book.waiting:
        with ExitStack() as stack:
            if isinstance(engine, str):
                # A single unit needs no worker process, whatever the cores.
                few = 1 if jobs is None and engine == "local" and len(book.waiting) == 1 else jobs
                engine = stack.enter_context(open_engine(engine, few))
            stack.callback(book.release)
            _drive(engine, book)
    return [book.rows[key] for key in keys]


def _ignore(*_: Any) -> None:
    """Nobody wants to be told."""


def compare(
    graph: Data | Source,
    methods: Iterable[str],
    seeds: Sequence[int] = (0,),
    *,
    dataset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    counts: MotifCounts | None = None,
    ledger: Ledger | None = None,
    jobs: int | None = None,
    progress: Callable[[float], Any] | None = None,
) -> list[dict[str, Any]]:
    """Run methods on the same split with the same seeds, and return a row for each (see `result_row`).

    Rows after the first have the paired difference to the first.

    Args:
        graph: a `Data`, whose runs are done in this process, or a `Source`.
        methods, seeds: names of `mcn.paper.baselines.METHODS`, of which every one runs once for each seed.
        dataset: with a `Data`, the data set whose presets apply.
        settings: changes to the configuration of the methods that have one; each takes those it knows.
        counts: with a `Data`, its motif counts if they are known.
        ledger, jobs: see `run_units`.
        progress: told how far it is, between 0 and 1.
    """
    names = check_methods(methods)
    if isinstance(graph, Source):
        source, weighted = graph, "weights" in dict(graph.options)
    else:
        source, weighted, jobs = in_memory(graph, dataset, counts), given_weights(graph) is not None, 1
    if weighted:
        for name in names:
            find_method(name).check_weights()
    known = {name: known_settings(name, settings or {}) for name in names}
    units = [Unit(source, name, known[name], seed) for name in names for seed in seeds]

    tell = progress or _ignore
    done = run_units(units, ledger, jobs=jobs, progress=lambda done, of: tell(done / of if of else 1.0))
    rows: list[dict[str, Any]] = []
    for place, name in enumerate(names):
        runs = done[place * len(seeds) : (place + 1) * len(seeds)]
        rows.append(result_row(name, runs, rows[0] if rows else None))
    return rows


def known_settings(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the given settings that a method has; refuse one that no recipe has."""
    everywhere = all_settings()
    for name in settings:
        if name not in everywhere:
            raise ValueError(f"unknown setting {told(name)}{did_you_mean(name, everywhere)}")
    found = find_method(method)
    known = declared(RECIPES[found.recipe].config) if isinstance(found, TrainedMethod) else {}
    return {name: value for name, value in settings.items() if name in known}


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


@dataclass
class _Book:
    """Which units are waiting, under way (they have a claim, None without a ledger) and done."""

    ledger: Ledger | None
    units: dict[str, Unit]
    progress: Callable[[int, int], Any]
    keep_failures: bool
    claims: dict[str, Claim | None] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting = dict(self.units)

    def look(self) -> None:
        """Take the rows that the ledger has."""
        for key in self.units:
            self._take(key)
        self._report()

    def claim(self) -> str | None:
        """The first waiting unit that nobody else is running; units that turn out to be done are taken."""
        for key in list(self.waiting):
            claim = None if self.ledger is None else self.ledger.claim(key)
            if self._take(key):  # looked up after claiming: who held it before has added the row by now
                self._report()
                if claim is not None:
                    claim.release()
            elif claim is not None or self.ledger is None:
                self.claims[key] = claim
                return key
        return None

    def enter(self, key: str, outcome: RowOrError) -> None:
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
        self.rows[key] = outcome
        self._release(key)
        self._report()

    def release(self) -> None:
        """Give up all claims."""
        for key in list(self.claims):
            self._release(key)

    def _release(self, key: str) -> None:
        if (claim := self.claims.pop(key)) is not None:
            claim.release()

    def _take(self, key: str) -> bool:
        if self.ledger is None or (row := self.ledger.get(key)) is None:
            return False
        if row["error"] is not None and not self.keep_failures:
            raise ValueError(f"{self.ledger.path}: this run failed before: {row['error']}")
        self.rows[key] = row
        del self.waiting[key]
        return True

    def _report(self) -> None:
        self.progress(len(self.rows), len(self.units))
