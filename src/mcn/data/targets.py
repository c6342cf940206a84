"""Targets of nodes: their kinds, how they are read and spread over a split, and columns that copy them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import shown
from mcn.data.node_table import BOOLEANS, EXPECTED, NodeTable, RawTable, bad_cell, number_cells
from mcn.data.text import decimal_note, decimal_points, has_decimal_comma, is_integer, is_missing, is_number

TASKS = ("classes", "regression", "multilabel")
_CONTINUOUS = 20  # different numbers, with fractions, from which a column of labels holds no classes
_MANY = 50  # classes that are whole numbers from which, if most are rare, another task is suggested
_FEW_COPIES, _REPEATED = 10, 5  # nodes outside the largest class, and with a value: fewer may be chance
_LINE = 1e-6  # of the variance, beside a line: less is rounding
_TENTHS, _IN_EACH = 10, 20  # parts into which numbers are divided, and nodes that each has at least


def target_kind(y: Any) -> str:
    """Return what the targets of a graph are, by dtype and shape alone; an array or a tensor.

    "classes": integers [N], one class per node. "regression": floats [N], a number per node. "multilabel":
    two columns or more of any dtype, a yes or no in each. [N, 1] counts as [N].
    """
    if y.ndim == 2 and y.shape[1] > 1:
        return "multilabel"
    return "regression" if "float" in str(y.dtype) else "classes"


def known_targets(y: Any) -> Any:
    """Return which nodes have a target, bool [N]: all of them, where there are several.

    A class that is not known is negative, and so is a yes or no in integers; a float is NaN.
    """
    known = y == y if "float" in str(y.dtype) else y >= 0  # NaN alone is not equal to itself
    return known.all(1) if y.ndim == 2 else known


def strata(y: Any) -> NDArray[np.int64]:
    """Return the group that each node is drawn with, -1 without a target.

    That is its class, the tenth of the numbers that its own is in, or one group for all where there are
    several targets.
    """
    kind, known = target_kind(y), known_targets(y)
    if kind == "classes":
        return np.asarray(y, np.int64).reshape(-1)
    groups = np.where(known, 0, -1)
    parts = min(_TENTHS, int(known.sum()) // _IN_EACH)
    if kind == "regression" and parts > 1:
        numbers = y[known].reshape(-1)
        cuts = np.quantile(numbers, np.arange(1, parts) / parts, method="higher")
        groups[known] = np.searchsorted(cuts, numbers, side="right")
    return groups


@dataclass(frozen=True)
class Targets:
    """What a node table says of its nodes: `y` as in `target_kind`, and the names of classes or columns."""

    y: NDArray[Any]
    classes: list[str]
    notes: list[str]


def read_targets(table: NodeTable) -> Targets | None:
    """Read the label columns of a table; None if it has none."""
    raw, names, task = table.raw, table.labels, table.task
    if not names:
        return None
    if task is not None and (len(names) > 1) != (task == "multilabel"):
        wanted = "several label columns (a,b,c)" if task == "multilabel" else "one label column"
        raise ValueError(f"{raw.name}: task {task} needs {wanted}, got {', '.join(map(shown, names))}")
    if len(names) > 1:
        return _yes_no(raw, names)
    numeric = _is_continuous(raw.cells(names[0])) if task is None else task == "regression"
    return (_numbers if numeric else _classes)(raw, names[0], task)


def _classes(raw: RawTable, name: str, task: str | None) -> Targets:
    cells = raw.cells(name)
    present = {cell for cell in cells if not is_missing(cell)}
    classes = sorted(present, key=int) if all(map(is_integer, present)) else sorted(present)
    code = {title: place for place, title in enumerate(classes)}
    y = np.array([code.get(cell, -1) for cell in cells], np.int64)
    if task is not None or len(classes) <= max(_MANY, (y >= 0).sum() / 3) or not all(map(is_number, classes)):
        return Targets(y, classes, [])
    what = f"label: {len(classes):,} different whole numbers, taken as classes"
    return Targets(y, classes, [f"{what}; --task regression takes them as a numeric target"])


def _numbers(raw: RawTable, name: str, task: str | None) -> Targets:
    cells = raw.cells(name)
    points = decimal_points(cells) if raw.commas else None
    values = number_cells(raw, name, points or cells, None, "label").astype(np.float32)
    notes = [decimal_note([name])] if points else []
    if task is None:
        what = f"label: numbers ({len(np.unique(values[~np.isnan(values)])):,} different values)"
        notes.append(f"{what}: a numeric target; --task classes takes them as classes")
    return Targets(values, [name], notes)


def _yes_no(raw: RawTable, names: Sequence[str]) -> Targets:
    y = np.full((len(raw.numbers), len(names)), np.nan, np.float32)
    for column, name in enumerate(names):
        for row, cell in enumerate(raw.cells(name)):
            value = np.nan if is_missing(cell) else BOOLEANS.get(cell.lower())
            if value is None:
                bad_cell(raw, row, name, EXPECTED["boolean"], "label")
            y[row, column] = value
    known = known_targets(y)
    partly = int((~np.isnan(y).all(axis=1) & ~known).sum())
    y[~known] = np.nan
    notes = [f"nodes with some of their targets, but not all, count as unlabelled: {partly:,}"]
    return Targets(y, list(names), notes if partly else [])


def _is_continuous(cells: Sequence[str]) -> bool:
    """Whether labels are measurements: many different numbers, or hardly one twice, and some fractions.

    At least half of the cells must be numbers; another one is then a mistake, and named.
    """
    present = [cell for cell in cells if not is_missing(cell)]
    numbers = [cell for cell in present if is_number(cell) or has_decimal_comma(cell)]
    distinct = set(numbers)
    many = len(distinct) > _CONTINUOUS or (len(distinct) > 4 and 2 * len(distinct) > len(numbers))
    if not many or 2 * len(numbers) < len(present):
        return False
    return any(has_decimal_comma(cell) or not float(cell).is_integer() for cell in distinct)


def copies_of_labels(
    raw: RawTable, names: Sequence[str], targets: Targets, known: NDArray[np.bool_]
) -> list[str]:
    """Name the columns that give a target away in the `known` nodes.

    That is, every value of theirs is found again and again and has one target, or their numbers lie on a
    line with a numeric one.
    """
    kind, rows = target_kind(targets.y), np.flatnonzero(known & known_targets(targets.y))
    of_each = targets.y.T if kind == "multilabel" else [targets.y]
    notes = []
    for place, y in enumerate(of_each):
        if len(rows) - np.unique(y[rows], return_counts=True)[1].max(initial=0) < _FEW_COPIES:
            continue
        label = f"the label {shown(targets.classes[place])}" if kind == "multilabel" else "the label"
        for name in names:
            how = f"each value belongs to one {'class' if kind == 'classes' else 'target'}"
            if not _copies(raw.cells(name), y, rows):
                if kind != "regression" or not _on_a_line(raw.cells(name), y, rows):
                    continue
                how = "the two lie on a line"
            notes.append(
                f"column {shown(name)} copies {label}: {how} in all {len(rows):,} training and validation "
                "nodes; leave it out with drop= (--drop) if it is not known beforehand"
            )
    return notes


def _copies(cells: Sequence[str], y: NDArray[Any], rows: NDArray[np.int64]) -> bool:
    targets: dict[str, Any] = {}
    for row in rows.tolist():
        if targets.setdefault(cells[row], y[row]) != y[row] or _REPEATED * len(targets) > len(rows):
            return False
    return True


def _on_a_line(cells: Sequence[str], y: NDArray[Any], rows: NDArray[np.int64]) -> bool:
    numbers = np.array([float(cells[row]) if is_number(cells[row]) else np.nan for row in rows.tolist()])
    if not (np.abs(numbers) < np.finfo(np.float32).max).all() or len(np.unique(numbers)) < 2:
        return False
    return bool(1 - np.corrcoef(numbers, y[rows].astype(np.float64))[0, 1] ** 2 < _LINE)
