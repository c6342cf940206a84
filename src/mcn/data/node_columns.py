"""The columns of a node table as they came: kept with a graph, so that every model treats them in its way."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import shown
from mcn.data.limits import also_in
from mcn.data.node_table import (
    EXPECTED,
    RawTable,
    cell_number,
    days_since_1970,
    is_date,
    numbers_of_texts,
    plain_numbers,
)
from mcn.data.sparse import feature_csr
from mcn.data.tables import cell_text
from mcn.data.text import is_missing

_FEW_TEXTS = 256


class TextColumn(NamedTuple):
    """A column of text cells: `texts[codes[row]]` is the cell of a row; `texts` holds every text once."""

    codes: NDArray[Any]
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class NodeColumns:
    """The columns of a node table before any treatment, `data.columns` of a graph that was read with one.

    A column with few different cells, or with cells that are no numbers, is a `TextColumn`; one of many
    numbers is an array of the smallest type that holds them exactly, NaN for a missing one.

    Attributes:
        file: what the table is called in messages; `unit` and `numbers` say where in it a row stands.
        columns: the columns by their names.
        features: the names of those that features can be made of; the others hold ids, labels and splits.
        scaling: what was asked to be done to numbers, see `mcn.load_graph`.
        made: a check sum of the features that were made of the columns, see `made_from`.
        fitted: the last treatment that was learned from the columns, by the rows it was learned from.
    """

    file: str
    unit: str
    numbers: NDArray[Any]
    columns: dict[str, TextColumn | NDArray[Any]]
    features: tuple[str, ...]
    scaling: str
    made: tuple[bool, int] | None = None
    fitted: dict[bytes, Any] = field(default_factory=dict)

    @classmethod
    def of_table(cls, raw: RawTable, features: Sequence[str], scaling: str) -> NodeColumns:
        """Keep the cells of a table, compactly."""
        columns = {name: _compact(cells) for name, cells in zip(raw.header, raw.columns, strict=True)}
        return cls(raw.name, raw.unit, np.asarray(raw.numbers), columns, tuple(features), scaling)

    def __repr__(self) -> str:
        return f"NodeColumns({len(self.numbers):,} rows, {len(self.columns):,} columns)"

    def where(self, row: int) -> str:
        """Say where a row came from."""
        return f"{self.file}, {self.unit} {self.numbers[row]}"

    def refuse(self, name: str, row: int, expected: str, further: Sequence[int] = ()) -> NoReturn:
        """Raise for a cell that is not what its column holds; `further` rows have such cells too."""
        codes, texts = self.texts(name)
        cell, more = shown(texts[codes[row]]), also_in([self.numbers[other] for other in further], self.unit)
        raise ValueError(f"{self.where(row)}: {cell} in feature column {shown(name)}{expected}{more}")

    def texts(self, name: str) -> TextColumn:
        """Return a column as texts; those of an array of numbers are what `str` makes of them."""
        column = self.columns[name]
        if isinstance(column, TextColumn):
            return column
        distinct, codes = np.unique(column, return_inverse=True)
        return TextColumn(codes, tuple(map(cell_text, distinct.astype(np.float64).tolist())))

    def values(self, name: str) -> NDArray[np.float64]:
        """Return a column as numbers, NaN where a cell is missing; dates are days since 1970-01-01.

        Raises:
            ValueError: a cell is neither missing nor a number; names the first one.
        """
        column = self.columns[name]
        if not isinstance(column, TextColumn):
            return column.astype(np.float64)
        present = [text for text in column.texts if not is_missing(text)]
        days = bool(present) and all(map(is_date, present))
        numbers = np.array(list(map(_days if days else cell_number, column.texts)), np.float64)
        odd = np.flatnonzero(np.isinf(numbers)[column.codes])
        if len(odd):
            self.refuse(name, int(odd[0]), f"; {EXPECTED['number']}", odd[1:].tolist())
        return np.asarray(numbers[column.codes], np.float64)

    def made_from(self, x: Any) -> bool:
        """Whether `x` is the matrix that was made of the columns: not changed since, and no rows of it."""
        if self.made is None or getattr(x, "shape", (0,))[0] != len(self.numbers):
            return False
        return check_sum_of(x, self.made[0]) == self.made


def check_sum_of(x: Any, sparse: bool) -> tuple[bool, int]:
    """Return a check sum of a feature matrix, a tensor, as a CSR matrix or as a dense one."""
    csr: Any = feature_csr(x) if sparse else None
    if csr is None:
        parts = [x.detach().to_dense().float().cpu().contiguous().numpy()]
    else:
        parts = [csr.indptr.astype(np.int64), csr.indices.astype(np.int64), csr.data.astype(np.float32)]
    total = zlib.crc32(str(tuple(x.shape)).encode())
    for part in parts:
        total = zlib.crc32(part, total)
    return sparse, total


def _days(text: str) -> float:
    try:
        return np.nan if is_missing(text) else days_since_1970(text)
    except ValueError:
        return np.inf


def _compact(cells: Sequence[str]) -> TextColumn | NDArray[Any]:
    codes = {text: code for code, text in enumerate(dict.fromkeys(cells))}
    coded = np.fromiter(map(codes.__getitem__, cells), np.int32, len(cells))
    numbers = None
    if len(codes) > _FEW_TEXTS:
        numbers = plain_numbers(cells)
        if numbers is None:
            distinct = numbers_of_texts(codes)
            numbers = None if distinct is None else distinct[coded]
    if numbers is None:
        return TextColumn(coded.astype(np.min_scalar_type(max(0, len(codes) - 1))), tuple(codes))
    narrow = numbers.astype(np.float32)
    return narrow if narrow.astype(np.float64).tobytes() == numbers.tobytes() else numbers
