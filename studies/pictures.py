"""The plot of a table of runs: every row's mean, its spread and single runs, and a value to compare with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studies.rows import Run, accuracies

_OURS, _PAPER = "#0072b2", "#d55e00"


def draw_runs(
    runs: Sequence[Run], path: Path, paper: Mapping[tuple[str, str], float | None] | None = None
) -> None:
    """Draw one panel per data set and write it to `path`.

    Rows stand from top to bottom: the mean over the seeds as a dot with a bar of ± 2 standard errors, the
    single runs as faint dots, and the paper's value, by data set and row, as a hollow diamond. A panel begins
    where the rows that are far below the others are left out; their means are named at its left edge.
    """
    from matplotlib.figure import Figure

    found = accuracies(runs)
    rows = list(dict.fromkeys(run["method"] for run in runs))
    figure = Figure(figsize=(1.6 + 2.4 * len(found), 0.9 + 0.26 * len(rows)), layout="constrained")
    axes: Any = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for ax, (dataset, own) in zip(axes, found.items(), strict=True):
        means = {row: float(np.mean(list(values.values()))) for row, values in own.items()}
        theirs = {row: (paper or {}).get((dataset, row)) for row in rows}
        every = [*means.values(), *(value for value in theirs.values() if value is not None)]
        middle = float(np.median(every))
        low = min(value for value in every if value > middle - 2 * (max(every) - middle) - 5) - 1
        for place, row in enumerate(rows):
            values = np.array(list(own.get(row, {}).values()))
            if len(values) and means[row] >= low:
                bar = 2 * values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else None
                ax.errorbar(means[row], place, xerr=bar, fmt="o", color=_OURS, markersize=4)
                shown = values[values >= low]
                ax.plot(
                    shown, np.full(len(shown), place + 0.27), "o", color=_OURS, markersize=2.5, alpha=0.35
                )
            elif len(values):
                ax.annotate(f"◂ {means[row]:.1f}", (low, place), color=_OURS, va="center", fontsize=7)
            value = theirs[row]
            if value is not None and value >= low:
                ax.plot(value, place - 0.27, "D", color=_PAPER, markersize=4, markerfacecolor="white")
        ax.set_xlim(left=low)
        ax.set_title(dataset, fontsize=9)
        ax.set_xlabel("test accuracy, %", fontsize=8)
        ax.grid(axis="x", color="0.9", linewidth=0.5)
    axes[0].set_yticks(range(len(rows)), rows, fontsize=8)
    axes[0].set_ylim(len(rows) - 0.4, -0.6)
    figure.savefig(path, dpi=150)
