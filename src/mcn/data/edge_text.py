"""Edge lists in text files: one edge per line, two ids first."""

from __future__ import annotations

from array import array
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn._names import did_you_mean
from mcn.data.arrow import LARGE, text_numbers
from mcn.data.border import read_bytes, shown
from mcn.data.edge_list import EdgeList, checked_weights, compact, further_note, sorted_ids
from mcn.data.edge_names import named_edges
from mcn.data.text import data_lines, find_delimiter, is_integer, is_number, read_text, split_line

_HEADERS = {
    ("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("i", "j"), ("a", "b"),
    ("node1", "node2"), ("id1", "id2"), ("id_1", "id_2"), ("node_1", "node_2"), ("head", "tail"),
    ("start", "end"), ("source_id", "target_id"), ("fromnodeid", "tonodeid"),
}  # fmt: skip


def read_edge_text(
    path: Path,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    as_text: bool = False,
    weights: str | None = None,
) -> EdgeList:
    """Read a text edge list: the first two fields of a line are an edge; `weights` names a further one.

    Ids are integers if all of them are, otherwise text (or always, with `as_text`). Plain files of integers
    take a compiled path, and so do large plain files of text; everything else, and every error, the careful
    one.
    """
    found = _read_fast(path, delimiter, header, as_text) or _read_careful(path, delimiter, header, as_text)
    return found if weights is None else _weighted(found, path, delimiter, header, weights)


def line_of_edge(path: Path, edge: int, header: bool | None, delimiter: str | None) -> int:
    """Find the line that an edge stands in, for error messages."""
    text = read_text(path)
    _, skip = _layout(path, list(islice(data_lines(text), 2)), delimiter, header)
    return next(islice(data_lines(text), edge + skip, None))[0]


def _layout(
    path: Path, first: list[tuple[int, str]], delimiter: str | None, header: bool | None
) -> tuple[str | None, int]:
    """Separator and number of header lines, from the first two lines with data."""
    if not first:
        raise ValueError(f"{path}: no edges; expected lines of two node ids")
    if delimiter is None:
        delimiter = find_delimiter(first[0][1])
    elif delimiter == " ":
        delimiter = None
    if header is None:
        top, *below = [split_line(line, delimiter, path, number)[:2] for number, line in first]
        named = tuple(name.lower() for name in top) in _HEADERS
        above_numbers = bool(below) and all(map(is_integer, below[0])) and not any(map(is_number, top))
        header = named or above_numbers
    if header and len(first) == 1:
        raise ValueError(f"{path}: a header ({shown(first[0][1].strip())}) but no edges")
    return delimiter, int(header)


def _doubts(names: list[str], ids: NDArray[Any]) -> list[str]:
    """Say so where a header was recognised by its names and one of them is a node's name as well."""
    both = [name for name in names if ids.dtype == object and name in ids[np.searchsorted(ids, name) :][:1]]
    if not both:
        return []
    return [
        f"the first line ({', '.join(map(shown, names))}) is read as a header, but {shown(both[0])} is a node"
        " as well; header=False reads it as an edge"
    ]


def _read_careful(path: Path, delimiter: str | None, header: bool | None, as_text: bool) -> EdgeList:
    text = read_text(path)
    head = list(islice(data_lines(text), 2))
    delimiter, skip = _layout(path, head, delimiter, header)
    width, top_line = 0, 0
    index: dict[str, int] = {}
    ends = array("q")
    for number, line in islice(data_lines(text), skip, None):
        fields = split_line(line, delimiter, path, number)
        if not top_line:
            width, top_line = len(fields), number
        if len(fields) != width or width < 2:
            expected = f"{width} as in line {top_line}" if width > 1 else "two node ids"
            raise ValueError(
                f"{path}, line {number}: {len(fields)} fields, expected {expected}: {shown(line.strip())}"
            )
        for name in fields[:2]:
            if not name:
                raise ValueError(f"{path}, line {number}: an empty node id: {shown(line.strip())}")
            ends.append(index.setdefault(name, len(index)))
    names = list(index)
    notes = further_note(width - 2)
    if not as_text and not all(map(is_integer, names)):
        bad = bad_number(names)
        if bad is not None:
            edge = ends.index(bad) // 2
            line_number = next(islice(data_lines(text), edge + skip, None))[0]
            raise ValueError(
                f"{path}, line {line_number}: node id {shown(names[bad])}; expected a non-negative integer "
                "or a name"
            )
        odd = next(name for name in names if not is_integer(name))
        notes.append(f"node ids are read as text (for instance {shown(odd)})")
    ids, order = sorted_ids(names, as_text=as_text)
    position = np.empty(len(ids), np.int64)
    position[order] = np.arange(len(ids))
    if skip and header is None:
        notes += _doubts(split_line(head[0][1], delimiter, path, head[0][0])[:2], ids)
    return EdgeList(position[np.frombuffer(ends, np.int64).reshape(-1, 2).T], ids, notes)


def bad_number(names: list[str]) -> int | None:
    """The first id that is no integer where all are numbers; among names, some may look like numbers."""
    bad = (place for place, name in enumerate(names) if is_number(name) and not name.isdigit())
    return next(bad, None) if all(map(is_number, names)) else None


def _read_fast(path: Path, delimiter: str | None, header: bool | None, as_text: bool) -> EdgeList | None:
    """Read a plain file, or return None if anything in it needs the careful reader."""
    content = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        return None
    quotes = content.count(b'"', 0, content.find(b"\n") + 1)
    if quotes % 2 or content.find(b'"', content.find(b"\n") + 1) >= 0:
        return None
    mark, skip, head = find_layout(path, content, delimiter, header)
    if mark is not None and (len(mark) != 1 or not mark.isascii()):
        return None
    start = head[skip][0]
    if quotes and start == 0:  # the header may be quoted, but this is an edge
        return None
    if not as_text:
        ids, width = parse_integers(np.frombuffer(content, np.uint8)[start:], ord(mark) if mark else 32)
        if width >= 2:
            known, ends = compact(ids.T)
            return EdgeList(ends, known, further_note(width - 2))
    found = named_edges(content, start, mark) if len(content) >= LARGE else None
    if found is None:
        return None
    notes = further_note(found.width - 2)
    if not as_text:
        if all(map(is_number, found.ids)):  # integers, or a mistake that has a line
            return None
        in_order = (found.ids[at] for at in found.first)
        odd = next(name for name in in_order if not is_integer(name))
        notes.append(f"node ids are read as text (for instance {shown(odd)})")
    if skip and header is None:
        notes += _doubts(split_line(head[0][1], mark, path, 1)[:2], found.ids)
    return EdgeList(found.ends, found.ids, notes)


def find_layout(
    path: Path, content: bytes, delimiter: str | None, header: bool | None
) -> tuple[str | None, int, list[tuple[int, str]]]:
    """Separator, number of header lines, and the first two lines with data with where they start."""
    head: list[tuple[int, str]] = []
    numbered: list[tuple[int, str]] = []
    start, number = 0, 1
    while start < len(content) and len(head) < 2:
        stop = content.find(b"\n", start)
        stop = len(content) if stop < 0 else stop
        line = content[start:stop].decode("utf-8", "replace")
        found = [text for _, text in data_lines(line)]
        head += [(start, text) for text in found]
        numbered += [(number, text) for text in found]
        start, number = stop + 1, number + 1
    return *_layout(path, numbered, delimiter, header), head


def _weighted(
    found: EdgeList, path: Path, delimiter: str | None, header: bool | None, weights: str
) -> EdgeList:
    """The same edges with the column `weights`, which the header names."""
    text = read_text(path)
    top = list(islice(data_lines(text), 2))
    mark, skip = _layout(path, top, delimiter, header)
    names = split_line(top[0][1], mark, path, top[0][0]) if skip else []
    if weights not in names[2:]:
        near = did_you_mean(weights, names[2:100])
        there = (
            f"; there is {', '.join(map(shown, names[2:12]))}"
            if names[2:]
            else "; there is no further column"
        )
        hint = near or (there if skip else "; the first line must name the columns")
        raise ValueError(f"{path}: no weight column {shown(weights)} after the two ids{hint}")
    column = names.index(weights, 2)
    notes = [note for note in found.notes if "further column" not in note] + further_note(len(names) - 3)
    content = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    start = find_layout(path, content, delimiter, header)[2][1][0]
    cells: Any = text_numbers(content, start, mark, column)
    if cells is None or len(cells) != found.ends.shape[1] or not (np.isfinite(cells) & (cells > 0)).all():
        lines = islice(data_lines(text), skip, None)
        cells = [split_line(line, mark, path, number)[column] for number, line in lines]

    def where(edge: int) -> str:
        return f"{path}, line {next(islice(data_lines(text), edge + skip, None))[0]}"

    return EdgeList(found.ends, found.ids, notes, checked_weights(cells, where, weights))


@kernel
def _skip_blanks(text: Any, at: int, mark: int) -> int:
    while at < len(text) and (text[at] == 32 or text[at] == 13 or (text[at] == 9 and mark != 9)):
        at += 1
    return at


@kernel
def parse_integers(text: Any, mark: int) -> Any:
    """Pairs of integers from lines of equal width; width 0 if there is anything out of the ordinary.

    `mark` is the separator, 32 for any run of blanks. Further columns are skipped, but must be numbers.
    """
    lines = 1
    for byte in text:
        lines += byte == 10
    ids = np.empty((lines, 2), np.int64)
    refused = ids[:0]
    count, width, at = 0, 0, 0
    while at < len(text):
        at = _skip_blanks(text, at, mark)
        if at < len(text) and (text[at] == 35 or text[at] == 37):
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
            if fields < 2:
                if at == first or at - first > 18 or (text[first] == 48 and at - first > 1):
                    return refused, 0
                ids[count, fields] = value
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
        if fields < 2 or (width > 0 and fields != width):
            return refused, 0
        width = fields
        count += 1
    return ids[:count], width
