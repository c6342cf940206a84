"""What is done to feature columns: fitted on training nodes, kept as plain values, repeated on new files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import did_you_mean, shown, told
from mcn._numbers import is_finite
from mcn.data.limits import check_size
from mcn.data.node_table import (
    BOOLEANS,
    EXPECTED,
    RawTable,
    bad_cell,
    is_date,
    number_cells,
    plain_number,
    plain_numbers,
)
from mcn.data.text import is_missing

_FEW_SHARE, _FEW = 0.1, 1000  # training nodes
_MANY_WORDS = 40  # in a row
SCALINGS = ("auto", "raw", "rows", "unit", "standard")
_CATEGORIES = 50
_WORD_COLUMNS = 10
_ZEROS = 0.8
_KINDS = ("number", "boolean", "category")
_MISSING, _NEW = "missing values: ", "a category that no training node has"


@dataclass(frozen=True)
class Column:
    """What is done to one column of the node table.

    A number becomes (number - mean) / scale, after an empty cell became `fill`; true and false become 1 and
    0; a text becomes one column per category. With `indicator`, one more column says where a cell is missing.
    """

    name: str
    kind: str
    fill: float = 0.0
    mean: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()
    indicator: bool = False

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns that this one becomes."""
        own = (
            [f"{self.name}={value}" for value in self.categories] if self.kind == "category" else [self.name]
        )
        return [*own, f"{self.name} missing"] if self.indicator else own


@dataclass(frozen=True)
class Treatment:
    """What is done to a node table's feature columns, fitted on training nodes; plain values only.

    `scaling` says what training does with the result: "rows" divides each row by its sum, "unit" by its
    length, "raw" nothing.
    """

    columns: tuple[Column, ...]
    scaling: str = "raw"

    @property
    def feature_names(self) -> list[str]:
        """The names of the final columns, in their order; those of categories as `colour=red`."""
        return [name for column in self.columns for name in column.feature_names]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; `from_dict` is the inverse."""
        columns = [asdict(column) | {"categories": list(column.categories)} for column in self.columns]
        return {"scaling": self.scaling, "columns": columns}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Treatment:
        """Make a treatment from what `to_dict` returned, checked."""
        if not isinstance(values, Mapping) or values.get("scaling") not in ("rows", "unit", "raw"):
            raise ValueError("a feature treatment must have scaling (rows, unit or raw) and columns")
        columns = values.get("columns")
        if not isinstance(columns, Sequence) or isinstance(columns, str):
            raise ValueError("a feature treatment must have a list of columns")
        return cls(
            tuple(_column(place, column) for place, column in enumerate(columns)), str(values["scaling"])
        )

    def apply(self, raw: RawTable) -> tuple[NDArray[np.float32], list[str]]:
        """Return the features of a table, float32 [N, F], and notes on what was filled or new."""
        width = len(self.feature_names)
        check_size(raw.name, 4 * width * len(raw.numbers), "has feature columns that take")
        out = np.zeros((len(raw.numbers), width), np.float32)
        missing: dict[str, int] = {}
        notes: list[str] = []
        at = 0
        for column in self.columns:
            if column.name not in raw.place:
                near = did_you_mean(column.name, [name for name in raw.header[:1000] if len(name) <= 100])
                raise ValueError(
                    f"{raw.name}: no feature column {shown(column.name)}, which training had; "
                    f"expected the same columns{near}"
                )
            cells = raw.cells(column.name)
            fields = len(column.feature_names)
            empty, note = _treat(raw, column, cells, out[:, at : at + fields])
            at += fields
            notes += note
            if empty:
                missing[column.name] = empty
        if missing:
            first = ", ".join(f"{name} {count:,}" for name, count in list(missing.items())[:5])
            more = f" and {len(missing) - 5:,} more" if len(missing) > 5 else ""
            marked = sum(column.indicator for column in self.columns if column.name in missing)
            where = f"{sum(missing.values()):,} cells in {len(missing):,} columns ({first}{more})"
            filled = "filled with the mean of the training nodes (numbers) or zeros (text)"
            notes.insert(0, f"{_MISSING}{where}, {filled}; {marked:,} columns added that mark them")
        return out, notes


def fit_treatment(
    raw: RawTable, names: Sequence[str], train: NDArray[np.bool_], scaling: str = "auto"
) -> tuple[Treatment, list[str]]:
    """Find the treatment that fits each column, from the rows in `train` alone; note what is left out."""
    rows = np.flatnonzero(train)
    columns: list[Column] = []
    numbers: dict[str, NDArray[np.float64]] = {}
    empty: list[str] = []
    wordy: list[str] = []
    for name in names:
        cells = raw.cells(name)
        seen = [cells[row] for row in rows]
        column, values = _fit(raw, name, cells, rows, seen)
        if column is None:
            (wordy if any(not is_missing(cell) for cell in set(seen)) else empty).append(name)
            continue
        columns.append(column)
        if values is not None:
            numbers[name] = values
    counts = scaling == "auto" and _like_words(columns, numbers)
    if scaling == "standard" or (scaling == "auto" and not counts):
        for place, column in enumerate(columns):
            if column.name in numbers:
                values = numbers[column.name]
                mean, deviation = moments(values[~np.isnan(values)])
                columns[place] = replace(column, mean=mean, scale=deviation)
    notes = []
    if wordy:
        notes.append(
            f"columns left out, as they hold more than {_CATEGORIES} different texts: {', '.join(wordy)}"
        )
    if empty:
        notes.append(f"columns left out, as no training node has a value: {', '.join(empty)}")
    if counts:
        scaling = row_scaling(np.nan_to_num(np.column_stack(list(numbers.values()))), len(train))
    return Treatment(tuple(columns), scaling if scaling in ("rows", "unit") else "raw"), notes


def row_scaling(seen: Any, nodes: int) -> str:
    """Return how rows of counts are scaled: by their sum, or by their length where that would underfit.

    A row of many words that sums to one holds tiny numbers, which weights under an L2 penalty can hardly make
    anything of. With a handful of labels that restraint helps; with many it is underfitting. `seen` are the
    rows of the training nodes, dense or SciPy's CSR; `nodes` is the number of all nodes.

    >>> long, short = np.ones((30, 100)), np.eye(30)
    >>> row_scaling(long, 50), row_scaling(long, 1000), row_scaling(short, 50)
    ('unit', 'rows', 'rows')
    """
    labelled = seen.shape[0]
    if labelled < _FEW_SHARE * nodes and labelled < _FEW:
        return "rows"
    total, squares = (np.asarray(abs(each).sum(1), np.float64).ravel() for each in (seen, seen * seen))
    words = total[squares > 0] ** 2 / squares[squares > 0]  # as many as there are, if all weigh the same
    return "unit" if len(words) and np.median(words) >= _MANY_WORDS else "rows"


def describe(treatment: Treatment, scaling: str) -> str:
    """Return one line on what was done."""
    given, made = len(treatment.columns), len(treatment.feature_names)
    line = f"features: {given:,} columns of the node table"
    parts = []
    kinds = [column.kind for column in treatment.columns]
    if kinds.count("category"):
        parts.append(f"{kinds.count('category'):,} of text, one column per category")
    if kinds.count("boolean"):
        parts.append(f"{kinds.count('boolean'):,} of true and false")
    if treatment.scaling in ("rows", "unit"):
        why = ", as they look like counts of words" if scaling == "auto" else ""
        what = "sum" if treatment.scaling == "rows" else "length"
        parts.append(f"numbers left as they are, each row divided by its {what} in training{why}")
    elif "number" in kinds and all((c.mean, c.scale) == (0.0, 1.0) for c in treatment.columns):
        parts.append("numbers left as they are")
    elif "number" in kinds:
        parts.append("numbers standardised (mean and deviation of the training nodes)")
    line = line if given == made else f"{line}, made into {made:,}"
    return f"{line}: {'; '.join(parts)}" if parts else line


def _fit(
    raw: RawTable, name: str, cells: list[str], rows: NDArray[np.int64], seen: list[str]
) -> tuple[Column | None, NDArray[np.float64] | None]:
    """The treatment of one column before scaling, and its numbers in the training rows (NaN: missing)."""
    values = plain_numbers(seen)
    if values is not None and not np.isnan(values).all():
        holes = bool(np.isnan(values).any())
        return Column(name, "number", fill=float(np.nanmean(values)), indicator=holes), values
    distinct = {cell for cell in set(seen) if not is_missing(cell)}
    if not distinct:
        return None, None
    holes = any(is_missing(cell) for cell in set(seen))
    numeric = {cell for cell in distinct if plain_number(cell)}
    present = [cell for cell in seen if cell in distinct]
    if 2 * sum(cell in numeric for cell in present) >= len(present):  # another cell is a mistake, and named
        values = number_cells(raw, name, seen, rows)
        return Column(name, "number", fill=float(np.nanmean(values)), indicator=holes), values
    if all(map(is_date, distinct)):
        row = next(row for row in rows if not is_missing(cells[row]))
        raise ValueError(
            f"{raw.where(row)}: {shown(cells[row])} in feature column {shown(name)} is a date; leave it "
            "out with drop= (--drop), or name the columns to use with features= (--columns), which makes a "
            "number of days of it; split_by= divides by it"
        )
    if {cell.lower() for cell in distinct} <= set(BOOLEANS):
        truth = [BOOLEANS[cell.lower()] for cell in seen if not is_missing(cell)]
        return Column(name, "boolean", fill=float(np.mean(truth)), indicator=holes), None
    if len(distinct) > _CATEGORIES:
        return None, None
    return Column(name, "category", categories=tuple(sorted(distinct)), indicator=holes), None


def _like_words(columns: Sequence[Column], numbers: Mapping[str, NDArray[np.float64]]) -> bool:
    """Whether the columns look like counts of words, from the training rows alone."""
    if len(columns) < _WORD_COLUMNS or len(numbers) < len(columns):
        return False
    cells = np.concatenate(list(numbers.values()))
    present = cells[~np.isnan(cells)]
    whole, negative = bool((present == np.floor(present)).all()), bool((present < 0).any())
    return like_words(len(numbers), len(present), int((present == 0).sum()), negative, whole)


def like_words(width: int, cells: int, zeros: int, negative: bool, whole: bool) -> bool:
    """Whether numbers look like counts of words."""
    return width >= _WORD_COLUMNS and not negative and (whole or zeros >= _ZEROS * cells)


def moments(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and deviation by which a column is standardised; (0, 1) for one of zeros and ones."""
    if np.isin(values, (0, 1)).all():  # a yes or no, written as a number
        return 0.0, 1.0
    mean, deviation = float(values.mean()), float(values.std())
    if not deviation > 1e-12 * max(1.0, abs(mean)):
        deviation = 1.0
    return mean, deviation


def _treat(
    raw: RawTable, column: Column, cells: list[str], out: NDArray[np.float32]
) -> tuple[int, list[str]]:
    """Fill the columns that one column becomes; the number of missing cells, and notes."""
    notes: list[str] = []
    if column.kind == "number":
        values = number_cells(raw, column.name, cells, None)
        holes = np.isnan(values)
        values[holes] = column.fill
        with np.errstate(over="ignore"):
            out[:, 0] = (values - column.mean) / column.scale
        beyond = np.flatnonzero(~np.isfinite(out[:, 0]))
        if len(beyond):
            bad_cell(raw, int(beyond[0]), column.name, EXPECTED["number"])
    else:
        holes = np.fromiter(map(is_missing, cells), np.bool_, len(cells))
    if column.kind == "boolean":
        for row, cell in enumerate(cells):
            truth = column.fill if holes[row] else BOOLEANS.get(cell.lower())
            if truth is None:
                bad_cell(raw, row, column.name, EXPECTED["boolean"])
            else:
                out[row, 0] = truth
    elif column.kind == "category":
        place = {value: at for at, value in enumerate(column.categories)}
        codes = np.array([place.get(cell, -1) for cell in cells], np.int64)
        known = np.flatnonzero((codes >= 0) & ~holes)
        out[known, codes[known]] = 1
        new = np.flatnonzero((codes < 0) & ~holes)
        if len(new):
            notes.append(
                f"column {shown(column.name)}: {len(new):,} cells with {_NEW}, "
                f"all zeros (for instance {shown(cells[new[0]])}, {raw.where(new[0])})"
            )
    if column.indicator:
        out[:, -1] = holes
    return int(holes.sum()), notes


def unusual_cells(report: Sequence[str]) -> list[str]:
    """Return the lines of a report on missing cells and on categories that training did not have."""
    return [line for line in report if line.startswith(_MISSING) or _NEW in line]


def _column(place: int, values: Any) -> Column:
    """A column of a stored treatment, checked."""
    where = f"a feature treatment, column {place}"
    if not isinstance(values, Mapping):
        raise ValueError(f"{where}: expected named values, got {told(values)}")
    name, kind, categories = values.get("name"), values.get("kind"), values.get("categories", [])
    if not isinstance(name, str) or kind not in _KINDS:
        raise ValueError(f"{where}: expected a name and a kind ({', '.join(_KINDS)})")
    if not isinstance(categories, Sequence) or not all(isinstance(value, str) for value in categories):
        raise ValueError(f"{where}: categories must be texts")
    numbers = [values.get("fill", 0.0), values.get("mean", 0.0), values.get("scale", 1.0)]
    for number in numbers:
        if not is_finite(number):
            raise ValueError(f"{where}: {told(number)}; expected a finite number")
    if not numbers[2] > 0:
        raise ValueError(f"{where}: scale must be positive, got {numbers[2]}")
    fill, mean, scale = map(float, numbers)
    return Column(name, kind, fill, mean, scale, tuple(categories), bool(values.get("indicator", False)))
