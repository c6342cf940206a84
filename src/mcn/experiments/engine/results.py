"""What the runs of a method amount to: means, deviations, paired differences; and tables of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcn.train.metrics import TASK_METRICS

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~&])")


@dataclass(frozen=True)
class Difference:
    """A mean of paired differences and its standard error, which a single pair does not have."""

    mean: float
    error: float | None
    pairs: int


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


def result_row(
    method: str, rows: Sequence[Mapping[str, Any]], first: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what the runs of a method amount to, as plain values for tables and JSON.

    Accuracies are in percent. Without test nodes there are no test figures: an empty list, and None for mean
    and deviation. The deviation is that of a sample (n - 1); a single run has none. `metrics` has every
    metric of the task, not in percent; see `metric_figures`.

    Args:
        rows: of `run_units` (`metrics`), or summaries of runs (`scores`), one per seed.
        first: the row of the method to compare with, by the mean of paired differences and its error.
    """
    seeds = [int(row["seed"]) for row in rows]
    tested = [row for row in rows if row["test_accuracy"] is not None]
    test = {int(row["seed"]): 100 * float(row["test_accuracy"]) for row in tested}
    values, accuracies = list(test.values()), [row["val_accuracy"] for row in rows]
    metrics = TASK_METRICS[rows[0].get("task", "classes")]
    gap = None
    if first is not None and len(seeds) > 1:
        gap = paired(test, dict(zip(first["seeds"], first["test"], strict=False)))
    return {
        "method": method,
        "test_mean": float(np.mean(values)) if values else None,
        "test_std": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "val_mean": None if None in accuracies else 100 * float(np.mean(accuracies)),
        "test": values,
        "seeds": seeds,
        "seconds_per_run": float(np.mean([row["seconds"] for row in rows])),
        "difference": gap and gap.mean,
        "difference_error": gap and gap.error,
        "metrics": {metric: metric_figures(metric, rows) for metric in metrics},
    }


def metric_figures(metric: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return test_mean, test_std (of a sample) and val_mean of a metric over rows, one per seed.

    None where a row lacks the figure: no test nodes, a metric that is not defined. A mean over some of the
    seeds could not be compared with that of another method.

    >>> rows = [{"metrics": {"val": {"roc-auc": v}, "test": None}} for v in (0.5, 0.75)]
    >>> metric_figures("roc-auc", rows)
    {'test_mean': None, 'test_std': None, 'val_mean': 0.625}
    """
    val, test = (_complete(metric, part, rows) for part in ("val", "test"))
    return {
        "test_mean": float(np.mean(test)) if test else None,
        "test_std": float(np.std(test, ddof=1)) if len(test) > 1 else None,
        "val_mean": float(np.mean(val)) if val else None,
    }


def _complete(metric: str, part: str, rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """The metric on a part of the nodes in every row; nothing where one has none."""
    parts = [(row.get("metrics") or row.get("scores") or {}).get(part) or {} for row in rows]
    values = [float(figures[metric]) for figures in parts if figures.get(metric) is not None]
    return values if len(values) == len(rows) else []


def escape_markdown(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a pipe table; the first column is text, the others are numbers. Cells are Markdown already.

    >>> print(markdown_table(["method", "test"], [["gat", "83.0"]]))
    | method | test |
    |---|---:|
    | gat | 83.0 |
    """
    rule = "|".join(["---", *["---:"] * (len(header) - 1)])
    lines = [f"| {' | '.join(cells)} |" for cells in (header, *rows)]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])
