"""Cells of the node table: what a text stands for, and where it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from mcn.data.border import shown
from mcn.data.text import is_number

MISSING = ("", "na", "n/a", "nan", "?")
BOOLEANS = {"true": 1.0, "yes": 1.0, "1": 1.0, "false": 0.0, "no": 0.0, "0": 0.0}
EXPECTED = {"number": "expected a finite number", "boolean": "expected true or false, yes or no, 1 or 0"}
_DATE = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_LARGEST = float(np.finfo(np.float32).max)


_DIGITS = str.maketrans("", "", "0123456789.+-eE\n")


@dataclass(frozen=True)
class Places(Sequence[str]):
    """Where rows came from, in words that are made when they are asked for: most tables have no mistake."""

    words: str
    numbers: Sequence[int]

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        if isinstance(at, slice):
            return Places(self.words, self.numbers[at])
        return f"{self.words} {self.numbers[at]}"


@dataclass(frozen=True)
class RawTable:
    """Named columns of text cells; `where` says for each row where it came from."""

    name: str
    header: list[str]
    columns: list[list[str]]
    where: Sequence[str]

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of each column, by its name."""
        return {name: column for column, name in enumerate(self.header)}

    def cells(self, name: str) -> list[str]:
        """Return a column by its name."""
        return self.columns[self.place[name]]


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value: empty, NA, N/A, nan or ?."""
    return len(cell) < 4 and cell.lower() in MISSING


def is_date(cell: str) -> bool:
    """Whether a cell is a date as ISO 8601 has it, with or without a time."""
    return _DATE.fullmatch(cell) is not None


def plain_number(cell: str) -> bool:
    """Whether a cell is a number of any kind that is not NaN."""
    return is_number(cell) and cell.lower().lstrip("+-") != "nan"


def number_cells(
    raw: RawTable, name: str, cells: Sequence[str], rows: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Return a column's numbers, NaN where a cell is missing; `rows` says which rows these cells are from.

    Raises:
        ValueError: a cell is not a finite float32: names file, line and value.
    """
    plain = plain_numbers(cells)
    if plain is not None:
        return plain
    known: dict[str, float] = {}
    values = np.empty(len(cells), np.float64)
    for at, cell in enumerate(cells):
        value = known.get(cell)
        if value is None:
            if is_missing(cell):
                value = np.nan
            elif is_number(cell) and abs(float(cell)) <= _LARGEST:
                value = float(cell)
            else:
                bad_cell(raw, at if rows is None else int(rows[at]), name, EXPECTED["number"])
            known[cell] = value
        values[at] = value
    return values


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
    return None if (np.abs(values) > _LARGEST).any() else values


def bad_cell(raw: RawTable, row: int, name: str, expected: str) -> NoReturn:
    """Raise for a cell that is not what its column holds."""
    cell = raw.cells(name)[row]
    raise ValueError(f"{raw.where[row]}: {shown(cell)} in feature column {shown(name)}; {expected}")
