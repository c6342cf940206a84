"""Text files, line by line: opening, comments, separators, and where an error is."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from graphmotifs._messages import brief, shown
from mcn.data.limits import check_memory, read_bytes

BOM = b"\xef\xbb\xbf"
_INTEGER = re.compile(r"0|[1-9][0-9]{0,17}")
# No two parts of it can take the same digits, so that a long cell is refused in one pass.
_NUMBER = re.compile(r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf|infinity)", re.IGNORECASE)
_COMMENT = re.compile(r"[ \t\r\x0b\x0c]*[#%](?P<blank>\s|\Z)?", re.ASCII)
_LATER_COMMENT = re.compile(rb"^[ \t\r\x0b\x0c]*[#%](?:\s|\Z)", re.MULTILINE)
_ENCLOSED = re.compile(r'"[^"]*"|\{.*\}')  # quoted, or what NetworkX writes of an edge's attributes
_WORD = re.compile(r'"(?:[^"]|"")*"(?!\S)|\S+')  # of a line whose fields stand between blanks
_DECIMAL_COMMA = re.compile(r"[+-]?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+),[0-9]+(e[+-]?[0-9]+)?", re.IGNORECASE)
_BLOCK = 2**20  # characters of which cells are made at a time
_MOST_COLUMNS = 10_000  # pyarrow takes some thousand bytes for each
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")
_SAVE = "save the file as UTF-8"
MISSING = ("", "na", "n/a", "nan", "?")
_WHITE = " \t\x0b\x0c\x1c\x1d\x1e\x1f"  # ASCII that `str.strip` takes away, without line ends


def read_text(path: Path) -> str:
    """Return a text file's content without its byte order mark, and with plain line ends."""
    content = read_bytes(path).removeprefix(BOM)
    largest = 0 if content.isascii() else np.frombuffer(content, np.uint8).max()
    width = 4 if largest >= 0xF0 else 2 if largest >= 0xC4 else 1  # bytes that Python takes per character
    check_memory(path, (1 + 3 * width) * len(content))  # as bytes and text, while line ends are replaced
    return decoded(content, path)


def decoded(content: bytes, path: Path, first: int = 1) -> str:
    """Return what `read_text` returns for some lines of a file, of which the `first` has this number."""
    check_encoding(content, path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line, byte = content.count(b"\n", 0, error.start) + first, content[error.start]
        raise ValueError(f"{path}, line {line}: not UTF-8 text (byte {byte:#04x}); {_SAVE}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_encoding(content: bytes, path: Path) -> None:
    """Refuse UTF-16, which begins with a mark or has a zero in every other byte."""
    zeros = len(content) >= 8 and not content[1:64:2].strip(b"\0")
    if zeros or content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{path}: UTF-16 text; {_SAVE}")


def check_line(path: Path, number: int, size: int) -> None:
    """Refuse a line of `size` bytes if its fields, one per byte at worst, take too much memory."""
    check_memory(f"{path}, line {number}", 64 * size)


def later_comments(content: bytes, start: int) -> int:
    """The number of comments from `start` on, which is behind the first line with data."""
    if content.find(b"#", start) < 0 and content.find(b"%", start) < 0:
        return 0
    return sum(1 for _ in _LATER_COMMENT.finditer(content, start))


def data_lines(text: str, begun: bool = False) -> Iterator[tuple[int, str]]:
    """Yield number and content of every line that is neither empty nor a comment.

    A comment begins with `#` or `%`. From the first line with data on (`begun`: it came before), a blank must
    follow the sign: `#a,b` is an edge from the node `#a`.
    """
    number, start = 0, 0
    while start <= len(text):  # not all lines at once: a file can consist of line ends
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        line = text[start:stop]
        number, start = number + 1, stop + 1
        sign = _COMMENT.match(line)
        if line.strip() and (sign is None or (begun and sign["blank"] is None)):
            begun = True
            yield number, line


def plain_columns(
    text: str, delimiter: str | None, width: int
) -> tuple[Sequence[int], list[list[str]]] | None:
    """Return the numbers of the lines below the header and their columns, if these need no care; else None.

    That is, if there are neither quotes nor comments nor blanks nor empty lines, so that a field is what
    stands between two separators, and all lines have `width` of them. It gives what `data_lines` and
    `split_line` give.
    """
    body = text.rstrip("\n")
    if delimiter is None or width > _MOST_COLUMNS or not body.isascii() or "\n\n" in body or body[0] == "\n":
        return None
    if any(mark in body for mark in '"#%' + _WHITE.replace(delimiter, "")):
        return None
    if delimiter.isspace() and f"\n{delimiter * (width - 1)}\n" in f"{body}\n":  # an empty line too
        return None
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = [str(place) for place in range(width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(body.encode()),
            read_options=arrow_csv.ReadOptions(column_names=names, skip_rows=1, block_size=_BLOCK),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, quote_char=False),
            convert_options=arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    except (pa.ArrowException, ValueError):
        return None
    return range(2, table.num_rows + 2), [column.to_pylist() for column in table.columns]


def find_delimiter(line: str) -> str | None:
    """Return the separator of a line: a tab, comma or semicolon if it has one, else None for white space.

    What is quoted does not count, nor do the commas of numbers between semicolons or blanks: `1;2;0,5`.
    """
    bare = _ENCLOSED.sub('""', line.strip())
    for mark in ("\t", ";", None):
        fields = bare.split(mark)
        numbers = [field for field in fields if has_decimal_comma(field.strip())]
        if numbers and bare.count(",") == len(numbers) <= len(fields) - 2:
            return mark
    return next((mark for mark in ("\t", ",", ";") if mark in bare), None)


def split_line(line: str, delimiter: str | None, path: Path, number: int) -> list[str]:
    """Split a line into fields without surrounding blanks; quoted fields may contain the separator."""
    if '"' not in line:
        return [field.strip() for field in line.split(delimiter)]  # None: any run of blanks
    if line.count('"') % 2:
        raise ValueError(f"{path}, line {number}: a quote is not closed on its line: {shown(line.strip())}")
    if delimiter is None:
        words = _WORD.findall(line)
        return [
            word[1:-1].replace('""', '"').strip() if word[0] == word[-1] == '"' else word for word in words
        ]
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


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value: empty, NA, N/A, nan or ?."""
    return len(cell) < 4 and cell.lower() in MISSING


def has_decimal_comma(cell: str) -> bool:
    """Whether the field is a number such as `0,5` or `1.234,5`."""
    return "," in cell and _DECIMAL_COMMA.fullmatch(cell) is not None


def without_thousands(cells: Sequence[str]) -> list[str] | None:
    """Return the cells without separators of thousands, if some have such and all are numbers; else None.

    >>> without_thousands(["1,023", "7", "1,250,000.5", "NA"]), without_thousands(["1,023", "x"])
    (['1023', '7', '1250000.5', 'NA'], None)
    """
    grouped = {cell for cell in set(cells) if "," in cell and _THOUSANDS.fullmatch(cell)}
    others = (cell for cell in set(cells) - grouped if not is_missing(cell))
    if not grouped or not all(map(is_number, others)):
        return None
    return [cell.replace(",", "") if cell in grouped else cell for cell in cells]


def decimal_note(names: Sequence[str]) -> str:
    """Say that decimal commas were read in the columns of these names."""
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"decimal commas read as points (0,5 is 0.5) in {', '.join(map(shown, names[:5]))}{more}"


def decimal_points(cells: Sequence[str]) -> list[str] | None:
    """Return the cells with points for decimal commas, if they have some and no other fractions; else None.

    >>> decimal_points(["0,5", "1.234,25", "7", "NA"]), decimal_points(["0,5", "0.5"])
    (['0.5', '1234.25', '7', 'NA'], None)
    """
    commas = {cell for cell in set(cells) if has_decimal_comma(cell)}
    others = (cell for cell in set(cells) - commas if not is_missing(cell))
    if not commas or not all(cell.lstrip("+-").isdigit() and is_number(cell) for cell in others):
        return None
    return [cell.replace(".", "").replace(",", ".") if cell in commas else cell for cell in cells]
