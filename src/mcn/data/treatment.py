"""What is done to feature columns: fitted on training nodes, kept as plain values, repeated on new files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import did_you_mean, shown, told
from mcn._names import spell_option
from mcn._numbers import is_finite
from mcn.data.limits import Problems, check_size
from mcn.data.node_columns import NodeColumns, TextColumn
from mcn.data.node_table import BOOLEANS, EXPECTED, is_date, plain_number
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

    def apply(self, columns: NodeColumns) -> tuple[NDArray[np.float32], list[str]]:
        """Return the features of a table, float32 [N, F], and notes on what was filled or new.

        Raises:
            ValueError: a column is missing, or holds a cell that it did not in training; names both.
        """
        absent = [column.name for column in self.columns if column.name not in columns.columns]
        if absent:
            there = [name for name in list(columns.columns)[:1000] if len(name) <= 100]
            near = did_you_mean(absent[0], there)
            more = f" (nor {len(absent) - 1:,} others)" if absent[1:] else ""
            raise ValueError(
                f"{columns.file}: no feature column {shown(absent[0])}{more}, which training had; "
                f"expected the same columns{near}"
            )
        rows, width = len(columns.numbers), len(self.feature_names)
        check_size(columns.file, 4 * width * rows, "has feature columns that take")
        out = np.zeros((rows, width), np.float32)
        missing: dict[str, int] = {}
        notes: list[str] = []
        at = 0
        for column in self.columns:
            fields = len(column.feature_names)
            empty, note = _treat(columns, column, out[:, at : at + fields])
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


def fit_treatment(columns: NodeColumns, train: NDArray[np.bool_]) -> tuple[Treatment, list[str]]:
    """Find the treatment that fits each column, from the rows in `train` alone; note what is left out.

    The last answer is kept with the columns: the same rows are not looked at again.
    """
    key = np.packbits(train).tobytes()
    if key not in columns.fitted:
        found = _fit_all(columns, train)
        columns.fitted.clear()
        columns.fitted[key] = found
    fitted: tuple[Treatment, list[str]] = columns.fitted[key]
    return fitted


def _fit_all(table: NodeColumns, train: NDArray[np.bool_]) -> tuple[Treatment, list[str]]:
    rows, scaling = np.flatnonzero(train), table.scaling
    columns: list[Column] = []
    numbers: dict[str, NDArray[np.float64]] = {}
    empty: list[str] = []
    wordy: list[str] = []
    problems = Problems()
    for name in table.features:
        column, values, has_values = None, None, False
        with problems.noted():
            column, values, has_values = _fit(table, name, rows)
        if column is None:
            (wordy if has_values else empty).append(name)
            continue
        columns.append(column)
        if values is not None:
            numbers[name] = values
    problems.raise_all()
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
    table: NodeColumns, name: str, rows: NDArray[np.int64]
) -> tuple[Column | None, NDArray[np.float64] | None, bool]:
    """The treatment of one column before scaling, its numbers in the training rows, if it has any value."""
    column = table.columns[name]
    if isinstance(column, TextColumn):
        times = np.bincount(column.codes[rows], minlength=len(column.texts))
        distinct = {text: count for text, count in zip(column.texts, times.tolist(), strict=True) if count}
        present = {text: count for text, count in distinct.items() if not is_missing(text)}
        total, holes = sum(present.values()), len(present) < len(distinct)
        numeric = sum(count for text, count in present.items() if plain_number(text))
    else:
        holes = bool(np.isnan(column[rows]).any())
        total = numeric = int((~np.isnan(column[rows])).sum())
    if not total:
        return None, None, False
    if 2 * numeric >= total:  # another cell is a mistake, and named
        values = table.values(name)[rows]
        return Column(name, "number", fill=float(np.nanmean(values)), indicator=holes), values, True
    if all(map(is_date, present)):
        codes, texts = table.texts(name)
        row = next(row for row in rows.tolist() if texts[codes[row]] in present)
        what = (
            f" is a date; leave it out with {spell_option('drop', name)}, or name the columns to use with "
            f"{spell_option('features')}, which makes a number of days of it; "
            f"{spell_option('split_by', name)} divides by it"
        )
        table.refuse(name, row, what)
    if {text.lower() for text in present} <= set(BOOLEANS):
        truth = [BOOLEANS[text.lower()] for text in present for _ in range(present[text])]
        return Column(name, "boolean", fill=float(np.mean(truth)), indicator=holes), None, True
    if len(present) > _CATEGORIES:
        return None, None, True
    return Column(name, "category", categories=tuple(sorted(present)), indicator=holes), None, True


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


def _treat(table: NodeColumns, column: Column, out: NDArray[np.float32]) -> tuple[int, list[str]]:
    """Fill the columns that one column becomes; the number of missing cells, and notes."""
    notes: list[str] = []
    if column.kind == "number":
        values = table.values(column.name)
        holes = np.isnan(values)
        values[holes] = column.fill
        with np.errstate(over="ignore"):
            out[:, 0] = (values - column.mean) / column.scale
        beyond = np.flatnonzero(~np.isfinite(out[:, 0]))
        if len(beyond):
            table.refuse(column.name, int(beyond[0]), f"; {EXPECTED['number']}", beyond[1:].tolist())
    else:
        codes, texts = table.texts(column.name)
        holes = np.array([is_missing(text) for text in texts])[codes]
    if column.kind == "boolean":
        truth = np.array([BOOLEANS.get(text.lower(), np.nan) for text in texts])[codes]
        truth[holes] = column.fill
        odd = np.flatnonzero(np.isnan(truth))
        if len(odd):
            table.refuse(column.name, int(odd[0]), f"; {EXPECTED['boolean']}", odd[1:].tolist())
        out[:, 0] = truth
    elif column.kind == "category":
        place = {text: at for at, text in enumerate(column.categories)}
        places = np.array([place.get(text, -1) for text in texts])[codes]
        known = np.flatnonzero((places >= 0) & ~holes)
        out[known, places[known]] = 1
        new = np.flatnonzero((places < 0) & ~holes)
        if len(new):
            notes.append(
                f"column {shown(column.name)}: {len(new):,} cells with {_NEW}, "
                f"all zeros (for instance {shown(texts[codes[new[0]]])}, {table.where(new[0])})"
            )
    if column.indicator:
        out[:, -1] = holes
    return int(holes.sum()), notes


def unusual_cells(report: Sequence[str], missing: bool = True) -> list[str]:
    """Return the lines of a report on categories that training did not have, and on missing cells."""
    return [line for line in report if _NEW in line or (missing and line.startswith(_MISSING))]


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
