"""Edge lists in text files: one edge per line, two ids first.

An `EdgeText` is a file whose layout is known; it is read in blocks of whole lines, by `mcn.load_graph` and by
`mcn pack` alike. pyarrow reads the columns of a plain block, in which fields are what stands between
separators. Any other block is read line by line, with care; so is a block with a mistake, as that way knows
the line of every error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

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
    usual_pair,
)
from mcn.data.limits import also_in, check_memory, check_size, max_bytes, open_bytes, size_verb
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

_SAMPLE = 2**15  # bytes by which it is decided what the columns are
_HEAD = 2**16  # bytes that are read first, to find the first two lines
_BLOCK = 2**24  # bytes that are read at a time
_PIECE = 2**20  # bytes that pyarrow gives to a thread, and that are decoded at a time
_CELL_BYTES = 140  # of a cell with a weight
_NAME_BYTES = 200  # of a distinct id beside its text, as Python has it
_LARGEST_ID = 10**18  # longer integers are text
_LINE_END = ord("\n")
_ODD = bytes([0, 11, 12, 28, 29, 30, 31])  # what Python takes for white space, and NUL
_RUNS = (b"\t", b"  ", b" \n", b" \r", b"\n ")  # blanks that pyarrow does not take for one separator


class NamedEnds(NamedTuple):
    """Edges between distinct names: `names[codes[0, e]]` and `names[codes[1, e]]` are the ends of edge e.

    The names stand in the order in which they first appear.
    """

    names: list[str]
    codes: NDArray[np.integer[Any]]


Ends = NDArray[np.int64] | NamedEnds
"""The ends of some edges: integer ids [2, E], or names."""


def read_edge_text(
    path: Path, layout: Layout, *, as_text: bool = False, weights: str | None = None
) -> EdgeList:
    """Read a text edge list: two fields of a line are an edge; `weights` names a further one.

    Ids are integers if all of them are, otherwise text (or always, with `as_text`).
    """
    file = EdgeText.open(path, layout)
    parts: list[NDArray[np.int64]] = []
    place: dict[str, int] = {}
    texts, comments, held, named = 0, 0, 0, as_text

    def numbered(ends: Ends) -> NDArray[np.int64]:
        """The ends of some edges as places of names."""
        nonlocal texts
        names, codes = ends if isinstance(ends, NamedEnds) else _names_of(ends)
        known = len(place)
        places = np.array([place.setdefault(name, len(place)) for name in names], np.int64)
        texts += sum(map(len, islice(reversed(place), len(place) - known)))
        return np.asarray(places[codes])

    for block in file.blocks():
        check_size(path, block.end, size_verb(path))
        ends = block.ends(as_text, held)
        if isinstance(ends, NamedEnds) and not named:
            parts, named = [numbered(part) for part in parts], True
        parts.append(numbered(ends) if named else np.asarray(ends))
        comments += block.comments
        held = 2 * sum(part.nbytes for part in parts) + 4 * texts + _NAME_BYTES * len(place)
        check_memory(path, len(block.content) + held)
    ends = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    if named:
        edges = edges_of_names(ends, list(place), as_text, [], file.where)
    else:
        marks = min(17 * int(ends.max(initial=0)), 6 * ends.nbytes)  # of `compact`
        check_memory(path, held + ends.nbytes + marks)
        known, ends = compact(ends)
        edges = EdgeList(ends, known)
    notes = file.notes(comments, weights) + edges.notes
    if not as_text and edges.ends.shape[1] > 1 and not file.columns:
        first = edges.ends[:, 0]
        notes += file.first_line_note(edges.ids[first], np.bincount(edges.ends.ravel())[first])
    edges = replace(edges, notes=notes)
    return edges if weights is None else file.weighted(edges, weights)


def _names_of(ids: NDArray[np.int64]) -> NamedEnds:
    known, codes = compact(ids)
    return NamedEnds(list(map(str, known.tolist())), codes)


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


def _plain_ends(path: Path, content: bytes) -> bytes:
    """The content with `\\n` for every `\\r` that is a line end alone; no other byte moves."""
    if b"\r" not in content or content.count(b"\r") == content.count(b"\r\n"):
        return content
    check_memory(path, 3 * len(content))
    text = np.frombuffer(content, np.uint8).copy()
    lone = text == ord("\r")
    lone[:-1] &= text[1:] != _LINE_END
    text[lone] = _LINE_END
    return text.tobytes()


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


@dataclass(frozen=True)
class EdgeText:
    """An edge list in a text file, and how its lines are to be understood."""

    path: Path
    mark: str | None  # the separator, None for white space
    ends: tuple[int, int]  # the two columns that are an edge, source and target
    columns: list[str]  # the names in the header line, none if there is no such line
    width: int  # fields per line
    guessed: bool  # whether nobody said if there is a header line
    start: int  # where the first edge begins
    line: int  # the number of its line
    comments: list[bytes]  # before it

    @classmethod
    def open(cls, path: Path, layout: Layout) -> EdgeText:
        """Find out how a file is to be read, from its first two lines with data."""
        content, wanted = b"", _HEAD
        with open_bytes(path) as file:
            while True:
                content += file.read(wanted - len(content))
                check_size(path, len(content), size_verb(path))
                ended = len(content) < wanted
                whole = _plain_ends(path, content if ended else content[: content.rfind(b"\n") + 1])
                plain = whole.removeprefix(BOM)
                head = _head(path, plain)
                if ended or len(head) == 2:
                    break
                wanted *= 4
        check_encoding(content, path)
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
        start += len(whole) - len(plain)
        width, guessed = len(row if header else top), layout.header is None
        return cls(path, mark, ends, columns, width, guessed, start, line, comments)

    def blocks(self, size: int = _BLOCK) -> Iterator[Block]:
        """Yield the lines from the first edge on, in blocks of about `size` bytes."""
        end, line = self.start, self.line
        with open_bytes(self.path) as file:
            file.seek(end)
            while content := file.read(size):
                if not content.endswith(b"\n"):
                    rest = file.readline(max_bytes() // 64 + 1)
                    check_line(self.path, line, len(content) + len(rest) - size)
                    content += rest
                end += len(content)
                content = _plain_ends(self.path, content)
                yield Block(self, content, line, end)
                line += int(np.count_nonzero(np.frombuffer(content, np.uint8) == _LINE_END))

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield number and content of every line with an edge."""
        for block in self.blocks():
            yield from block.lines()

    def line_of(self, edge: int) -> int:
        """The number of the line that an edge stands in."""
        return next(islice(self.lines(), edge, None))[0]

    def where(self, edge: int) -> str:
        """Say where an edge stands."""
        return f"{self.path}, line {self.line_of(edge)}"

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

    def weighted(self, edges: EdgeList, weights: str) -> EdgeList:
        """The same edges with the column `weights`, which the header names."""
        further = [name for place, name in enumerate(self.columns) if place not in self.ends]
        if weights not in further:
            there = f"there is {', '.join(map(shown, further[:10])) or 'no further column'}"
            unnamed = there if self.columns else "the first line must name the columns"
            hint = did_you_mean(weights, further[:98]) or f"; {unnamed}"
            raise ValueError(f"{self.path}: no weight column {shown(weights)} after the two ids{hint}")
        column = next(c for c, name in enumerate(self.columns) if name == weights and c not in self.ends)
        cells: Any = self._numbers(column, edges.ends.shape[1])
        if cells is None:
            check_memory(self.path, _BLOCK + _CELL_BYTES * edges.ends.shape[1])
            cells = [split_line(line, self.mark, self.path, number)[column] for number, line in self.lines()]
        points = decimal_points(cells) if isinstance(cells, list) and self.mark != "," else None
        notes = edges.notes if points is None else [*edges.notes, decimal_note([weights])]
        values = checked_weights(cells if points is None else points, self.where, weights)
        return replace(edges, notes=notes, weights=values)

    def _numbers(self, column: int, count: int) -> NDArray[np.float64] | None:
        """Read a column of `count` positive numbers by pyarrow; None if the cells need care."""
        import pyarrow as pa

        values, done = np.empty(count), 0
        for block in self.blocks():
            found = block.columns((column,), pa.float64())
            if found is None:
                return None
            part = _array(found)
            values[done : done + len(part)] = part
            done += len(part)
        return values if (np.isfinite(values) & (values > 0)).all() else None


@dataclass(frozen=True)
class Block:
    """Some whole lines of an edge list."""

    file: EdgeText
    content: bytes
    line: int  # the number of the first of them
    end: int  # where they end in the file

    @cached_property
    def comments(self) -> int:
        """The number of comments among the lines."""
        return later_comments(self.content, 0)

    @cached_property
    def plain(self) -> bool:
        """Whether fields are what stands between separators, and all lines are edges."""
        content, mark = self.content, self.file.mark
        if b'"' in content or self.comments or self.file.width < 2:
            return False
        if mark is None:
            plain = len(content.translate(None, _ODD)) == len(content) == len(content.strip(b" "))
            return plain and content.isascii() and not any(blanks in content for blanks in _RUNS)
        if not mark.isascii() or mark.isalnum() or mark in ".+-":
            return False
        try:
            return content.isascii() or bool(content.decode("utf-8"))
        except UnicodeDecodeError:
            return False

    def columns(self, places: tuple[int, ...], kind: Any) -> list[Any] | None:
        """Read columns by pyarrow, all of one kind; None if the block, or a cell, needs care."""
        import pyarrow as pa
        from pyarrow import csv

        if not self.plain:
            return None
        names = [str(place) for place in range(self.file.width)]
        wanted = [names[place] for place in places]
        try:
            table = csv.read_csv(
                pa.BufferReader(self.content),
                read_options=csv.ReadOptions(column_names=names, block_size=_PIECE),
                parse_options=csv.ParseOptions(delimiter=self.file.mark or " ", quote_char=False),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, kind), include_columns=wanted, null_values=[]
                ),
            )
        except (pa.ArrowException, KeyError, ValueError):
            return None
        return [table.column(name) for name in wanted]

    def ends(self, as_text: bool = False, held: int = 0) -> Ends:
        """Read the ids of the edges; `held` bytes are in memory beside the block."""
        import pyarrow as pa

        numbers = None if as_text else self.columns(self.file.ends, pa.int64())
        if numbers is not None and not odd_zeros(np.frombuffer(self.content, np.uint8)):
            ids = _array(numbers)
            if ids.view(np.uint64).max() < _LARGEST_ID:  # below 0 it is larger
                return ids.reshape(2, -1)
        texts = self.columns(self.file.ends, pa.string())
        named = None if texts is None else self._named(texts, held)
        if named is None:
            codes, names = numbered_names(self._fields(), str(self.file.path), held + len(self.content))
            named = NamedEnds(names, codes.reshape(-1, 2).T)
        return named

    def _named(self, columns: list[Any], held: int) -> NamedEnds | None:
        """Number the distinct texts of two columns as they appear; None if one is empty."""
        import pyarrow as pa

        both = pa.chunked_array([chunk for column in columns for chunk in column.chunks]).dictionary_encode()
        distinct = both.chunk(0).dictionary
        check_memory(self.file.path, held + 4 * both.nbytes + _NAME_BYTES * len(distinct))
        codes = np.concatenate([np.from_dlpack(chunk.indices) for chunk in both.chunks])
        edges = codes.reshape(2, -1).T.ravel()
        first = np.empty(len(distinct), np.int64)
        first[edges[::-1]] = np.arange(len(edges))[::-1]  # of equal places the last one written stays
        order = np.argsort(first)
        texts = distinct.to_pylist()
        names = [texts[code].strip() for code in order.tolist()]
        place = {name: at for at, name in enumerate(dict.fromkeys(names))}
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        if len(place) < len(names):  # some differ by the blanks around them alone
            rank[order] = [place[name] for name in names]
        return None if "" in place else NamedEnds(list(place), rank[codes].reshape(2, -1))

    def line_of(self, edge: int) -> int:
        """The number of the line that an edge of the block stands in."""
        return next(islice(self.lines(), edge, None))[0]

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield number and content of every line with an edge."""
        start, line, path = 0, self.line, self.file.path
        while start < len(self.content):
            stop = self.content.find(b"\n", start + _PIECE) + 1 or len(self.content)
            check_line(path, line, stop - start - _PIECE)
            body = decoded(self.content[start:stop], path, line)
            for number, text in data_lines(body, begun=True):
                yield line + number - 1, text
            start, line = stop, line + body.count("\n")

    def _fields(self) -> Iterator[str]:
        """Yield both ids of one edge after the other, read with care; an error names its line."""
        file, (first, second) = self.file, self.file.ends
        problem, bad = "", []
        for number, line in self.lines():
            fields = split_line(line, file.mark, file.path, number)
            uneven = len(fields) != file.width or file.width < 2
            if uneven or not fields[first] or not fields[second]:
                expected = f"{file.width} as in line {file.line}" if file.width > 1 else "two node ids"
                what = f"{len(fields)} fields, expected {expected}" if uneven else "an empty node id"
                problem = problem or f"{file.path}, line {number}: {what}: {shown(line.strip())}"
                bad.append(number)
                continue
            yield fields[first]
            yield fields[second]
        if problem:
            raise ValueError(f"{problem}{also_in(bad[1:])}")


def _array(columns: list[Any]) -> NDArray[Any]:
    """The numbers of columns, one after the other."""
    # `to_numpy` would import pandas, if it is there.
    return np.concatenate([np.from_dlpack(chunk) for column in columns for chunk in column.chunks])


@kernel
def odd_zeros(text: Any) -> bool:
    """Whether a zero begins a longer number, or follows a sign, as in 007, 0x7 and -0.

    pyarrow takes these for integers.
    """
    odd = int(text[0] == 48 and (48 <= text[1] <= 57 or text[1] == 120 or text[1] == 88))
    left, middle, right = text[:-2], text[1:-1], text[2:]
    for p in range(len(middle)):
        before, zero, after = left[p], middle[p], right[p]
        begins = ((before < 48) | (before > 57)) & (before != 46)
        longer = ((after >= 48) & (after <= 57)) | (after == 120) | (after == 88)
        odd += (zero == 48) & begins & (longer | (before == 45) | (before == 43))
    return bool(odd)
