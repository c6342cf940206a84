"""Text ids from plain edge lists: a compiled reader, on several threads.

The file is cut at line ends. Every thread numbers the ids of its part; then the parts are joined in their
order, so that the result does not depend on how many there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcn._threads import available_threads, run_chunks
from mcn.data.name_kernels import add_names, joined, prefixes, read_part, set_ends

_PART = 2**22  # bytes that are worth a thread
_MOST = 8  # each further part has most of the ids once more, which are joined one after the other


class NamedEdges(NamedTuple):
    """Edges of numbered ids.

    ends: int64 [2, E]. ids: Python strings in ascending order. width: fields per line. first: the position
    among `ids` of each of them in the order of their first line.
    """

    ends: NDArray[np.int64]
    ids: NDArray[Any]
    width: int
    first: NDArray[np.int32]


def named_edges(content: bytes, start: int, mark: str | None, parts: int | None = None) -> NamedEdges | None:
    """Read the ids of a plain text file; None if anything in it needs the careful reader.

    Args:
        content: the file.
        start: where the first edge begins.
        mark: the separator, None for white space.
        parts: how many parts are read at the same time; by default one per core, if they are large enough.
    """
    if parts is None:
        parts = max(1, min(_MOST, available_threads(), (len(content) - start) // _PART))
    content = content.ljust(
        9, b"\n"
    )  # a view of one word or none would be of another type, to be compiled for
    text = np.frombuffer(content, np.uint8)
    words: NDArray[np.uint64] = np.ndarray(len(content) - 7, np.uint64, content, strides=(1,))
    bounds = _line_bounds(content, start, parts)
    read: dict[int, Any] = {}

    def read_one(_worker: int, first: int, last: int) -> None:
        read[first] = read_part(text, words, first, last, ord(mark) if mark else 32)

    run_chunks(read_one, bounds, parts)
    found = [read[first] for first in bounds[:-1]]
    widths = {width for *_, width, _ in found} - {0}
    if len(widths) != 1 or widths == {-1}:
        return None
    starts, sizes, places = _joined_parts(text, words, found)
    codes, plain = [part[0] for part in found], all(part[-1] for part in found)
    found.clear()  # their tables, before more is made
    read.clear()
    names = _names(content, joined(text, starts, sizes).tobytes(), plain)
    if names is None:
        return None
    order = _order(text, starts, sizes, names)
    place = np.empty(len(names), np.int32)
    place[order] = np.arange(len(names), dtype=np.int32)
    ids = np.empty(len(names), object)
    ids[:] = names
    ends = _all_ends(codes, [place[numbers] for numbers in places], parts)
    return NamedEdges(ends, ids[order], widths.pop(), place)


def _line_bounds(content: bytes, start: int, parts: int) -> list[int]:
    """Cut a file into parts that begin with a line, as equal as that allows; fewer if lines are long."""
    bounds = [start]
    for part in range(1, parts):
        at = content.find(b"\n", start + (len(content) - start) * part // parts) + 1
        if bounds[-1] < at < len(content):
            bounds.append(at)
    return [*bounds, len(content)]


def _joined_parts(text: Any, words: Any, found: list[Any]) -> tuple[Any, Any, list[NDArray[np.int32]]]:
    """Where each distinct id first stands, how long it is, and the numbers of the ids of every part."""
    _, starts, sizes, table, _, _ = found[0]
    places = [np.arange(len(starts), dtype=np.int32)]
    for _, new_starts, new_sizes, *_ in found[1:]:
        table, starts, sizes, numbers = add_names(text, words, table, starts, sizes, new_starts, new_sizes)
        places.append(numbers)
    return starts, sizes, places


def _names(content: bytes, lines: bytes, plain: bool) -> list[str] | None:
    """The ids as text; None if the file is none, or an id has blanks around it that are not ASCII."""
    try:
        if not plain:
            content.decode("utf-8")  # what is not read here must be text as well
        names = lines.decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError:
        return None
    return names if plain or all(name == name.strip() for name in names) else None


def _all_ends(
    codes: list[NDArray[np.int32]], places: list[NDArray[np.int32]], threads: int
) -> NDArray[np.int64]:
    """The ends of the edges of all parts, by the position of their ids."""
    bounds = np.cumsum([0, *(len(part) for part in codes)])
    ends = np.empty((2, int(bounds[-1])), np.int64)

    def write(_worker: int, part: int, _next: int) -> None:
        set_ends(codes[part], places[part], ends, bounds[part])

    run_chunks(write, range(len(codes) + 1), threads)
    return ends


def _order(text: Any, starts: Any, sizes: Any, names: list[str]) -> NDArray[np.int64]:
    """Return the order of the ids by their bytes, which is that of their characters."""
    first, second = prefixes(text, starts, sizes)
    order = np.lexsort((second, first))
    same = (first[order][1:] == first[order][:-1]) & (second[order][1:] == second[order][:-1])
    if same.any():  # ids that begin with the same 16 bytes
        bounds = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
        for at, stop in bounds.reshape(-1, 2).tolist():
            order[at : stop + 1] = sorted(order[at : stop + 1].tolist(), key=names.__getitem__)
    return order
