"""Figures that the tables of the study share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcn.experiments.engine.cells import paired
from mcn.experiments.paper.report import DASH


def by_row(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, dict[int, float]]:
    """Return the test accuracies of a set in percent, by name of the row and split."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["set"] == name:
            found.setdefault(str(row["row"]), {})[int(row["split"])] = 100 * float(row["test"])
    return found


def gap(first: Mapping[int, float], second: Mapping[int, float]) -> str:
    """Return the mean paired difference with its standard error.

    >>> gap({0: 80.0, 1: 82.0}, {0: 79.0, 1: 79.0})
    '+2.0 ± 1.0'
    """
    found = paired(first, second)
    if found is None:
        return DASH
    return f"{found.mean:+.1f}" + ("" if found.error is None else f" ± {found.error:.1f}")


def said(rows: Sequence[Mapping[str, Any]], name: str, key: str, row: str = "nodes") -> list[float]:
    """Return a figure from the notes of a set's rows, one per split that has it.

    The notes of `nodes` hold what the rule said of the set on held-out nodes.

    >>> said([{"set": "mine", "row": "nodes", "note": "gain=0.0100 high=0.02"}], "mine", "gain")
    [0.01]
    """
    found = []
    for each in rows:
        if each["set"] == name and each["row"] == row:
            parts = (part.partition("=") for part in str(each["note"]).split())
            found += [float(value) for word, _, value in parts if word == key]
    return found
