"""The rule beside methods that others proposed, and beside MCN's earlier rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcn.experiments.choice.figures import gap
from mcn.experiments.choice.others import COMPETITORS, OTHERS
from mcn.experiments.paper.document import Block, Grid, Text
from mcn.experiments.paper.report import DASH

Figures = Mapping[str, Mapping[str, Mapping[int, float]]]


def beside(rows: Sequence[dict[str, Any]], figures: Figures) -> list[Block]:
    """Return the tables and the sentence; nothing where no other method was run.

    `figures` are test accuracies by set, row and split. Means are over the splits that a row has, differences
    over those that it shares with the rule.
    """
    sets = [name for name, own in figures.items() if any(row in own for row in OTHERS)]
    if not sets:
        return []
    means = [
        [name, _runs(figures[name]), *(_mean(figures[name].get(row, {})) for row in OTHERS)] for name in sets
    ]
    cost = ["seconds per run", "", *(_seconds(rows, row) for row in OTHERS)]
    ruled = [name for name in sets if "rule" in figures[name]]
    gaps = [
        [name, *(gap(figures[name]["rule"], figures[name].get(row, {})) for row in OTHERS)] for name in ruled
    ]
    return [
        Grid(["set", "splits", *OTHERS], [*means, cost]),
        Grid(["rule − …", *OTHERS], gaps),
        *medians(figures),
    ]


def medians(figures: Figures) -> list[Block]:
    """Compare medians over the sets that the rule and all competitors were run on, over shared splits."""
    rows = ("rule", *COMPETITORS)
    found: dict[str, list[float]] = {row: [] for row in rows}
    for own in figures.values():
        shared = set.intersection(*(set(own.get(row, {})) for row in rows))
        if shared:
            for row in rows:
                found[row].append(float(np.mean([own[row][split] for split in shared])))
    if not found["rule"]:
        return []
    median = {row: float(np.median(values)) for row, values in found.items()}
    best = max(COMPETITORS, key=lambda row: median[row])
    others = ", ".join(f"{row} {median[row]:.1f}" for row in COMPETITORS)
    return [
        Text(
            f"Median over the {len(found['rule'])} sets that all of them were run on: the rule "
            f"{median['rule']:.1f}, {others}. That of the rule less that of the best of them, {best}: "
            f"{median['rule'] - median[best]:+.1f}."
        )
    ]


def _runs(own: Mapping[str, Mapping[int, float]]) -> str:
    counts = {len(own[row]) for row in OTHERS if row in own}
    return f"{min(counts)}–{max(counts)}" if len(counts) > 1 else str(*counts)


def _mean(values: Mapping[int, float]) -> str:
    return f"{np.mean(list(values.values())):.1f}" if values else DASH


def _seconds(rows: Sequence[dict[str, Any]], name: str) -> str:
    """Return the median over sets of the mean processor time."""
    by_set: dict[str, list[float]] = {}
    for row in rows:
        if row["row"] == name:
            by_set.setdefault(str(row["set"]), []).append(float(row["seconds"]))
    return f"{np.median([np.mean(values) for values in by_set.values()]):.1f}" if by_set else DASH
