"""Numbers of a table: what the runs of a method on a data set amount to, and how far that is from others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcn.train.metrics import LESS_IS_BETTER, METRICS

ROUNDING = 0.05
"""Half a unit of the last digit that the paper prints, in percent."""


@dataclass(frozen=True)
class Cell:
    """The runs of one method on one data set: 100 times a metric (accuracies in percent), by seed."""

    test: dict[int, float]
    val: dict[int, float]
    seconds: float
    epochs: float | None = None
    metric: str = "accuracy"

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.test)

    @property
    def mean(self) -> float:
        """Mean of the metric on test nodes."""
        return float(np.mean(list(self.test.values())))

    @property
    def merit(self) -> float:
        """The mean as a number of which more is better."""
        return -self.mean if self.metric in LESS_IS_BETTER else self.mean

    @property
    def std(self) -> float | None:
        """Sample standard deviation (n - 1) of the test figures; None for a single run."""
        return float(np.std(list(self.test.values()), ddof=1)) if self.runs > 1 else None

    @property
    def val_mean(self) -> float:
        """Mean of the metric on validation nodes."""
        return float(np.mean(list(self.val.values())))


@dataclass(frozen=True)
class Difference:
    """A mean of paired differences and its standard error, which a single pair does not have."""

    mean: float
    error: float | None
    pairs: int


def cell(rows: Sequence[Mapping[str, Any]], metric: str = "accuracy") -> Cell | None:
    """What the rows of `run_units` for one method and data set amount to; None without any.

    None, too, if a row lacks the metric: runs of 0.1.0 have accuracies only, and not every method has scores
    that are probabilities.

    Raises:
        ValueError: a row without a test accuracy, or two rows of one seed.
    """
    if not rows:
        return None
    seeds = [int(row["seed"]) for row in rows]
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"rows: every seed may be there once, got {sorted(seeds)}")
    untested = [seed for seed, row in zip(seeds, rows, strict=True) if row["test_accuracy"] is None]
    if untested:
        raise ValueError(f"rows: the run with seed {untested[0]} has no test accuracy")
    epochs = [row["epochs"] for row in rows if row.get("epochs") is not None]
    parts: list[dict[int, float]] = []
    for part in ("test", "val"):
        values = [
            float(row[f"{part}_accuracy"]) if metric == "accuracy" else _figure(row, part, metric)
            for row in rows
        ]
        found = {seed: 100 * value for seed, value in zip(seeds, values, strict=True) if value is not None}
        if len(found) < len(rows):
            return None
        parts.append(found)
    seconds = float(np.mean([row["seconds"] for row in rows]))
    return Cell(parts[0], parts[1], seconds, float(np.mean(epochs)) if epochs else None, metric)


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> Difference | None:
    """`first` minus `second` over the seeds that both have; None if there are none.

    The error is the sample standard deviation of the differences over the root of their number.
    """
    seeds = sorted(first.keys() & second.keys())
    if not seeds:
        return None
    gaps = np.array([first[seed] - second[seed] for seed in seeds])
    error = float(gaps.std(ddof=1) / math.sqrt(len(gaps))) if len(gaps) > 1 else None
    return Difference(float(gaps.mean()), error, len(gaps))


def noise(ours: Cell, paper: tuple[float, int] | None) -> float | None:
    """How far a mean may be from the paper's value and still be explained by chance, in points.

    With the paper's deviation s' over n' runs: 2·sqrt(s²/n + s'²/n'). Without it the paper's value counts
    as a single run with our spread: 2·sqrt(s²/n + s²). Never less than the paper's rounding. None for a
    single run of ours, whose spread is unknown.
    """
    if ours.std is None:
        return None
    theirs = ours.std**2 if paper is None else paper[0] ** 2 / paper[1]
    return max(2 * math.sqrt(ours.std**2 / ours.runs + theirs), ROUNDING)


def within_noise(ours: Cell, value: float, paper: tuple[float, int] | None) -> bool | None:
    """Whether our mean agrees with the paper's value up to `noise`; None where that cannot be said."""
    reach = noise(ours, paper)
    return None if reach is None else abs(ours.mean - value) <= reach + 1e-9


def result_row(
    method: str, rows: Sequence[Mapping[str, Any]], first: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what the runs of a method amount to, as plain values for tables and JSON.

    Accuracies are in percent. Without test nodes there are no test figures: an empty list, and None for mean
    and deviation. The deviation is that of a sample (n - 1); a single run has none. `metrics` has every
    metric of `mcn.train.metrics`, not in percent; see `metric_figures`. `choosing` has what choosing per node
    is worth, see `choosing_figures`.

    Args:
        rows: of `run_units` (`metrics`), or summaries of runs (`scores`), one per seed.
        first: the row of the method to compare with, by the mean of paired differences and its error.
    """
    seeds = [int(row["seed"]) for row in rows]
    tested = [row for row in rows if row["test_accuracy"] is not None]
    test = {int(row["seed"]): 100 * float(row["test_accuracy"]) for row in tested}
    values = list(test.values())
    gap = None
    if first is not None and len(seeds) > 1:
        gap = paired(test, dict(zip(first["seeds"], first["test"], strict=False)))
    return {
        "method": method,
        "test_mean": float(np.mean(values)) if values else None,
        "test_std": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "val_mean": 100 * float(np.mean([row["val_accuracy"] for row in rows])),
        "test": values,
        "seeds": seeds,
        "seconds_per_run": float(np.mean([row["seconds"] for row in rows])),
        "difference": gap and gap.mean,
        "difference_error": gap and gap.error,
        "metrics": {metric: metric_figures(metric, rows) for metric in METRICS},
        "choosing": choosing_figures(rows),
    }


def choosing_figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    """Return the mean over the seeds of what choosing per node is worth; None if a row does not say.

    gain and its standard error, apparent_room, chance_room and bound, as shares of the held-out nodes; used:
    the share of the seeds in which nodes did choose.
    """
    said = [found for row in rows if (found := (row.get("metrics") or row).get("choosing")) is not None]
    if not rows or len(said) < len(rows) or any(each["gain_error"] is None for each in said):
        return None
    figures = ("gain", "gain_error", "apparent_room", "chance_room", "bound", "used")
    return {name: float(np.mean([float(each[name]) for each in said])) for name in figures}


def metric_figures(metric: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return test_mean, test_std (of a sample) and val_mean of a metric over rows, one per seed.

    None where a row lacks the figure: runs of 0.1.0, no test nodes, a metric that is not defined. A mean over
    some of the seeds could not be compared with that of another method.

    >>> rows = [{"metrics": {"val": {"roc-auc": v}, "test": None}} for v in (0.5, 0.75)]
    >>> metric_figures("roc-auc", rows)
    {'test_mean': None, 'test_std': None, 'val_mean': 0.625}
    """
    found: dict[str, list[float]] = {}
    for part in ("val", "test"):
        values = [_figure(row, part, metric) for row in rows]
        found[part] = [value for value in values if value is not None]
        if len(found[part]) < len(rows):
            found[part] = []
    val, test = found["val"], found["test"]
    return {
        "test_mean": float(np.mean(test)) if test else None,
        "test_std": float(np.std(test, ddof=1)) if len(test) > 1 else None,
        "val_mean": float(np.mean(val)) if val else None,
    }


def _figure(row: Mapping[str, Any], part: str, metric: str) -> float | None:
    parts = row.get("metrics") or row.get("scores") or {}
    value = (parts.get(part) or {}).get(metric)
    return None if value is None else float(value)
