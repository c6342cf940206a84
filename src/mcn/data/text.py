"""Text files, line by line: opening, comments, separators, and where an error is."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from mcn.data.limits import brief, read_bytes, shown

BOM = b"\xef\xbb\xbf"
_INTEGER = re.compile(r"0|[1-9][0-9]{0,17}")
# No two parts of it can take the same digits, so that a long cell is refused in one pass.
_NUMBER = re.compile(r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf|infinity)", re.IGNORECASE)
_COMMENTS = ("#", "%")
_WHITE = " \t\x0b\x0c\x1c\x1d\x1e\x1f"  # ASCII that `str.strip` takes away, without line ends


def read_text(path: Path) -> str:
    """Return a text file's content without its byte order mark, and with plain line ends."""
    return decoded(read_bytes(path).removeprefix(BOM), path)


def decoded(content: bytes, path: Path, first: int = 1) -> str:
    """Return what `read_text` returns for some lines of a file, of which the `first` has this number."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + first
        raise ValueError(f"{path}, line {line}: not UTF-8 text (byte {content[error.start]:#04x})") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def data_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and content of every line that is neither empty nor a comment (`#`, `%`)."""
    number, start = 0, 0
    while start <= len(text):  # not all lines at once: a file can consist of line ends
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        line = text[start:stop]
        number, start = number + 1, stop + 1
        content = line.lstrip()
        if content and not content.startswith(_COMMENTS):
            yield number, line


def plain_columns(text: str, delimiter: str | None, width: int) -> tuple[list[int], list[list[str]]] | None:
    """Return the numbers of the lines below the header and their columns, if these need no care; else None.

    That is, if there are neither quotes nor comments nor blanks, so that a field is what stands between two
    separators, and all lines have `width` of them. It gives what `data_lines` and `split_line` give.
    """
    if delimiter is None or not text.isascii():
        return None
    if any(mark in text for mark in '"#%' + _WHITE.replace(delimiter, "")):
        return None
    lines = text.split("\n")
    numbers = [number for number, line in enumerate(lines, 1) if line.strip()][1:]
    rows = [lines[number - 1] for number in numbers]
    if any(row.count(delimiter) != width - 1 for row in rows):
        return None
    cells = delimiter.join(rows).split(delimiter) if rows else []
    return numbers, [cells[column::width] for column in range(width)]


def find_delimiter(line: str) -> str | None:
    """Return the separator of a line: a tab, comma or semicolon if it has one, else None for white space."""
    return next((mark for mark in ("\t", ",", ";") if mark in line.strip()), None)


def split_line(line: str, delimiter: str | None, path: Path, number: int) -> list[str]:
    """Split a line into fields without surrounding blanks; quoted fields may contain the separator."""
    if delimiter is None:
        return line.split()
    if '"' not in line:
        return [field.strip() for field in line.split(delimiter)]
    if line.count('"') % 2:
        raise ValueError(f"{path}, line {number}: a quote is not closed on its line: {shown(line.strip())}")
    try:
        fields = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    except (csv.Error, TypeError, ValueError) as error:
        raise ValueError(f"{path}, line {number}: not readable as quoted fields ({brief(error)})") from error
    return [field.strip() for field in fields]


def is_integer(field: str) -> bool:
    """Whether the field is a non-negative integer as one would write it (no sign, no leading zeros)."""
    return _INTEGER.fullmatch(field) is not None


def is_number(field: str) -> bool:
    """Whether the field reads as a number of any kind, NaN and infinity included."""
    return _NUMBER.fullmatch(field) is not None
