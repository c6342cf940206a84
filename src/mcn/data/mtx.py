"""Matrix Market files: the edges of a square matrix.

SciPy's reader is not used, because it can be crashed by a file: a blank behind the last number is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.data.border import check_nodes, read_bytes, shown

_FORMATS = ("coordinate", "array")
_NUMBERS = {"real": 1, "double": 1, "complex": 2, "integer": 1, "unsigned-integer": 1, "pattern": 0}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_ZERO, _ONE, _OTHER = 0, 1, 2
_INFINITY, _INF, _NAN = (np.array(list(word), np.uint8) for word in (b"infinity", b"inf", b"nan"))
_DONE, _BAD_LINE, _OUTSIDE, _TOO_MANY = 0, 1, 2, 3


@dataclass(frozen=True)
class Entries:
    """The stored entries of an n × n matrix: places from 0, and whether a value is 0, 1 or another."""

    n: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    nonzero: NDArray[np.bool_]
    weighted: bool


@dataclass(frozen=True)
class _Head:
    form: str
    numbers: int
    whole: bool
    symmetry: str
    sizes: list[int]
    end: int  # where the entries begin


def read_mtx(path: Path) -> Entries:
    """Read a Matrix Market file of any kind (coordinate or array; real, complex, integer or pattern).

    Raises:
        ValueError: names the line and what was expected there.
    """
    content = read_bytes(path)
    head = _head(content, path)
    n, columns = head.sizes[:2]
    if n != columns:
        raise ValueError(f"{path}: a matrix of shape {[n, columns]}; expected a square adjacency matrix")
    check_nodes(path, n)
    count = head.sizes[2] if head.form == "coordinate" else _array_size(n, head.symmetry)
    text = np.frombuffer(content, np.uint8)
    rows, cols, kinds, reason, at = _entries(
        text, head.end, 2 if head.form == "coordinate" else 0, head.numbers, head.whole, n, min(count, 2**62)
    )
    if reason != _DONE:
        _refuse(content, path, head, int(reason), int(at), count)
    if len(kinds) != count:
        raise _unreadable(path, f"{len(kinds):,} entries, but {count:,} are declared")
    if head.form == "array":
        rows, cols, kinds = _array_places(kinds, n, head.symmetry)
    elif head.symmetry != "general":
        apart = rows != cols
        rows, cols = np.concatenate([rows, cols[apart]]), np.concatenate([cols, rows[apart]])
        kinds = np.concatenate([kinds, kinds[apart]])
    weighted = bool((kinds == _OTHER).any() or (head.symmetry == "skew-symmetric" and (kinds != _ZERO).any()))
    return Entries(n, rows, cols, kinds != _ZERO, weighted)


def _unreadable(path: Path, why: str) -> ValueError:
    return ValueError(f"{path}: not a readable Matrix Market file ({why})")


def _head(content: bytes, path: Path) -> _Head:
    """The first line, and the sizes in the first line that is neither a comment nor blank."""
    stop = content.find(b"\n")
    top = content[: stop if stop >= 0 else len(content)][:1000].decode("latin-1")
    words = top.lower().split()
    if len(words) != 5 or words[0] not in ("%%matrixmarket", "%matrixmarket") or words[1] != "matrix":
        raise _unreadable(
            path,
            f"line 1 is {shown(top)}; expected '%%MatrixMarket matrix', a format, a field and a symmetry",
        )
    _, _, form, field, symmetry = words
    for word, known in ((form, _FORMATS), (field, tuple(_NUMBERS)), (symmetry, _SYMMETRIES)):
        if word not in known:
            raise _unreadable(path, f"line 1 has {shown(word)}; expected one of {', '.join(known)}")
    if form == "array" and field == "pattern":
        raise _unreadable(path, "line 1 asks for an array of pattern; a pattern has no values")
    number, at = 1, stop + 1
    while stop >= 0 and at < len(content):
        number += 1
        stop = content.find(b"\n", at)
        end = stop if stop >= 0 else len(content)
        line = content[at : min(end, at + 1000)].strip()
        at = end + 1
        if line and not line.startswith(b"%"):
            sizes = _sizes(line, 3 if form == "coordinate" else 2, path, number)
            whole = field in ("integer", "unsigned-integer")
            return _Head(form, _NUMBERS[field], whole, symmetry, sizes, min(at, len(content)))
    raise _unreadable(path, "no line with the sizes of the matrix")


def _sizes(line: bytes, wanted: int, path: Path, number: int) -> list[int]:
    words = line.split()
    if len(words) != wanted or not all(word.isdigit() and len(word) <= 18 for word in words):
        text = line.decode("latin-1")
        raise _unreadable(path, f"line {number} is {shown(text)}; expected {wanted} sizes")
    return [int(word) for word in words]


def _refuse(content: bytes, path: Path, head: _Head, reason: int, at: int, count: int) -> None:
    line = content.count(b"\n", 0, at) + 1
    stop = content.find(b"\n", at)
    text = shown(content[at : stop if stop >= 0 else len(content)][:100].decode("latin-1").strip())
    if reason == _OUTSIDE:
        raise _unreadable(path, f"line {line} is {text}; expected a row and a column in 1..{head.sizes[0]}")
    if reason == _TOO_MANY:
        raise _unreadable(path, f"line {line} is one entry more than the {count:,} that are declared")
    ids = "a row, a column and " if head.form == "coordinate" else ""
    what = f"{ids}{head.numbers} number{'s' * (head.numbers != 1)}" if head.numbers else "a row and a column"
    raise _unreadable(path, f"line {line} is {text}; expected {what}")


def _array_size(n: int, symmetry: str) -> int:
    if symmetry == "general":
        return n * n
    return n * (n - 1) // 2 if symmetry == "skew-symmetric" else n * (n + 1) // 2


def _array_places(
    kinds: NDArray[np.int8], n: int, symmetry: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]:
    """Where the values of a dense matrix that are not zero stand: column by column, of the lower half if it
    is symmetric.
    """
    found = np.flatnonzero(kinds)
    if symmetry == "general":
        return found % max(n, 1), found // max(n, 1), kinds[found]
    cols, rows = np.triu_indices(n, 1 if symmetry == "skew-symmetric" else 0)
    rows, cols, kinds = rows[found], cols[found], kinds[found]
    apart = rows != cols
    return (
        np.concatenate([rows, cols[apart]]),
        np.concatenate([cols, rows[apart]]),
        np.concatenate([kinds, kinds[apart]]),
    )


@kernel
def _blanks(text: Any, at: int) -> int:
    while at < len(text) and (text[at] == 32 or text[at] == 9 or text[at] == 13):
        at += 1
    return at


@kernel
def _word(text: Any, at: int, word: Any) -> int:
    """Where the lower-case `word` ends if the text goes on with it, in any case; else -1."""
    if at + len(word) > len(text):
        return -1
    for i in range(len(word)):
        if text[at + i] | 32 != word[i]:
            return -1
    return at + len(word)


@kernel
def _number(text: Any, at: int, whole: bool) -> Any:
    """Read a number: where it ends (-1 if there is none), and whether it is 0, 1 or another."""
    negative = at < len(text) and text[at] == 45
    if at < len(text) and (text[at] == 45 or text[at] == 43):
        at += 1
    if not whole:
        end = max(_word(text, at, _INFINITY), _word(text, at, _INF), _word(text, at, _NAN))
        if end >= 0:
            return end, _OTHER
    digits: Any = 0
    mantissa: Any = 0
    exponent: Any = 0
    rest = False
    pointed = False
    while at < len(text):
        if 48 <= text[at] <= 57:
            digits += 1
            digit = np.int64(text[at]) - 48
            if mantissa < 10**17:
                mantissa = 10 * mantissa + digit
                exponent -= pointed
            else:  # too long to hold: what matters is whether it is more than trailing zeros
                rest = rest or digit != 0
                exponent += not pointed
        elif text[at] == 46 and not pointed and not whole:
            pointed = True
        else:
            break
        at += 1
    if digits == 0:
        return -1, _OTHER
    if not whole and at < len(text) and text[at] | 32 == 101:
        at += 1
        down = at < len(text) and text[at] == 45
        if at < len(text) and (text[at] == 45 or text[at] == 43):
            at += 1
        first, power = at, np.int64(0)
        while at < len(text) and 48 <= text[at] <= 57:
            power = 10 * power + np.int64(text[at]) - 48 if power < 10**9 else power
            at += 1
        if at == first:
            return -1, _OTHER
        exponent += -power if down else power
    if mantissa == 0:
        return at, _ZERO if not rest else _OTHER
    while mantissa % 10 == 0:
        mantissa //= 10
        exponent += 1
    one = mantissa == 1 and exponent == 0 and not rest and not negative
    return at, _ONE if one else _OTHER


@kernel
def _entries(text: Any, at: int, ids: int, numbers: int, whole: bool, n: int, most: int) -> Any:
    """Read entries, one per line: `ids` places (two or none) in 1..n, then `numbers` values.

    Returns rows, columns, kinds of values, a reason to stop (`_DONE` if there was none) and its place.
    """
    room = 1
    for i in range(at, len(text)):
        room += text[i] == 10
    room = min(room, most)
    rows = np.empty(room if ids else 0, np.int64)
    columns = np.empty(room if ids else 0, np.int64)
    kinds = np.empty(room, np.int8)
    count = 0
    while at < len(text):
        start = at
        at = _blanks(text, at)
        if at < len(text) and text[at] == 37:
            while at < len(text) and text[at] != 10:
                at += 1
        if at == len(text) or text[at] == 10:
            at += 1
            continue
        if count == room:
            return rows, columns, kinds, _TOO_MANY, start
        for i in range(ids):
            first, value = at, np.int64(0)
            while at < len(text) and 48 <= text[at] <= 57:
                value = 10 * value + np.int64(text[at]) - 48 if at - first < 18 else np.int64(10**18)
                at += 1
            if at == first:
                return rows, columns, kinds, _BAD_LINE, start
            if value < 1 or value > n:
                return rows, columns, kinds, _OUTSIDE, start
            if i == 0:
                rows[count] = value - 1
            else:
                columns[count] = value - 1
            after = at
            at = _blanks(text, at)
            if at == after and at < len(text) and text[at] != 10:
                return rows, columns, kinds, _BAD_LINE, start
        kind = _ONE
        for i in range(numbers):
            end, one = _number(text, at, whole)
            if end < 0:
                return rows, columns, kinds, _BAD_LINE, start
            if i == 0:
                kind = one
            elif one != _ZERO:
                kind = _OTHER
            at = _blanks(text, end)
            if at == end and at < len(text) and text[at] != 10:
                return rows, columns, kinds, _BAD_LINE, start
        if at < len(text) and text[at] != 10:
            return rows, columns, kinds, _BAD_LINE, start
        kinds[count] = kind
        count += 1
        at += 1
    return rows[:count], columns[:count], kinds[:count], _DONE, 0
