"""Edge lists in text files of any size, read block by block.

Blocks of plain integers take the compiled path of `mcn.data.edge_text`; anything else the careful one, which
knows the line of every error.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcn.data.edge_text import find_layout, parse_integers
from mcn.data.limits import check_size, shown
from mcn.data.text import data_lines, split_line

_BOM = b"\xef\xbb\xbf"


class Block(NamedTuple):
    """Some lines of an edge list: integer ids [2, E], or names, two for each edge."""

    ids: NDArray[np.int64] | None
    names: list[str]
    content: bytes
    line: int  # number of its first line
    end: int  # where the next block begins in the (unpacked) file
    next_line: int

    @property
    def num_edges(self) -> int:
        """Edges of the block."""
        return len(self.names) // 2 if self.ids is None else self.ids.shape[1]


class TextEdges:
    """The edges of a text file.

    Args:
        path: a csv, tsv, txt, edges or edgelist file, also with `.gz`.
        delimiter: separator; found from the first line if not given.
        header: whether there is a header line; found from the first lines if not given.
        size: bytes of a block.

    Raises:
        ValueError: no edges, or a damaged file; names the file and the line.
    """

    def __init__(
        self, path: Path, delimiter: str | None = None, header: bool | None = None, size: int = 2**24
    ) -> None:
        self.path, self._size = path, size
        with self._open() as file:
            content = self._read(file, max(size, 2**16))
        self.mark, skip, head = find_layout(path, content.removeprefix(_BOM), delimiter, header)
        self._start = head[skip][0] + (len(_BOM) if content.startswith(_BOM) else 0)
        self._first = content.count(b"\n", 0, self._start) + 1
        self.width = 0
        self._width_line = 0

    def blocks(self, start: int = 0, line: int = 0) -> Iterator[Block]:
        """Yield the blocks from a place on: the beginning, or the `end` and `next_line` of another block."""
        start, line = (start, line) if start else (self._start, self._first)
        with self._open() as file:
            self._seek(file, start)
            rest = b""
            while True:
                piece = self._read(file, self._size)
                content = rest + piece
                cut = content.rfind(b"\n") + 1 if piece else len(content)
                if not cut and piece:  # a line longer than a block
                    check_size(self.path, len(content), "has a line of")
                    rest = content
                    continue
                if not content:
                    return
                content, rest = content[:cut], content[cut:]
                start += cut
                below = line + content.count(b"\n")
                yield self._parsed(content, line, start, below)
                line = below
                if not piece:
                    return

    def line_of(self, block: Block, edge: int) -> int:
        """The line that an edge of a block stands in."""
        return next(islice(self._lines(block.content, block.line), edge, None))[0]

    def _parsed(self, content: bytes, line: int, end: int, below: int) -> Block:
        plain = b'"' not in content and content.count(b"\r") == content.count(b"\r\n")
        if plain and (self.mark is None or (len(self.mark) == 1 and self.mark.isascii())):
            ids, width = parse_integers(np.frombuffer(content, np.uint8), ord(self.mark) if self.mark else 32)
            if width >= 2 and self.width in (0, width):
                if not self.width:
                    self.width, self._width_line = width, line
                return Block(np.ascontiguousarray(ids.T), [], content, line, end, below)
        return Block(None, self._names(content, line), content, line, end, below)

    def _names(self, content: bytes, line: int) -> list[str]:
        names: list[str] = []
        for number, text in self._lines(content, line):
            fields = split_line(text, self.mark, self.path, number)
            if not self.width:
                self.width, self._width_line = len(fields), number
            if len(fields) != self.width or self.width < 2:
                expected = f"{self.width} as in line {self._width_line}" if self.width > 1 else "two node ids"
                raise ValueError(
                    f"{self.path}, line {number}: {len(fields)} fields, expected {expected}: "
                    f"{shown(text.strip())}"
                )
            if not fields[0] or not fields[1]:
                raise ValueError(f"{self.path}, line {number}: an empty node id: {shown(text.strip())}")
            names += fields[:2]
        return names

    def _lines(self, content: bytes, line: int) -> Iterator[tuple[int, str]]:
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            number = line + content.count(b"\n", 0, error.start)
            raise ValueError(
                f"{self.path}, line {number}: not UTF-8 text (byte {content[error.start]:#04x})"
            ) from error
        for number, one in data_lines(text.replace("\r\n", "\n").replace("\r", "\n")):
            yield line + number - 1, one

    def _open(self) -> IO[bytes]:
        if self.path.suffix.lower() == ".gz":
            return gzip.open(self.path)  # type: ignore[return-value]
        return self.path.open("rb")

    def _read(self, file: IO[bytes], size: int) -> bytes:
        try:
            return file.read(size)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(
                f"{self.path}: not a readable gzip file, damaged or truncated ({error})"
            ) from error

    def _seek(self, file: IO[bytes], place: int) -> None:
        try:
            file.seek(place)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(
                f"{self.path}: not a readable gzip file, damaged or truncated ({error})"
            ) from error
