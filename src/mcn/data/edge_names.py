"""Text ids from plain edge lists: a compiled reader that numbers them in the order of their first line.

Every id is looked up in a table of its bytes, of which an entry is half a cache line: the 16 bytes of a short
id, or a hash of a long one (whose bytes are then compared as well), and its number with its length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel

_SHORT = 16
_BLOCK = 2048  # ids that are looked up in one go, so that the waits for memory overlap
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_ZERO, _ONE, _THREE, _SEVEN, _EIGHT, _SIXTEEN, _SIXTY_FOUR = (
    np.uint64(number) for number in (0, 1, 3, 7, 8, 16, 64)
)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_ONES, _LINE_ENDS = np.uint64(0x0101010101010101), np.uint64(0x0A0A0A0A0A0A0A0A)
_PLACES, _FIFTY_SIX = np.uint64(0x0001020304050607), np.uint64(56)  # the number of a byte, by its lowest bit


class NamedEdges(NamedTuple):
    """Edges of numbered ids.

    ends: int64 [2, E]. names: the ids in ascending order. width: fields per line. first: the position among
    `names` of the ids in the order of their first line.
    """

    ends: NDArray[np.int64]
    names: list[str]
    width: int
    first: NDArray[np.int32]


def named_edges(content: bytes, start: int, mark: str | None) -> NamedEdges | None:
    """Read the ids of a plain text file; None if anything in it needs the careful reader.

    Args:
        content: the file.
        start: where the first edge begins.
        mark: the separator, None for white space.
    """
    text = np.frombuffer(content, np.uint8)
    codes, starts, sizes, width, plain = _read(text, start, ord(mark) if mark else 32)
    if width < 2:
        return None
    try:
        if not plain:
            content.decode("utf-8")  # what is not read here must be text as well
        joined = _joined(text, starts, sizes).tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    names = joined.split("\n")[:-1]
    if not plain and any(name != name.strip() for name in names):
        return None
    order = _order(text, starts, sizes, names)
    place = np.empty(len(names), np.int32)
    place[order] = np.arange(len(names))
    return NamedEdges(_ends(codes, place), [names[at] for at in order.tolist()], width, place)


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
def _ends(codes: Any, place: Any) -> Any:
    ends = np.empty((2, len(codes)), np.int64)
    for e in range(len(codes)):
        ends[0, e], ends[1, e] = place[codes[e, 0]], place[codes[e, 1]]
    return ends


@kernel
def _prefixes(text: Any, starts: Any, sizes: Any) -> Any:
    first, second = np.zeros(len(starts), np.uint64), np.zeros(len(starts), np.uint64)
    for i in range(len(starts)):
        for p in range(_SHORT):
            byte = np.uint64(text[starts[i] + p]) if p < sizes[i] else _ZERO
            if p < 8:
                first[i] = (first[i] << _EIGHT) | byte
            else:
                second[i] = (second[i] << _EIGHT) | byte
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
    while needed > len(starts):
        starts = np.concatenate((starts, np.empty_like(starts)))
        sizes = np.concatenate((sizes, np.empty_like(sizes)))
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
    for b in range(len(out)):  # one id does not wait for the other: their entries are fetched together
        first, second, size = block[b, 0], block[b, 1], block[b, 2]
        slot = _slot(first, second, mask)
        while True:
            entry = table[slot, 2]
            if entry == _ZERO:
                table[slot, 0], table[slot, 1] = first, second
                table[slot, 2] = (np.uint64(used + 1) << _HALF) | size
                starts[used], sizes[used] = place[b], np.int64(size)
                out[b] = used
                used += 1
                break
            if table[slot, 0] == first and table[slot, 1] == second and entry & _LOW == size:
                known = np.int64(entry >> _HALF) - 1
                if np.int64(size) <= _SHORT or _same(text, starts[known], place[b], np.int64(size)):
                    out[b] = known
                    break
            slot = (slot + _ONE) & mask
    return used


@kernel
def _look(text: Any, start: int, mark: int) -> Any:
    """Count line ends, control characters that have no place in a plain file, and bytes beyond ASCII."""
    lines = odd = beyond = 0
    for p in range(start, len(text)):
        byte = text[p]
        lines += byte == 10
        odd += (byte < 32) & (byte != 10) & (byte != 13) & (byte != mark)
        beyond += byte >= 128
    return lines, odd, beyond


@kernel
def _zero_bytes(word: Any) -> Any:
    """A word whose lowest set bit is the highest bit of the lowest byte that is zero."""
    return (word - _ONES) & ~word & (_ONES << _SEVEN)


@kernel
def _field_end(text: Any, words: Any, at: Any, marks: Any) -> Any:
    """Where the next separator or line end stands, eight bytes at a time; positions are unsigned."""
    size = np.uint64(len(text))
    while at < size:
        word = _word(text, words, at)
        found = _zero_bytes(word ^ marks) | _zero_bytes(word ^ _LINE_ENDS)
        if found != _ZERO:
            low = found & (~found + _ONE)
            return at + ((low >> _SEVEN) * _PLACES >> _FIFTY_SIX)
        at += _EIGHT
    return size


@kernel
def _word(text: Any, words: Any, at: Any) -> Any:
    """The eight bytes from here on as one number; past the end of the text they are zeros."""
    place, shift = at >> _THREE, (at & _SEVEN) << _THREE
    if place + _ONE < np.uint64(len(words)):
        low = words[place] >> shift
        return low if shift == _ZERO else low | (words[place + _ONE] << (_SIXTY_FOUR - shift))
    found = _ZERO
    rest: Any = min(8, len(text) - np.int64(at))
    for p in range(rest):
        found |= np.uint64(text[np.int64(at) + p]) << np.uint64(8 * p)
    return found


@kernel
def _key(text: Any, words: Any, begin: Any, size: Any) -> Any:
    """Two words that stand for an id: its bytes if they are 16 at most, else a hash of them."""
    if size <= _EIGHT:
        return _word(text, words, begin) & _bytes(size), _ZERO
    if size <= _SIXTEEN:
        return _word(text, words, begin), _word(text, words, begin + _EIGHT) & _bytes(size - _EIGHT)
    first = second = size
    at = _ZERO
    while at < size:
        word = _word(text, words, begin + at) & _bytes(size - at)
        first = (first ^ word) * _FACTOR
        second = (second ^ (first >> _HALF)) * _FACTOR + word
        at += _EIGHT
    return first, second


@kernel
def _bytes(count: Any) -> Any:
    """A mask for the first bytes of a word."""
    return ~_ZERO if count >= _EIGHT else (_ONE << (count << _THREE)) - _ONE


@kernel
def _is_comment(text: Any, at: Any) -> bool:
    return bool(at < np.uint64(len(text)) and (text[at] == 35 or text[at] == 37))


@kernel
def _read(text: Any, start: int, mark: int) -> Any:
    """Number the first two fields of every line; width 0 if there is anything out of the ordinary.

    Returns the numbers [E, 2], where each distinct id first stands and how long it is, the width, and whether
    all is ASCII. The caller has made sure that there is no quote, and no carriage return but before a line
    end.
    """
    lines, odd, beyond = _look(text, start, mark)
    codes = np.empty((lines + 1, 2), np.int32)
    flat = codes.reshape(-1)
    table = np.zeros((1 << 14, 4), np.uint64)
    starts, sizes = np.empty(1 << 12, np.int64), np.empty(1 << 12, np.int64)
    block, place = np.empty((_BLOCK, 3), np.uint64), np.empty(_BLOCK, np.int64)
    refused = (codes[:0], starts[:0], sizes[:0], 0, False)
    if odd > 0 or (mark == 32 and beyond > 0):  # some characters beyond ASCII are blanks
        return refused
    words = text[: len(text) // 8 * 8].view(np.uint64)
    marks = np.uint64(mark) * _ONES
    size, at = np.uint64(len(text)), np.uint64(start)
    done, held, used, width = 0, 0, 0, 0
    while at < size:
        fields, ended = 0, False
        while not ended:
            while at < size and text[at] == 32:
                at += _ONE
            begin = at
            at = _field_end(text, words, at, marks)
            ended = at == size or text[at] == 10
            end = at
            while end > begin and (text[end - _ONE] == 32 or text[end - _ONE] == 13):
                end -= _ONE
            at += _ONE
            if fields == 0 and (_is_comment(text, begin) or (ended and end == begin)):
                while not ended:  # a comment goes on to the end of its line
                    ended = at >= size or text[at] == 10
                    at += _ONE
                fields = -1
                break
            if mark == 32 and ended and end == begin:  # blanks at the end of a line
                break
            if fields < 2:
                if end == begin:
                    return refused
                block[held, 0], block[held, 1] = _key(text, words, begin, end - begin)
                block[held, 2], place[held] = end - begin, np.int64(begin)
                held += 1
            fields += 1
        if fields < 0:
            continue
        if fields < 2 or (width > 0 and fields != width):
            return refused
        width = fields
        if held > _BLOCK - 2:
            table, starts, sizes = _with_room(table, starts, sizes, used + held)
            used = _number(text, table, block, place, used, starts, sizes, flat[done : done + held])
            done, held = done + held, 0
    table, starts, sizes = _with_room(table, starts, sizes, used + held)
    used = _number(text, table, block, place, used, starts, sizes, flat[done : done + held])
    return codes[: (done + held) // 2], starts[:used], sizes[:used], width, beyond == 0
