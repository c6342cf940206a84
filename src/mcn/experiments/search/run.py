"""Searching for settings on the validation nodes; test labels are read for the winner alone, at the end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from graphmotifs._messages import one_of
from mcn.experiments.engine.ledger import Ledger
from mcn.experiments.engine.results import metric_figures
from mcn.experiments.engine.runner import run_units
from mcn.experiments.engine.source import Source, load
from mcn.experiments.engine.unit import Unit
from mcn.experiments.engine.workers import check_engine, open_engine
from mcn.experiments.search.proposals import SAMPLERS, importances
from mcn.experiments.search.space import Space
from mcn.train.metrics import LESS_IS_BETTER, METRICS
from mcn.train.run import protocol
from mcn.train.settings import Settings


@dataclass(frozen=True)
class Trial:
    """Settings that were tried: means over the seeds on the validation nodes, or why it failed.

    val_score is the metric that decides; by default it is the accuracy.
    """

    number: int
    settings: dict[str, Any]
    val_accuracy: float | None
    val_loss: float | None
    error: str | None = None
    val_score: float | None = None


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        dataset, space, sampler: what was searched, and how.
        trials: in the order they were proposed.
        best: the winner: the best mean validation score, then the lowest validation loss, then the first.
        config: its complete configuration.
        final: its rows on fresh seeds, with test accuracy: the only time that test labels are read.
        importances: by setting, the share of the variation it explains; None if that could not be said.
        note: why not.
        protocol: one line on how the numbers came about.
        metric: what decided, one of `mcn.train.metrics.METRICS`.
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
    metric: str = "accuracy"

    @property
    def failed(self) -> int:
        """Trials that failed."""
        return sum(trial.error is not None for trial in self.trials)

    @property
    def ranking(self) -> list[Trial]:
        """The distinct settings that did not fail, best first."""
        return _ranking(self.trials, self.metric)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self) | {"config": self.config.to_dict(), "failed": self.failed}


Progress = Callable[[int, int, Trial | None], Any]
"""Told: the runs that are done, those that are planned, the best trial so far."""


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
    metric: str = "accuracy",
    progress: Progress | None = None,
) -> SearchResult:
    """Search `space` for the settings with the best mean validation score.

    Trials are proposed in batches: all of a batch run before the next is proposed, and the sampler is told
    of them in order. Proposals depend on `seed`, `batch` and the figures alone, not on `jobs`, so that a
    killed search is resumed by calling it again with the same ledger: the same trials are proposed, their
    rows are found, and it ends with the rows of an undisturbed one.

    Args:
        space: what to search in the graph of `source`; see `load_space`.
        sampler: "tpe" (Optuna) or "grid".
        trials: how many settings to try; a grid may have fewer.
        seeds: runs per trial: `seed`, `seed` + 1, …
        final_seeds: runs of the winner on the seeds after those, the only ones that read test labels.
        ledger: where every run is kept, or the path of its file, made if it is not there. A run that fails
            (a stack too large, say) is kept with its reason.
        jobs, engine, address: see `run_units`.
        seed: of the sampler, and the first of the runs'.
        batch: trials that are proposed at once.
        metric: what decides, one of `mcn.train.metrics.METRICS`; the runs are the same whatever it is.
        progress: called after every run with what is done, what is planned and the best trial so far.
    """
    given = {"trials": trials, "seeds": seeds, "final_seeds": final_seeds, "batch": batch}
    for name, number in given.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ValueError(f"{name} must be an integer of at least 1, got {number!r}")
    one_of("metric", metric, METRICS)
    check_engine(engine, jobs, address)
    one_of("sampler", sampler, SAMPLERS)
    sampled = SAMPLERS[sampler](space, seed)
    if isinstance(ledger, str | os.PathLike):
        load(source, seed)  # a graph that cannot be used is said before a file is made
        ledger = Ledger(ledger)
    planned = trials if sampler == "tpe" or space.size is None else min(trials, space.size)
    numbers = range(seed, seed + seeds)
    fresh = range(seed + seeds, seed + seeds + final_seeds)
    total = planned * seeds + final_seeds
    done: list[Trial] = []
    with open_engine(engine, jobs, address) as opened:

        def run(tried: Sequence[dict[str, Any]], numbers: range, test: bool) -> list[list[Any]]:
            """The rows of each of the settings, by seed."""
            every = [{**space.base(source.dataset), **settings} for settings in tried]
            units = [Unit(source, space.recipe, each, number, test) for each in every for number in numbers]
            before, leader = len(done) * seeds, next(iter(_ranking(done, metric)), None)

            def report(finished: int, of: int) -> None:
                if progress is not None:  # equal units run once: scale to what was planned
                    progress(before + round(len(units) * finished / max(of, 1)), total, leader)

            rows = run_units(units, ledger, engine=opened, progress=report, keep_failures=not test)
            return [rows[i : i + len(numbers)] for i in range(0, len(rows), len(numbers))]

        while len(done) < planned:
            asked = sampled.ask(min(batch, planned - len(done)))
            results = zip(asked, run(asked, numbers, False), strict=True)
            finished = [_trial(number, *result, metric) for number, result in enumerate(results, len(done))]
            sampled.tell([_merit(trial, metric) for trial in finished])
            done += finished
        ranking = _ranking(done, metric)
        if not ranking:
            raise ValueError(f"all {len(done)} trials failed; the first: {done[0].error}")
        best = ranking[0]
        (final,) = run([best.settings], fresh, True)
    config = Unit(source, space.recipe, {**space.base(source.dataset), **best.settings}).config()
    assert config is not None
    shares, note = _importances(space, done, metric)
    return SearchResult(
        source.title, space.name, sampler, tuple(done), best, config, final, shares, note,
        _protocol(source, config, sampler, done, numbers, fresh, metric), metric,
    )  # fmt: skip


def _trial(number: int, settings: dict[str, Any], rows: list[dict[str, Any]], metric: str) -> Trial:
    errors = [row["error"] for row in rows if row["error"] is not None]
    if errors:
        return Trial(number, settings, None, None, errors[0])
    accuracy, loss = (float(np.mean([row[name] for row in rows])) for name in ("val_accuracy", "val_loss"))
    score = metric_figures(metric, rows)["val_mean"]
    error = f"{metric} is not defined on the validation nodes" if score is None else None
    return Trial(number, settings, accuracy, loss, error, score)


def _merit(trial: Trial, metric: str) -> float | None:
    """The score of a trial such that more is better; None for a failed one."""
    if trial.val_score is None or trial.error is not None:
        return None
    return -trial.val_score if metric in LESS_IS_BETTER else trial.val_score


def _ranking(trials: Sequence[Trial], metric: str) -> list[Trial]:
    """The distinct settings that did not fail, best first."""

    def rank(trial: Trial) -> tuple[float, float, int]:
        merit = _merit(trial, metric)
        assert merit is not None
        assert trial.val_loss is not None
        return (-merit, trial.val_loss, trial.number)

    ordered = sorted((trial for trial in trials if trial.error is None), key=rank)
    distinct: dict[str, Trial] = {}
    for trial in ordered:
        distinct.setdefault(json.dumps(trial.settings, sort_keys=True), trial)
    return list(distinct.values())


def _importances(
    space: Space, trials: Sequence[Trial], metric: str
) -> tuple[dict[str, float] | None, str | None]:
    merits = [(trial.settings, _merit(trial, metric)) for trial in trials]
    tried = [(settings, merit) for settings, merit in merits if merit is not None]
    try:
        return importances(space, tried), None
    except ValueError as error:
        return None, str(error)


def _protocol(
    source: Source,
    config: Settings,
    sampler: str,
    trials: Sequence[Trial],
    numbers: range,
    fresh: range,
    metric: str,
) -> str:
    most = "lowest" if metric in LESS_IS_BETTER else "highest"
    failed = sum(trial.error is not None for trial in trials)
    return (
        f"{len(trials)} trials ({sampler}, {failed} failed), each the mean of {_span(numbers)} on the "
        f"validation nodes, no test label read; the winner has the {most} mean validation {metric} and ran "
        f"with {_span(fresh)}; {protocol(load(source, numbers[0]).data, config)}"
    )


def _span(seeds: range) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
