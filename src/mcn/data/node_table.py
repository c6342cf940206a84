"""The node table: cells of text and what they stand for; ids, split, label and feature columns."""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import did_you_mean, shown
from mcn._names import spell_option
from mcn.data.edge_list import INDEX, id_array
from mcn.data.limits import Problems, also_in, check_memory, listed
from mcn.data.tables import (
    FOREIGN,
    TABLES,
    cell_text,
    frame_columns,
    index_column,
    read_arrow,
    values_of,
)
from mcn.data.text import (
    check_line,
    data_lines,
    decimal_note,
    decimal_points,
    find_delimiter,
    is_missing,
    is_number,
    plain_columns,
    read_text,
    split_line,
    without_thousands,
)

_ID_NAMES = ("id", "node", "node_id", "nodeid")
_LABEL_NAMES = ("label", "class", "y", "target")
_SPLIT_NAMES = ("split",)
_SPLITS = {"train": 0, "val": 1, "valid": 1, "validation": 1, "test": 2, "": -1, "none": -1}
BOOLEANS = dict.fromkeys(("true", "yes", "1", "1.0"), 1.0) | dict.fromkeys(("false", "no", "0", "0.0"), 0.0)
EXPECTED = {"number": "expected a finite number", "boolean": "expected true or false, yes or no, 1 or 0"}
_DATE = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_EPOCH = date(1970, 1, 1).toordinal()
_CELL_BYTES, _ROW_BYTES, _COLUMN_BYTES = 72, 200, 1000  # beside texts, with ids and treatment
LARGEST = float(np.finfo(np.float32).max)
_DIGITS = str.maketrans("", "", "0123456789.+-eE\n")


@dataclass(frozen=True)
class RawTable:
    """Named columns of text cells; `numbers` has the line, row or node that each row came from.

    `commas` says that a comma in a cell may be a decimal sign: it does not separate the columns.
    """

    name: str
    header: list[str]
    columns: list[list[str]]
    unit: str
    numbers: Sequence[Any]
    commas: bool = False

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of each column, by its name."""
        return {name: column for column, name in enumerate(self.header)}

    def cells(self, name: str) -> list[str]:
        """Return a column by its name."""
        return self.columns[self.place[name]]

    def without(self, names: Sequence[str]) -> RawTable:
        """The table without the columns of these names."""
        left_out = {column_of(self, name, "dropped") for name in names}
        kept = [column for column in range(len(self.header)) if column not in left_out]
        header, columns = [self.header[c] for c in kept], [self.columns[c] for c in kept]
        return replace(self, header=header, columns=columns) if names else self

    def where(self, row: int) -> str:
        """Say where a row came from."""
        return f"{self.name}, {self.unit} {self.numbers[row]}"

    def also_in(self, rows: Sequence[int]) -> str:
        """Say which further rows have the same problem."""
        return also_in([self.numbers[row] for row in rows], self.unit)


@dataclass(frozen=True)
class NodeTable:
    """A checked node table, in row order.

    A split is 0, 1, 2 for train, val, test and -1 for none. `labels` are the label columns, to be read by
    `mcn.data.targets` for a `task` if one was asked for; `feature_names` the columns that features can be
    made of.
    """

    raw: RawTable
    ids: NDArray[Any]
    labels: list[str]
    task: str | None
    splits: list[tuple[str, NDArray[np.int64]]]
    feature_names: list[str]
    notes: list[str] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)

    def describe_columns(self, kinds: Mapping[str, str], dropped: Sequence[str] = ()) -> str:
        """Return one line that accounts for every column; `kinds` says what the features hold, by name."""
        groups: dict[str, list[str]] = {}
        unused = dict.fromkeys(self.feature_names, "not used (no values, or too many texts)") if kinds else {}
        for name in self.raw.header:
            role = self.roles.get(name) or kinds.get(name) or unused.get(name, "not used")
            groups.setdefault(role, []).append(name)
        if dropped:
            groups["left out as asked"] = list(dropped)
        order = sorted(groups, key=lambda role: role.startswith("not used"))
        return f"node columns: {'; '.join(f'{role} {listed(groups[role])}' for role in order)}"


def read_table(path: Path, delimiter: str | None = None) -> RawTable:
    """Read a csv or tsv file with a header line, or a Parquet or Feather file, as text."""
    kind = path.suffix.lower()
    if kind in FOREIGN:
        raise ValueError(f"{path}: {FOREIGN[kind]} is not read; save the table as CSV or Parquet")
    if kind in TABLES:
        return frame_table(read_arrow(path, _CELL_BYTES, _ROW_BYTES), str(path))
    text = read_text(path)
    number, top = next(data_lines(text), (0, ""))
    if not top:
        raise ValueError(f"{path}: empty; expected a header line (id, label, …) and one line per node")
    check_line(path, number, len(top))
    delimiter = find_delimiter(top) if delimiter is None else delimiter
    header = split_line(top, delimiter, path, number)
    if any(is_number(name) or not name for name in header[1:]) or is_number(header[0]):
        raise ValueError(
            f"{path}, line {number}: expected a header naming the columns, found {shown(top.strip())}"
        )
    twice = sorted(name for name, times in Counter(header).items() if times > 1)
    if twice:
        raise ValueError(f"{path}, line {number}: column {shown(twice[0])} occurs twice")
    blanks = delimiter or " "
    many = text.count(blanks) + text.count("\n") + (0 if delimiter else text.count("\t"))
    beside = _CELL_BYTES * many + _ROW_BYTES * text.count("\n") + _COLUMN_BYTES * len(header)
    check_memory(path, 2 * sys.getsizeof(text) + beside)
    numbers, cells = plain_columns(text, delimiter, len(header)) or _columns(
        path, text, delimiter, len(header)
    )
    if not numbers:
        raise ValueError(f"{path}: a header but no nodes")
    return RawTable(str(path), header, cells, "line", numbers, commas=delimiter != ",")


def frame_table(frame: Any, name: str) -> RawTable:
    """Make a node table of a frame or a pyarrow table, called `name` in messages; rows are counted from 1."""
    given = frame_columns(frame, name)
    index = {title: column for title, column in index_column(frame, name).items() if title not in given}
    columns = {title: values_of(column) for title, column in (index | given).items()}
    if not columns or not len(next(iter(columns.values()))):
        raise ValueError(f"{name}: no nodes; expected columns (id, label, …) and a row per node")
    if "" in list(columns)[1:]:
        raise ValueError(f"{name}: a column without a name")
    texts = [list(map(cell_text, values)) for values in columns.values()]
    return RawTable(name, list(columns), texts, "row", range(1, len(texts[0]) + 1))


def _columns(path: Path, text: str, delimiter: str | None, width: int) -> tuple[list[int], list[list[str]]]:
    """The numbers of the lines below the header and their columns, checked line by line."""
    numbers: list[int] = []
    uneven: list[tuple[int, str]] = []
    columns: list[list[str]] = [[] for _ in range(width)]
    for number, line in islice(data_lines(text), 1, None):
        fields = split_line(line, delimiter, path, number)
        if len(fields) != width:
            uneven.append((number, f"{len(fields)} fields, expected {width} as in the header: {shown(line)}"))
            continue
        numbers.append(number)
        for column, cell in zip(columns, fields, strict=True):
            column.append(cell)
    if uneven:
        (number, problem), *others = uneven
        raise ValueError(f"{path}, line {number}: {problem}{also_in([number for number, _ in others])}")
    return numbers, columns


def node_table(
    raw: RawTable,
    *,
    id: str | None = None,
    label: str | Sequence[str] | None = None,
    task: str | None = None,
    splits: Sequence[str] | None = None,
    split_by: str | None = None,
    features: Sequence[str] | None = None,
    needs_labels: bool = True,
    problems: Problems | None = None,
) -> NodeTable:
    """Find the columns and check ids and splits; see `mcn.load_graph` for the rules.

    Without `needs_labels` label columns that are asked for and not there count as none. If `problems` are
    given, they take whatever is wrong with other columns than that of the ids, and a table without those
    columns is returned.
    """
    notes: list[str] = []
    wrong = Problems() if problems is None else problems
    index = next((column for column, name in enumerate(raw.header) if name.lower() in INDEX), None)
    ids: Any = None
    id_column = index or 0
    with wrong.noted():
        named = _column(raw, id, _ID_NAMES, "id")
        if id is None and index is not None:
            what = "taken for the ids" if named is None else "left out"
            notes.append(f"column {shown(raw.header[index])} looks like the index of a data frame: {what}")
        id_column = id_column if named is None else named
        ids = _ids(raw, id_column)
    labels = _label_names(raw, label)
    if not needs_labels and not raw.place.keys() >= set(labels):
        labels = []  # prediction needs none
    label_columns = _all_named(raw, labels, "label", wrong)
    with wrong.noted():
        if id_column in label_columns:
            raise ValueError(
                f"{raw.name}: column {shown(raw.header[id_column])} has the ids, and no label can be learned "
                f"from them; {spell_option('label')} names the column of labels, {spell_option('id')} "
                "that of ids"
            )
    usual = _column(raw, None, _SPLIT_NAMES, "split")
    split_columns = [] if usual is None else [usual]
    if splits is not None:
        split_columns = _all_named(raw, splits, "split", wrong)
    by = _all_named(raw, [] if split_by is None else [split_by], "split_by", wrong)
    taken = {} if index is None else {index: "row numbers"}
    taken |= {id_column: "id"} | dict.fromkeys(label_columns, "label")
    taken |= dict.fromkeys(split_columns, "split") | dict.fromkeys(by, "split by")
    wanted = {*labels, *(splits or ()), *([] if split_by is None else [split_by])}
    if not wanted <= raw.place.keys():  # what the features are cannot be told
        columns = []
    elif features is None:
        columns = [c for c in range(len(raw.header)) if c not in {usual, *taken}]
    else:
        columns = _all_named(raw, features, "feature", wrong)
    given = []
    for column in split_columns:
        with wrong.noted():
            given.append((raw.header[column], _splits(raw, column)))
    readable: list[int] = []
    with wrong.noted():
        raw, more = _with_numbers(raw, [*columns, *label_columns], features)
        readable, notes = columns, notes + more
    if ids is None or problems is None:
        wrong.raise_all()
    return NodeTable(
        raw=raw,
        ids=ids,
        labels=[raw.header[c] for c in label_columns],
        task=task,
        splits=given,
        feature_names=[raw.header[c] for c in readable],
        notes=notes,
        roles={raw.header[c]: role for c, role in taken.items()},
    )


def _all_named(raw: RawTable, names: Sequence[str], kind: str, problems: Problems) -> list[int]:
    """Return the columns of these names; those that are not there go to the problems."""
    columns = []
    for name in names:
        with problems.noted():
            columns.append(column_of(raw, name, kind))
    return columns


def with_nodes(table: NodeTable, names: Sequence[str]) -> NodeTable:
    """The table with further nodes, which have neither features nor a label."""
    raw, count = table.raw, len(names)
    columns = [[*cells, *[""] * count] for cells in raw.columns]
    ids = [*map(str, table.ids.tolist()), *names]
    none = np.full(count, -1, np.int64)
    return replace(
        table,
        raw=replace(raw, columns=columns, numbers=[*raw.numbers, *["added"] * count]),
        ids=id_array(ids, as_text=table.ids.dtype == object),
        splits=[(name, np.concatenate([codes, none])) for name, codes in table.splits],
        notes=[*table.notes, f"nodes added that the node table lacks, without features and label: {count:,}"],
    )


def _with_numbers(
    raw: RawTable, columns: Sequence[int], named: Sequence[str] | None
) -> tuple[RawTable, list[str]]:
    """The table with plain numbers for decimal commas in these columns, and for dates in named ones."""
    changed, wanted = list(raw.columns), set(named or ())
    commas: list[str] = []
    grouped: list[str] = []
    notes = []
    for column in columns:
        name, cells = raw.header[column], raw.columns[column]
        plain = None
        if "," in "".join(cells):
            plain = decimal_points(cells) if raw.commas else without_thousands(cells)
        if plain is not None:
            changed[column] = plain
            (commas if raw.commas else grouped).append(name)
        elif name in wanted and any(map(is_date, cells)) and all(is_date(c) or is_missing(c) for c in cells):
            changed[column] = [_days(raw, row, name, cell) for row, cell in enumerate(cells)]
            notes.append(f"dates in {shown(name)} made into days since 1970-01-01")
    if commas:
        notes.append(decimal_note(commas))
    if grouped:
        notes.append(f"commas read as separators of thousands (1,023 is 1023) in {listed(grouped)}")
    return replace(raw, columns=changed), notes


def _days(raw: RawTable, row: int, name: str, cell: str) -> str:
    """A date as a number of days, "" for a missing one."""
    if is_missing(cell):
        return ""
    try:
        return str(days_since_1970(cell))
    except ValueError:
        bad_cell(raw, row, name, "there is no such date")


def days_since_1970(cell: str) -> int:
    """Return the number of days from 1970-01-01 to a date.

    Raises:
        ValueError: there is no such date.
    """
    return date.fromisoformat(cell[:10]).toordinal() - _EPOCH


def _label_names(raw: RawTable, label: str | Sequence[str] | None) -> list[str]:
    """The label columns that were asked for, whether they are there or not; else the usual one, if any."""
    if label is None:
        usual = _column(raw, None, _LABEL_NAMES, "label")
        return [] if usual is None else [raw.header[usual]]
    if isinstance(label, str):
        label = [label] if label in raw.place else [name.strip() for name in label.split(",")]
    return list(dict.fromkeys(label))


def _column(raw: RawTable, wanted: str | None, usual: Sequence[str], kind: str) -> int | None:
    if wanted is not None:
        return column_of(raw, wanted, kind)
    lowered = [name.lower() for name in raw.header]
    return next((lowered.index(name) for name in usual if name in lowered), None)


def column_of(raw: RawTable, name: str, kind: str) -> int:
    """Return the number of the column of a name, or refuse it as no column of that kind."""
    if name not in raw.place:
        # Comparing spellings takes the square of their length: only names of ordinary size are compared.
        near = did_you_mean(name, [known for known in raw.header[:1000] if len(known) <= 100])
        hint = near or f"; there is {', '.join(map(shown, raw.header[:10]))}"
        raise ValueError(f"{raw.name}: no {kind} column {name!r}{hint}")
    return raw.place[name]


def _ids(raw: RawTable, column: int) -> NDArray[Any]:
    names = raw.columns[column]
    first: dict[str, int] = {}
    again = [place for place, name in enumerate(names) if first.setdefault(name, place) != place]
    problems = Problems()
    if "" in first:
        empty = [place for place, name in enumerate(names) if not name]
        with problems.noted():
            problem = f"an empty node id in column {raw.header[column]!r}"
            raise ValueError(f"{raw.where(empty[0])}: {problem}{raw.also_in(empty[1:])}")
    again = [place for place in again if names[place]]
    if again:
        name = names[again[0]]
        with problems.noted():
            problem = f"node id {shown(name)} again; first in {raw.where(first[name])}"
            raise ValueError(f"{raw.where(again[0])}: {problem}{raw.also_in(again[1:])}")
    problems.raise_all()
    return id_array(names)


def _splits(raw: RawTable, column: int) -> NDArray[np.int64]:
    cells = raw.columns[column]
    bad = [place for place, cell in enumerate(cells) if cell.lower() not in _SPLITS]
    if bad:
        raise ValueError(
            f"{raw.where(bad[0])}: split {shown(cells[bad[0]])} in column {shown(raw.header[column])}; "
            f"expected train, val, test or nothing{raw.also_in(bad[1:])}"
        )
    return np.array([_SPLITS[cell.lower()] for cell in cells], np.int64)


def is_date(cell: str) -> bool:
    """Whether a cell is a date as ISO 8601 has it, with or without a time."""
    return _DATE.fullmatch(cell) is not None


def plain_number(cell: str) -> bool:
    """Whether a cell is a number of any kind that is not NaN."""
    return is_number(cell) and cell.lower().lstrip("+-") != "nan"


def number_cells(raw: RawTable, name: str, cells: Sequence[str]) -> NDArray[np.float64]:
    """Return the numbers of a label column, NaN where a cell is missing."""
    values = plain_numbers(cells)
    if values is None:
        values = np.array([cell_number(cell) for cell in cells], np.float64)
    odd = np.flatnonzero(np.isinf(values)).tolist()
    if odd:
        bad_cell(raw, odd[0], name, EXPECTED["number"], "label", odd)
    return values


def cell_number(cell: str) -> float:
    """Return the number that a cell holds, NaN for a missing one and infinity for what is no number."""
    if is_missing(cell):
        return np.nan
    value = float(cell) if is_number(cell) else np.inf
    return value if abs(value) <= LARGEST else np.inf


def numbers_of_texts(texts: Iterable[str]) -> NDArray[np.float64] | None:
    """Return the numbers of distinct cells, NaN for a missing one; None if any cell is no number."""
    numbers = array("d")
    for text in texts:
        numbers.append(cell_number(text))
        if numbers[-1] == np.inf:
            return None
    return np.array(numbers)


def plain_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return numbers that are written with digits alone, NaN for empty cells; None if any cell is another.

    It takes what `is_number` takes of these characters, and is quick; whatever it refuses is looked at cell
    by cell.
    """
    if "\n".join(cells).translate(_DIGITS):
        return None
    try:
        values = np.fromiter((float(cell) if cell else np.nan for cell in cells), np.float64, len(cells))
    except ValueError:
        return None
    return None if (np.abs(values) > LARGEST).any() else values


def bad_cell(
    raw: RawTable, row: int, name: str, expected: str, kind: str = "feature", rows: Sequence[int] = ()
) -> NoReturn:
    """Raise for a cell that is not what its column holds, a feature or a label; `rows` may have more."""
    cell, others = raw.cells(name)[row], [other for other in rows if other != row]
    what = f"{shown(cell)} in {kind} column {shown(name)}; {expected}"
    raise ValueError(f"{raw.where(row)}: {what}{raw.also_in(others)}")
