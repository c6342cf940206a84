"""Edge lists in text files: one edge per line, two ids first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from graphmotifs._messages import did_you_mean, shown
from mcn._names import spell_option
from mcn.data.edge_list import (
    LETTERS,
    SAMPLE,
    EdgeList,
    Layout,
    checked_weights,
    columns_note,
    compact,
    edge_columns,
    edges_of_names,
    numbered_names,
    text_note,
    usual_pair,
)
from mcn.data.limits import also_in, check_memory, max_bytes, read_bytes
from mcn.data.text import (
    BOM,
    check_encoding,
    check_line,
    data_lines,
    decimal_note,
    decimal_points,
    decoded,
    find_delimiter,
    is_integer,
    is_missing,
    is_number,
    later_comments,
    split_line,
)
from mcn.data.text_ids import named_edges

_LARGE = 2**20  # bytes from which a compiled reader of text ids is worth being loaded
_SAMPLE = 2**15  # bytes by which it is decided what the columns are; packing has read more by then
_BLOCK = 2**24  # bytes that pyarrow reads at a time
_CELL_BYTES = 140  # of a cell with a weight
_ODD = bytes([0, 11, 12, 28, 29, 30, 31])  # what Python takes for white space, and NUL


def read_edge_text(
    path: Path, layout: Layout, *, as_text: bool = False, weights: str | None = None
) -> EdgeList:
    """Read a text edge list: two fields of a line are an edge; `weights` names a further one.

    Ids are integers if all of them are, otherwise text (or always, with `as_text`). Plain files of integers
    take a compiled path, and so do large plain files of text; everything else, and every error, the careful
    one.
    """
    file = EdgeText.whole(path, layout)
    edges = None if as_text else file.integers()
    if edges is None and file.plain and len(file.content) >= _LARGE:
        edges = file.names(as_text)
    if edges is None:
        edges = file.anything(as_text)
    notes = file.notes(later_comments(file.content, file.start), weights)
    notes += edges.notes
    if not as_text and edges.ends.shape[1] > 1:
        first = edges.ends[:, 0]
        notes += file.first_line_note(edges.ids[first], np.bincount(edges.ends.ravel())[first])
    edges = replace(edges, notes=notes)
    return edges if weights is None else file.weighted(edges, weights)


def _head(path: Path, content: bytes) -> list[tuple[int, int, str]]:
    """The first two lines with data: where they start, their numbers and what they say."""
    head: list[tuple[int, int, str]] = []
    start, number = 0, 1
    while start < len(content) and len(head) < 2:
        stop = content.find(b"\n", start)
        stop = len(content) if stop < 0 else stop
        if stop - start > _SAMPLE:
            check_line(path, number, stop - start)
        for _, line in data_lines(content[start:stop].decode("utf-8", "replace"), begun=bool(head)):
            head.append((start, number, line))
        start, number = stop + 1, number + 1
    return head


def _is_header(top: list[str], row: list[str]) -> bool:
    """Whether the first line names columns, judged by its words and by the line below it."""
    names = top[1:] if len(top) > 2 or len(row) == len(top) + 1 else top  # the first may be that of an index
    if any(is_number(name) or is_missing(name) for name in names) or is_number(top[0]):
        return False
    if usual_pair(top) is not None:
        return True
    if len(set(top)) < len(top):
        return False
    if len(row) == len(top) + 1:
        return row[0] == "1"  # R numbers its rows from 1
    return all(map(is_integer, row)) if len(row) == 2 else any(map(is_number, row)) and len(row) == len(top)


def _are_named_alike(top: list[str], text: str) -> bool:
    """Return True for two names such as worker_a and worker_b, if their common stem occurs nowhere else."""
    shared = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*top, strict=False)))
    ends = usual_pair([name[shared:] for name in top], *LETTERS, ("x", "y"), ("1", "2"))
    return len(top) == 2 and shared > 2 and ends is not None and text.count(top[0][:shared]) == 2


@dataclass
class EdgeText:
    """An edge list that was read, or some lines of it, and how they are to be understood."""

    path: Path
    content: bytes
    mark: str | None  # the separator, None for white space
    ends: tuple[int, int]  # the two columns that are an edge, source and target
    columns: list[str]  # the names in the header line, none if there is no such line
    guessed: bool  # whether nobody said if there is a header line
    start: int  # where the first edge begins
    line: int  # the number of its line
    comments: list[bytes]  # before it
    width: int = 0  # fields per line, once one was read
    width_line: int = 0  # the number of that line

    @classmethod
    def whole(cls, path: Path, layout: Layout) -> EdgeText:
        """Read a file."""
        content = read_bytes(path)
        if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
            check_memory(path, 3 * len(content))
            content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return cls.beginning(path, content, layout)

    @classmethod
    def beginning(cls, path: Path, content: bytes, layout: Layout) -> EdgeText:
        """Find out how a file is to be read, from the first two lines with data of its content."""
        check_encoding(content, path)
        plain = content.removeprefix(BOM)
        head = _head(path, plain)
        if not head:
            why = ", only comments (put a header line before ids with # or %)" if plain.strip() else ""
            raise ValueError(f"{path}: no edges{why}; expected lines of two node ids")
        mark = layout.delimiter or find_delimiter(head[0][2])
        mark = None if mark == " " else mark
        top, *below = [split_line(line, mark, path, number) for _, number, line in head]
        row = below[0] if below else []
        header = layout.header
        if header is None:
            named = layout.source is not None and not is_integer(layout.source)
            sample = plain[:_SAMPLE].decode("utf-8", "replace")
            header = named or _is_header(top, row) or _are_named_alike(top, sample)
        if header and not below:
            raise ValueError(f"{path}: a header ({shown(head[0][2].strip())}) but no edges")
        start, line, text = head[1 if header else 0]
        columns = top if header else []
        if header and len(row) == len(top) + 1:  # R's names of rows have no name themselves
            columns = ["", *top]
        if header and len(row) != len(columns):
            raise ValueError(
                f"{path}, line {line}: {len(row)} fields, expected {len(columns)} as in the header: "
                f"{shown(text.strip())}"
            )
        titles = columns or [str(place + 1) for place in range(len(top))]
        sample = plain[start:_SAMPLE].rpartition(b"\n")[0].decode("utf-8", "replace")
        rows = (
            split_line(text, mark, path, line + number - 1)
            for number, text in islice(data_lines(sample, begun=True), SAMPLE)
        )
        ends = edge_columns(titles, layout, str(path), list(rows) if len(titles) > 2 else [])
        check_memory(path, len(content) + 24 * head[0][0])
        between = plain[: head[0][0]].split(b"\n")
        if header:
            between += plain[head[0][0] : start].split(b"\n")[1:]
        comments = [part.strip() for part in between if part.strip()]
        start += len(content) - len(plain)
        return cls(path, content, mark, ends, columns, layout.header is None, start, line, comments)

    @cached_property
    def plain(self) -> bool:
        """Whether fields are what stands between separators, and lines between line ends."""
        ascii_mark = self.mark is None or (len(self.mark) == 1 and self.mark.isascii())
        if not ascii_mark or self.content.find(b'"', self.start) >= 0:
            return False
        return b"\r" not in self.content or self.content.count(b"\r") == self.content.count(b"\r\n")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield number and content of every line with an edge."""
        start, line = self.start, self.line
        while start < len(self.content):
            stop = self.content.find(b"\n", start + _LARGE) + 1 or len(self.content)
            check_line(self.path, line, stop - start - _LARGE)
            body = decoded(self.content[start:stop], self.path, line)
            for number, text in data_lines(body, begun=True):
                yield line + number - 1, text
            start, line = stop, line + body.count("\n")

    def line_of(self, edge: int) -> int:
        """The number of the line that an edge stands in."""
        return next(islice(self.lines(), edge, None))[0]

    def _where(self, edge: int) -> str:
        return f"{self.path}, line {self.line_of(edge)}"

    def integer_ids(self) -> NDArray[np.int64] | None:
        """Integer ids [E, 2], if there is nothing else."""
        if not self.plain:
            return None
        text = np.frombuffer(self.content, np.uint8)[self.start :]
        check_memory(self.path, len(self.content) + 16 * line_ends(text))
        ids, width = parse_integers(text, ord(self.mark) if self.mark else 32, *self.ends)
        if width < 2 or self.width not in (0, width):
            return None
        if not self.width:
            self.width, self.width_line = int(width), self.line
        return np.asarray(ids)

    def any_ids(self) -> Iterator[str]:
        """Yield both ids of one edge after the other, read with care; an error names its line."""
        first, second = self.ends
        problem, bad = "", []
        for number, line in self.lines():
            fields = split_line(line, self.mark, self.path, number)
            if not self.width:
                self.width, self.width_line = len(fields), number
            uneven = len(fields) != self.width or self.width < 2
            if uneven or not fields[first] or not fields[second]:
                expected = f"{self.width} as in line {self.width_line}" if self.width > 1 else "two node ids"
                what = f"{len(fields)} fields, expected {expected}" if uneven else "an empty node id"
                problem = problem or f"{self.path}, line {number}: {what}: {shown(line.strip())}"
                bad.append(number)
                continue
            yield fields[first]
            yield fields[second]
        if problem:
            raise ValueError(f"{problem}{also_in(bad[1:])}")

    def notes(self, later: int, weights: str | None = None) -> list[str]:
        """Say what was taken for header and columns, and count skipped comments, `later` ones too."""
        titles, notes = self.columns or [str(column + 1) for column in range(self.width)], []
        if self.columns or self.width > 2:
            notes += columns_note(titles, self.ends, weights, header=bool(self.columns))
        if self.comments or later:
            first = [shown(line.decode("utf-8", "replace")) for line in self.comments[:1]]
            which = f" (the first: {first[0]})" if first else ""
            notes.append(f"lines skipped as comments: {len(self.comments) + later:,}{which}")
        return notes

    def first_line_note(self, ids: Iterable[Any], times: Iterable[int]) -> list[str]:
        """Say so where a first line read as an edge may name columns: `a,b`, or ids of no other line.

        `times` says how often each of its two `ids` stands in the file.
        """
        names = list(map(str, ids))
        if self.columns or not self.guessed or any(map(is_number, names)):
            return []
        if max(times) > 1 and usual_pair(names, *LETTERS) is None:
            return []
        said = ", ".join(map(shown, names))
        column = spell_option("header", True)
        return [f"the first line ({said}) is read as an edge; {column} reads it as names of columns"]

    def integers(self) -> EdgeList | None:
        """Read integer ids, if there is nothing else."""
        ids = self.integer_ids()
        if ids is None:
            return None
        marks = min(17 * int(ids.max(initial=0)), 6 * ids.nbytes)  # of `compact`
        check_memory(self.path, len(self.content) + 2 * ids.nbytes + marks)
        known, ends = compact(ids.T)
        return EdgeList(ends, known)

    def names(self, as_text: bool) -> EdgeList | None:
        """Read text ids by a compiled reader, if nothing needs care."""
        found = named_edges(self.content, self.start, self.mark, self.ends, max_bytes())
        if found is None:
            return None
        self.width = found.width
        if as_text:
            return EdgeList(found.ends, found.ids)
        if all(map(is_number, found.ids)):  # integers, or a mistake that has a line
            return None
        return EdgeList(found.ends, found.ids, text_note(found.ids[at] for at in found.first))

    def anything(self, as_text: bool) -> EdgeList:
        """Read line by line, with care, and name the line of an error."""
        ends, names = numbered_names(self.any_ids(), str(self.path), len(self.content))
        return edges_of_names(ends.reshape(-1, 2).T, names, as_text, [], self._where)

    def weighted(self, edges: EdgeList, weights: str) -> EdgeList:
        """The same edges with the column `weights`, which the header names."""
        further = [name for place, name in enumerate(self.columns) if place not in self.ends]
        if weights not in further:
            there = f"there is {', '.join(map(shown, further[:10])) or 'no further column'}"
            unnamed = there if self.columns else "the first line must name the columns"
            hint = did_you_mean(weights, further[:98]) or f"; {unnamed}"
            raise ValueError(f"{self.path}: no weight column {shown(weights)} after the two ids{hint}")
        column = next(c for c, name in enumerate(self.columns) if name == weights and c not in self.ends)
        cells: Any = self._numbers(column)
        if cells is None or len(cells) != edges.ends.shape[1] or not (np.isfinite(cells) & (cells > 0)).all():
            check_memory(self.path, len(self.content) + _CELL_BYTES * edges.ends.shape[1])
            cells = [split_line(line, self.mark, self.path, number)[column] for number, line in self.lines()]
        points = decimal_points(cells) if isinstance(cells, list) and self.mark != "," else None
        notes = edges.notes if points is None else [*edges.notes, decimal_note([weights])]
        values = checked_weights(cells if points is None else points, self._where, weights)
        return replace(edges, notes=notes, weights=values)

    def _numbers(self, column: int) -> NDArray[np.float64] | None:
        """Read one column of a large plain file by pyarrow; None if the careful reader must."""
        content, mark = self.content, self.mark
        if len(content) < _LARGE or not self.plain:
            return None
        if mark is None:  # pyarrow takes one blank for one separator
            blanks = (b"\t", b"  ", b" \n", b" \r", b"\n ")
            odd = len(content.translate(None, _ODD)) < len(content)
            if not content.isascii() or odd or any(blank in content for blank in blanks):
                return None
        import pyarrow as pa
        from pyarrow import csv

        name = f"f{column}"
        try:
            table = csv.read_csv(
                pa.BufferReader(pa.py_buffer(content).slice(self.start)),
                read_options=csv.ReadOptions(autogenerate_column_names=True, block_size=_BLOCK),
                parse_options=csv.ParseOptions(delimiter=mark or " ", quote_char=False),
                convert_options=csv.ConvertOptions(
                    column_types={name: pa.float64()}, include_columns=[name], null_values=[]
                ),
            )
        except (pa.ArrowException, KeyError, ValueError):
            return None
        values: NDArray[np.float64] = table.column(0).to_numpy()
        return values


@kernel
def _skip_blanks(text: Any, at: int, mark: int) -> int:
    while at < len(text) and (text[at] == 32 or text[at] == 13 or (text[at] == 9 and mark != 9)):
        at += 1
    return at


@kernel
def line_ends(text: Any) -> Any:
    """The number of line ends in an array of bytes: many times as fast as `bytes.count`."""
    ends = 0
    for byte in text:
        ends += byte == 10
    return ends


@kernel
def parse_integers(text: Any, mark: int, one: int, other: int) -> Any:
    """Pairs of integers from lines of equal width; width 0 if there is anything out of the ordinary.

    `mark` is the separator, 32 for any run of blanks; `one` and `other` are the two columns.
    Further columns are skipped, but must be numbers.
    """
    ids = np.empty((line_ends(text) + 1, 2), np.int64)
    refused = ids[:0]
    count, width, at = 0, 0, 0
    while at < len(text):
        at = _skip_blanks(text, at, mark)
        if at < len(text) and (text[at] == 35 or text[at] == 37):
            if at + 1 < len(text) and text[at + 1] != 32 and (text[at + 1] < 9 or text[at + 1] > 13):
                return refused, 0  # no comment: an id may begin with the sign
            while at < len(text) and text[at] != 10:
                at += 1
        if at == len(text) or text[at] == 10:
            at += 1
            continue
        fields = 0
        while at < len(text) and text[at] != 10:
            first, value = at, 0
            while at < len(text) and 48 <= text[at] <= 57:
                value = 10 * value + text[at] - 48
                at += 1
            if fields in (one, other):
                if at == first or at - first > 18 or (text[first] == 48 and at - first > 1):
                    return refused, 0
                ids[count, 0 if fields == one else 1] = value
            else:
                while at < len(text) and (48 <= text[at] <= 57 or text[at] in (43, 45, 46, 69, 101)):
                    at += 1
                if at == first:
                    return refused, 0
            fields += 1
            after = at
            at = _skip_blanks(text, at, mark)
            if at == len(text) or text[at] == 10:
                break
            if mark == 32:
                if at == after:
                    return refused, 0
            else:
                if text[at] != mark:
                    return refused, 0
                at = _skip_blanks(text, at + 1, mark)
                if at == len(text) or text[at] == 10:
                    return refused, 0
        if fields <= max(one, other) or (width > 0 and fields != width):
            return refused, 0
        width = fields
        count += 1
    return ids[:count], width
