"""Text ids from plain edge lists: a compiled reader.

pyarrow needs about twice the processor time to number names: see `benchmarks/reading.py`.

Every id is looked up in a table of its bytes, of which an entry is half a cache line: the 16 bytes of a short
id, or a hash of a long one (whose bytes are then compared as well), and its number with its length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmotifs._jit import kernel

_BLOCK = 2048  # ids that are looked up in one go, so that the waits for memory overlap
_PIECE = 1 << 14  # bytes whose separators are found in one go, which vectors do
_ENTRY_BYTES = 240  # per distinct id: tables of both sizes while one grows, and places
_NAME_BYTES = 180  # per distinct id, beside its text: as it is sorted and made Python's
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_ZERO, _ONE, _SIXTEEN, _HALF, _LOW = (np.uint64(number) for number in (0, 1, 16, 32, 0xFFFFFFFF))


class NamedEdges(NamedTuple):
    """Edges of numbered ids.

    ends: int64 [2, E]. ids: Python strings in ascending order. width: fields per line. first: the position
    among `ids` of each of them in the order of their first line.
    """

    ends: NDArray[np.int64]
    ids: NDArray[Any]
    width: int
    first: NDArray[np.int32]


def named_edges(
    content: bytes, start: int, mark: str | None, ends: tuple[int, int], most: int
) -> NamedEdges | None:
    """Read the ids of a plain text file, in the columns `ends`.

    None if anything needs the careful reader, or this one would take more than `most` bytes of memory.
    """
    text = np.frombuffer(content, np.uint8)
    how = (ord(mark) if mark else 32, *sorted(ends), most - len(content))
    codes, starts, sizes, width, plain = _read(text, start, len(content), *how)
    held = len(content) + 3 * codes.nbytes + _NAME_BYTES * len(starts)
    if width <= 0 or held + (4 if plain else 10) * int(sizes.sum()) > most:
        return None
    names = _names(content, _joined(text, starts, sizes).tobytes(), plain)
    if names is None:
        return None
    order = _order(text, starts, sizes, names)
    position = np.empty(len(names), np.int32)
    position[order] = np.arange(len(names), dtype=np.int32)
    placed = np.empty((2, len(codes)), np.int64)
    _set_ends(codes, position, placed)
    ids = np.empty(len(names), object)
    ids[:] = names
    return NamedEdges(placed if ends[0] < ends[1] else placed[::-1], ids[order], int(width), position)


def _names(content: bytes, lines: bytes, plain: bool) -> list[str] | None:
    """The ids as text; None if the file is none, or an id has blanks around it that are not ASCII."""
    try:
        if not plain:
            content.decode("utf-8")  # what is not read here must be text as well
        names = lines.decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError:
        return None
    return names if plain or all(name == name.strip() for name in names) else None


def _order(text: Any, starts: Any, sizes: Any, names: list[str]) -> NDArray[np.int64]:
    """Return the order of the ids by their bytes, which is that of their characters."""
    first, second = _prefixes(text, starts, sizes)
    order = np.lexsort((second, first))
    same = (first[order][1:] == first[order][:-1]) & (second[order][1:] == second[order][:-1])
    if same.any():  # ids that begin with the same 16 bytes
        bounds = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
        for at, stop in bounds.reshape(-1, 2).tolist():
            order[at : stop + 1] = sorted(order[at : stop + 1].tolist(), key=names.__getitem__)
    return order


@kernel
def _slot(first: Any, second: Any, mask: Any) -> Any:
    mixed = (first ^ (second * _FACTOR)) * _FACTOR
    mixed ^= mixed >> _HALF
    return (mixed * _FACTOR >> np.uint64(20)) & mask


@kernel
def _grown(table: Any) -> Any:
    """A table of twice the size with the same entries."""
    larger = np.zeros((2 * len(table), 4), np.uint64)
    mask = np.uint64(len(larger) - 1)
    for old in range(len(table)):
        if table[old, 2] == _ZERO:
            continue
        slot = _slot(table[old, 0], table[old, 1], mask)
        while larger[slot, 2] != _ZERO:
            slot = (slot + _ONE) & mask
        larger[slot, 0], larger[slot, 1], larger[slot, 2] = table[old, 0], table[old, 1], table[old, 2]
    return larger


@kernel
def _with_room(table: Any, starts: Any, sizes: Any, needed: int) -> Any:
    """The three with room for so many ids; the table stays half empty."""
    while 2 * needed > len(table):
        table = _grown(table)
    if needed > len(starts):
        more = np.empty(max(needed, len(starts)), np.int64)
        starts, sizes = np.concatenate((starts, more)), np.concatenate((sizes, more))
    return table, starts, sizes


@kernel
def _same(text: Any, one: Any, other: Any, size: Any) -> bool:
    for p in range(size):  # noqa: SIM110 (numba has no all())
        if text[one + p] != text[other + p]:
            return False
    return True


@kernel
def _number(
    text: Any, table: Any, block: Any, place: Any, used: int, starts: Any, sizes: Any, out: Any
) -> int:
    """Write the number of every id of a block to `out`; the table has room for all of them to be new."""
    mask = np.uint64(len(table) - 1)
    touched = _ZERO
    for b in range(len(out)):  # no entry waits for another: they are fetched together
        slot = _slot(block[b, 0], block[b, 1], mask)
        block[b, 3] = slot
        touched |= table[slot, 2]
    block[len(out), 3] = touched  # kept, so that the loop is not left out as useless
    for b in range(len(out)):
        first, second, size, slot = block[b, 0], block[b, 1], block[b, 2], block[b, 3]
        while True:
            entry = table[slot, 2]
            if (table[slot, 0] == first) & (table[slot, 1] == second) & ((entry & _LOW) == size):
                known = np.int64(entry >> _HALF) - 1
                if size <= _SIXTEEN or _same(text, starts[known], place[b], np.int64(size)):
                    out[b] = known
                    break
            elif entry == _ZERO:
                table[slot, 0], table[slot, 1] = first, second
                table[slot, 2] = (np.uint64(used + 1) << _HALF) | size
                starts[used], sizes[used] = place[b], np.int64(size)
                out[b] = used
                used += 1
                break
            slot = (slot + _ONE) & mask
    return used


@kernel
def _look(text: Any, start: int, stop: int, mark: int) -> Any:
    """Count line ends, control characters that have no place in a plain file, and bytes beyond ASCII."""
    lines = odd = beyond = 0
    for p in range(start, stop):
        lines += text[p] == 10
    for p in range(start, stop):
        byte = text[p]
        odd += (byte < 32) & (byte != 10) & (byte != 13) & (byte != mark)
    for p in range(start, stop):
        beyond += text[p] >= 128
    return lines, odd, beyond


@kernel
def _separators(text: Any, start: int, stop: int, mark: int, out: Any) -> int:
    """Write where separators and line ends stand, counted from `start`; return their number."""
    piece = text[start:stop]
    count = 0
    for p in range(len(piece)):
        if piece[p] == 10 or piece[p] == mark:
            out[count] = p
            count += 1
    return count


@kernel
def _prefix(text: Any, begin: Any, size: Any) -> Any:
    """The first 16 bytes of an id as two numbers that sort as the bytes do."""
    first = second = _ZERO
    for p in range(min(size, 8)):
        first |= np.uint64(text[begin + p]) << np.uint64(56 - 8 * p)
    for p in range(8, min(size, 16)):
        second |= np.uint64(text[begin + p]) << np.uint64(120 - 8 * p)
    return first, second


@kernel
def _key(text: Any, begin: Any, size: Any) -> Any:
    """Two words that stand for an id: its bytes if they are 16 at most, else a hash of them."""
    first, second = _prefix(text, begin, size)
    for p in range(16, size):
        first = (first ^ np.uint64(text[begin + p])) * _FACTOR
        second += first >> _HALF
    return first, second


@kernel
def _read(text: Any, start: int, stop: int, mark: int, one: int, other: int, most: int) -> Any:
    """Number two fields of every line, `one` before the `other`; width -1 if anything is out of the ordinary,
    or takes more than `most` bytes.

    Returns:
        The numbers [E, 2], where each distinct id first stands and how long it is, the fields per line (0 if
        there is no line) and whether all is ASCII.
    """
    lines, odd, beyond = _look(text, start, stop, mark)
    codes = np.empty((lines + 1, 2), np.int32)
    flat = codes.reshape(-1)
    table = np.zeros((1 << 14, 4), np.uint64)
    starts, sizes = np.empty(1 << 12, np.int64), np.empty(1 << 12, np.int64)
    block, place = np.empty((_BLOCK + 1, 4), np.uint64), np.empty(_BLOCK, np.int64)
    refused = (codes[:0], starts[:0], sizes[:0], -1, False)
    ids = (most - codes.nbytes) // _ENTRY_BYTES - _BLOCK
    if ids < 0 or odd > 0 or (mark == 32 and beyond > 0):  # some characters beyond ASCII are blanks
        return refused
    found = np.empty(_PIECE + 1, np.uint32)
    begin, final = np.uint64(start), np.uint64(stop)
    done, held, used, width, fields = 0, 0, 0, 0, 0
    comment = False
    for piece in range(start, stop, _PIECE):
        last = min(stop, piece + _PIECE)
        count = _separators(text, piece, last, mark, found)
        if last == stop and text[stop - 1] != 10:  # the last line has no end
            found[count] = stop - piece
            count += 1
        for s in range(count):
            at = np.uint64(piece) + np.uint64(found[s])
            ended = at == final or text[at] == 10
            first, end = begin, at
            begin = at + _ONE
            if comment:
                comment = not ended
                continue
            while first < end and text[first] == 32:
                first += _ONE
            while end > first and (text[end - _ONE] == 32 or text[end - _ONE] == 13):
                end -= _ONE
            if fields == 0 and first < final and (text[first] == 35 or text[first] == 37):
                after = first + _ONE  # a comment has a blank after the sign
                if after == final or text[after] == 32 or 9 <= text[after] <= 13:
                    comment = not ended
                    continue
            empty = first == end
            if not empty or (mark != 32 and (fields > 0 or not ended)):
                if fields in (one, other):
                    if empty:
                        return refused
                    size = np.int64(end - first)
                    block[held, 0], block[held, 1] = _key(text, np.int64(first), size)
                    block[held, 2], place[held] = end - first, np.int64(first)
                    held += 1
                fields += 1
            if not ended or fields == 0:
                continue
            if fields <= other or (width > 0 and fields != width):
                return refused
            width, fields = fields, 0
            if held > _BLOCK - 2:
                if used > ids:
                    return refused
                table, starts, sizes = _with_room(table, starts, sizes, used + held)
                used = _number(text, table, block, place, used, starts, sizes, flat[done : done + held])
                done, held = done + held, 0
    table, starts, sizes = _with_room(table, starts, sizes, used + held)
    used = _number(text, table, block, place, used, starts, sizes, flat[done : done + held])
    return codes[: (done + held) // 2], starts[:used], sizes[:used], width, beyond == 0


@kernel
def _set_ends(codes: Any, position: Any, ends: Any) -> None:
    """Write the positions of the numbered ids to `ends` [2, E], without another array of that size."""
    for e in range(len(codes)):
        ends[0, e], ends[1, e] = position[codes[e, 0]], position[codes[e, 1]]


@kernel
def _prefixes(text: Any, starts: Any, sizes: Any) -> Any:
    first, second = np.empty(len(starts), np.uint64), np.empty(len(starts), np.uint64)
    for i in range(len(starts)):
        first[i], second[i] = _prefix(text, starts[i], sizes[i])
    return first, second


@kernel
def _joined(text: Any, starts: Any, sizes: Any) -> Any:
    """The ids, a line end after each."""
    out = np.empty(sizes.sum() + len(sizes), np.uint8)
    at = 0
    for i in range(len(starts)):
        for p in range(sizes[i]):
            out[at] = text[starts[i] + p]
            at += 1
        out[at] = 10
        at += 1
    return out
