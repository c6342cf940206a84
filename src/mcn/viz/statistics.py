"""Counts for the charts: confusion matrices, and who chose which motif and step."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn.data.limits import read_bytes, reading
from mcn.train.metrics import calibration
from mcn.viz.explanation import PARTS, Explanation


def confusion(found: Explanation) -> dict[str, list[list[int]]]:
    """Count, per part of the labelled nodes, those of each class (row) by predicted class (column)."""
    size = len(found.classes)
    tables = {}
    for number, part in enumerate(PARTS):
        mine = (found.split == number) & (found.truth >= 0)
        if mine.any():
            cells = found.truth[mine] * size + found.predicted[mine]
            tables[part] = np.bincount(cells, minlength=size * size).reshape(size, size).tolist()
    return tables


def calibrations(found: Explanation) -> dict[str, dict[str, Any]]:
    """Return, per part of the labelled nodes, how often predictions of a given confidence are right.

    The values are those of `mcn.train.metrics.Calibration`.
    """
    curves = {}
    for number, part in enumerate(PARTS):
        mine = (found.split == number) & (found.truth >= 0)
        if mine.any():
            own = calibration(found.probabilities[mine], found.truth[mine])
            curves[part] = {**asdict(own), "error": own.error}
    return curves


def shares_by_class(found: Explanation) -> list[list[list[int]]]:
    """Per layer and true class: how many nodes chose each motif and step, in the order t·K + (k-1)."""
    known = found.truth >= 0
    return [
        _crossed(found.truth[known], option[known], len(found.classes), len(found.options))
        for option in _choices(found)
    ]


def shares_by_degree(found: Explanation) -> tuple[list[str], list[list[list[int]]]]:
    """Names of the degree bins (0, 1, 2, 3–4, 5–8, …), and per layer and bin the choices' counts."""
    degree = np.bincount(found.edges.ravel(), minlength=found.num_nodes)
    edges = [0, 1, 2]
    while edges[-1] < degree.max(initial=0):
        edges.append(edges[-1] * 2)
    bins = np.searchsorted(edges, degree)
    names = ["0", "1", "2", *(f"{low + 1}–{high}" for low, high in pairwise(edges[2:]))]
    counts = [_crossed(bins, option, len(edges), len(found.options)) for option in _choices(found)]
    used = [b for b in range(len(edges)) if (bins == b).any()]
    return [names[b] for b in used], [[layer[b] for b in used] for layer in counts]


def curves(folder: Path) -> dict[str, list[float]]:
    """The columns of a run's metrics.jsonl; empty where there is none.

    Raises:
        ValueError: a line is not JSON or lacks a score.
    """
    path = folder / "metrics.jsonl"
    names = ("epoch", "train_loss", "val_loss", "train_accuracy", "val_accuracy")
    columns: dict[str, list[float]] = {name: [] for name in names}
    with reading(path, "not a log of epochs"):
        lines = read_bytes(path).decode().splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        with reading(f"{path}, line {number}", "not the scores of an epoch"):
            row: dict[str, Any] = json.loads(line)
            values = [round(float(row[name]), 5) for name in names]
        for name, value in zip(names, values, strict=True):
            columns[name].append(value)
    return columns


def _choices(found: Explanation) -> list[NDArray[np.int64]]:
    return list((found.motif * found.steps + found.step - 1).T)


def _crossed(row: NDArray[np.int64], column: NDArray[np.int64], rows: int, columns: int) -> list[list[int]]:
    counts = np.bincount(row * columns + column, minlength=rows * columns)
    table: list[list[int]] = counts.reshape(rows, columns).tolist()
    return table
