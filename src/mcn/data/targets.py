"""Targets of nodes: their kinds, how they are read and spread over a split, and columns that copy them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import shown
from mcn._names import spell_option
from mcn.data.limits import Problems, listed
from mcn.data.node_table import BOOLEANS, EXPECTED, NodeTable, RawTable, bad_cell, number_cells
from mcn.data.text import has_decimal_comma, is_integer, is_missing, is_number

TASKS = ("classes", "regression", "multilabel")
_CONTINUOUS = 20  # different numbers, with fractions, from which a column of labels holds no classes
_FEW_CLASSES = 10  # different whole numbers up to which they are classes
_OFTEN, _MOST_OFTEN = 5, 0.75  # nodes with a value, and the share of the values that must have as many
_WIDE = 20  # times as wide as the count of its values is the range of codes, such as zip codes
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
        raise ValueError(f"{raw.name}: {spell_option('task', task)} needs {wanted}, got {listed(names, 10)}")
    if len(names) > 1:
        return _yes_no(raw, names)
    numeric = _holds_numbers(raw.cells(names[0])) if task is None else task == "regression"
    return (_numbers if numeric else _classes)(raw, names[0], task)


def _classes(raw: RawTable, name: str, task: str | None) -> Targets:
    cells = raw.cells(name)
    present = {cell for cell in set(cells) if not is_missing(cell)}
    classes = sorted(present, key=int) if all(map(is_integer, present)) else sorted(present)
    code = {title: place for place, title in enumerate(classes)}
    y = np.array([code.get(cell, -1) for cell in cells], np.int64)
    notes = []
    if task is None and len(classes) > _FEW_CLASSES and all(map(is_number, classes)):
        turned = f"{spell_option('task', 'regression')} takes them as a numeric target"
        notes.append(f"label: {len(classes):,} different whole numbers, taken as classes; {turned}")
    plain = Counter(" ".join(title.split()).casefold() for title in classes)
    alike = [title for title in classes if plain[" ".join(title.split()).casefold()] > 1]
    if alike:
        what = f"label: {listed(alike)} differ in case or blanks alone, and are classes of their own"
        notes.append(f"{what}; spell them alike in the table if they are the same")
    return Targets(y, classes, notes)


def _numbers(raw: RawTable, name: str, task: str | None) -> Targets:
    values = number_cells(raw, name, raw.cells(name)).astype(np.float32)
    notes = []
    if task is None:
        what = f"label: numbers ({len(np.unique(values[~np.isnan(values)])):,} different values)"
        notes.append(f"{what}: a numeric target; {spell_option('task', 'classes')} takes them as classes")
    return Targets(values, [name], notes)


def _yes_no(raw: RawTable, names: Sequence[str]) -> Targets:
    y = np.full((len(raw.numbers), len(names)), np.nan, np.float32)
    problems = Problems()
    for column, name in enumerate(names):
        cells = raw.cells(name)
        value = {cell: np.nan if is_missing(cell) else BOOLEANS.get(cell.lower()) for cell in set(cells)}
        with problems.noted():
            if None in value.values():
                bad = [row for row, cell in enumerate(cells) if value[cell] is None]
                bad_cell(raw, bad[0], name, EXPECTED["boolean"], "label", bad)
            y[:, column] = [value[cell] for cell in cells]
    problems.raise_all()
    known = known_targets(y)
    partly = int((~np.isnan(y).all(axis=1) & ~known).sum())
    y[~known] = np.nan
    notes = [f"nodes with some of their targets, but not all, count as unlabelled: {partly:,}"]
    return Targets(y, list(names), notes if partly else [])


def _holds_numbers(cells: Sequence[str]) -> bool:
    """Return True if labels are a numeric target, False if they are classes.

    At least half of the cells must be numbers; another one is then a mistake, and named. Numbers with
    fractions are classes if at most 20 occur, whole numbers if at most 10 do (and, from five on, each twice
    on average). More whole numbers are classes only if nearly all of them have five nodes or more, and if
    they number the classes from 0 or 1, or lie as far apart as codes do.
    """
    present = {cell: count for cell, count in Counter(cells).items() if not is_missing(cell)}
    nodes = {cell: count for cell, count in present.items() if is_number(cell) or has_decimal_comma(cell)}
    numbers = sum(nodes.values())
    if 2 * numbers < sum(present.values()) or len(nodes) <= 4:
        return False
    if 2 * len(nodes) > numbers:
        return True
    if any(has_decimal_comma(cell) or not float(cell).is_integer() for cell in nodes):
        return len(nodes) > _CONTINUOUS
    if len(nodes) <= _FEW_CLASSES:
        return False
    often = sum(count >= _OFTEN for count in nodes.values()) >= _MOST_OFTEN * len(nodes)
    least, largest = min(map(float, nodes)), max(map(float, nodes))
    from_zero = least in (0, 1) and largest <= 1.1 * len(nodes)
    return not (often and (from_zero or largest - least >= _WIDE * len(nodes)))


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
                f"nodes; leave it out with {spell_option('drop', name)} if it is not known beforehand"
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
