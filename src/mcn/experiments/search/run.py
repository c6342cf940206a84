"""Searching for settings on the validation nodes; test labels are read for the winner alone, at the end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mcn.experiments.engine.engines import check_engine, open_engine
from mcn.experiments.engine.ledger import Ledger
from mcn.experiments.engine.runner import run_units
from mcn.experiments.engine.source import Source, load
from mcn.experiments.engine.unit import Unit
from mcn.experiments.search.proposals import importances, proposals
from mcn.experiments.search.space import Space
from mcn.train.run import protocol
from mcn.train.settings import Settings


@dataclass(frozen=True)
class Trial:
    """Settings that were tried: means over the seeds on the validation nodes, or why it failed."""

    number: int
    settings: dict[str, Any]
    val_accuracy: float | None
    val_loss: float | None
    error: str | None = None


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        dataset, space, sampler: what was searched, and how.
        trials: in the order they were proposed.
        best: the winner: highest mean validation accuracy, then lowest validation loss, then first.
        config: its complete configuration.
        final: its rows on fresh seeds, with test accuracy: the only time that test labels are read.
        importances: by setting, the share of the variation it explains; None if that could not be said.
        note: why not.
        protocol: one line on how the numbers came about.
    """

    dataset: str
    space: str
    sampler: str
    trials: tuple[Trial, ...]
    best: Trial
    config: Settings
    final: list[dict[str, Any]]
    importances: dict[str, float] | None
    note: str | None
    protocol: str

    @property
    def failed(self) -> int:
        """Trials that failed."""
        return sum(trial.error is not None for trial in self.trials)

    @property
    def ranking(self) -> list[Trial]:
        """The distinct settings that did not fail, best first."""
        distinct: dict[str, Trial] = {}
        for trial in self.trials:
            if trial.error is None:
                distinct.setdefault(json.dumps(trial.settings, sort_keys=True), trial)
        return sorted(distinct.values(), key=_rank)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self) | {"config": self.config.to_dict(), "failed": self.failed}


Progress = Callable[[int, int, Trial | None], Any]
"""Told: runs done, runs in all, the best trial so far."""


def search(
    source: Source,
    space: Space,
    *,
    sampler: str = "tpe",
    trials: int = 40,
    seeds: int = 3,
    final_seeds: int = 5,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    engine: str = "local",
    address: str | None = None,
    seed: int = 0,
    batch: int = 4,
    progress: Progress | None = None,
) -> SearchResult:
    """Search `space` for the settings with the highest mean validation accuracy.

    Trials are proposed in batches: all of a batch run before the next is proposed, and the sampler is told
    of them in order. Proposals depend on `seed`, `batch` and the figures alone, not on `jobs`, so that a
    killed search is resumed by calling it again with the same ledger: the same trials are proposed, their
    rows are found, and it ends with the rows of an undisturbed one.

    Args:
        source: the graph.
        space: what to search; see `load_space`.
        sampler: "tpe" (Optuna) or "grid".
        trials: how many settings to try; a grid may have fewer.
        seeds: runs per trial: `seed`, `seed` + 1, …
        final_seeds: runs of the winner on the seeds after those, the only ones that read test labels.
        ledger: where every run is kept, or the path of its file, made if it is not there. A run that fails
            (a stack too large, say) is kept with its reason.
        jobs, engine, address: see `run_units`.
        seed: of the sampler, and the first of the runs'.
        batch: trials that are proposed at once.
        progress: told of every finished run.

    Raises:
        ValueError: the settings cannot be searched, an extra is not installed, or every trial failed.
    """
    for name, number in {
        "trials": trials,
        "seeds": seeds,
        "final_seeds": final_seeds,
        "batch": batch,
    }.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ValueError(f"{name} must be an integer of at least 1, got {number!r}")
    check_engine(engine, jobs, address)
    sampled = proposals(sampler, space, seed)
    if isinstance(ledger, str | os.PathLike):
        load(source, seed)  # a graph that cannot be used is said before a file is made
        ledger = Ledger(ledger)
    planned = trials if sampler == "tpe" or space.size is None else min(trials, space.size)
    total = planned * seeds + final_seeds
    done: list[Trial] = []
    base = space.base(source.dataset)
    with open_engine(engine, jobs, address) as opened:

        def run(units: Sequence[Unit], before: int, keep: bool) -> list[dict[str, Any]]:
            def report(finished: int, of: int) -> None:
                if progress is not None:  # equal units run once: scale to what was planned
                    share = finished / of if of else 1.0
                    progress(before + round(share * len(units)), total, _best(done))

            return run_units(units, ledger, engine=opened, progress=report, keep_failures=keep)

        while len(done) < planned:
            asked = sampled.ask(min(batch, planned - len(done)))
            numbered = list(enumerate(asked, len(done)))
            finished = _try(numbered, source, space.recipe, base, range(seed, seed + seeds), run)
            sampled.tell([trial.val_accuracy for trial in finished])
            done += finished
        best = _best(done)
        if best is None:
            raise ValueError(f"all {len(done)} trials failed; the first: {done[0].error}")
        fresh = range(seed + seeds, seed + seeds + final_seeds)
        units = [Unit(source, space.recipe, {**base, **best.settings}, number, test=True) for number in fresh]
        final = run(units, planned * seeds, False)
    config = units[0].config()
    assert config is not None
    shares, note = _importances(space, done)
    return SearchResult(
        source.title, space.name, sampler, tuple(done), best, config.replace(seed=0), final, shares, note,
        _protocol(source, config, sampler, done, seed, seeds, final_seeds),
    )  # fmt: skip


def _try(
    numbered: list[tuple[int, dict[str, Any]]],
    source: Source,
    recipe: str,
    base: dict[str, Any],
    seeds: range,
    run: Callable[[Sequence[Unit], int, bool], list[dict[str, Any]]],
) -> list[Trial]:
    """Run a batch; one trial per proposal."""
    units = [
        Unit(source, recipe, {**base, **settings}, number, test=False)
        for _, settings in numbered
        for number in seeds
    ]
    rows = run(units, numbered[0][0] * len(seeds), True)
    return [
        _trial(number, settings, rows[i * len(seeds) : (i + 1) * len(seeds)])
        for i, (number, settings) in enumerate(numbered)
    ]


def _trial(number: int, settings: dict[str, Any], rows: list[dict[str, Any]]) -> Trial:
    errors = [row["error"] for row in rows if row["error"] is not None]
    if errors:
        return Trial(number, settings, None, None, errors[0])
    accuracy, loss = (float(np.mean([row[name] for row in rows])) for name in ("val_accuracy", "val_loss"))
    return Trial(number, settings, accuracy, loss)


def _rank(trial: Trial) -> tuple[float, float, int]:
    assert trial.val_accuracy is not None
    assert trial.val_loss is not None
    return (-trial.val_accuracy, trial.val_loss, trial.number)


def _best(trials: Sequence[Trial]) -> Trial | None:
    return min((trial for trial in trials if trial.error is None), key=_rank, default=None)


def _importances(space: Space, trials: Sequence[Trial]) -> tuple[dict[str, float] | None, str | None]:
    tried = [(trial.settings, trial.val_accuracy) for trial in trials if trial.val_accuracy is not None]
    try:
        return importances(space, tried), None
    except ValueError as error:
        return None, str(error)


def _protocol(
    source: Source, config: Settings, sampler: str, trials: Sequence[Trial], seed: int, seeds: int, final: int
) -> str:
    failed = sum(trial.error is not None for trial in trials)
    return (
        f"{len(trials)} trials ({sampler}, {failed} failed), each the mean of {_span(seed, seeds)} on the "
        f"validation nodes, no test label read; the winner has the highest mean validation accuracy and ran "
        f"with {_span(seed + seeds, final)}; {protocol(load(source, seed).data, config)}"
    )


def _span(first: int, number: int) -> str:
    return f"seed {first}" if number == 1 else f"seeds {first} to {first + number - 1}"
