"""Sorting edges that do not fit into memory: sorted runs on disk, merged range by range.

Both directions of an edge become one number each, (u, v) as ``u·2³² + 2v`` and (v, u) as ``v·2³² + 2u + 1``:
the last bit says which of them was given. A run is what fits into half of the buffer, sorted. The merge
takes from all runs the numbers below a bound that lets them fit into that half, sorts them and writes the
rows, each neighbour once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.store.arrays import naming_file, need_room

LEAST = 2**16
_MASK = np.uint64(2**31 - 1)
_FLAG = np.uint64(1)


@dataclass
class Tally:
    """What was dropped on the way to a simple graph, and the largest node number seen."""

    self_loops: int = 0
    duplicates: int = 0
    one_way: int = 0
    largest: int = -1


class Runs:
    """Sorted runs of edges in a folder.

    Args:
        folder: for the files.
        memory: bytes to sort in, buffers of the merge included.
        lengths: of the runs that are there already.
    """

    def __init__(self, folder: Path, memory: int, lengths: list[int] | None = None) -> None:
        self._folder = folder
        self._room = max(LEAST, memory // 16) // 2 * 2
        self._keys = np.empty(self._room, np.uint64)
        self._used = 0
        self.lengths = list(lengths or [])
        self.tally = Tally()

    def add(self, ends: NDArray[np.int64], most: int) -> int:
        """Take further edges [2, E]; returns the place of one with a node outside 0..most - 1, or -1."""
        done = 0
        while done < ends.shape[1]:
            some = ends[:, done : done + (self._room - self._used) // 2]
            at, loops, largest, bad = _emit(some[0], some[1], self._keys, self._used, most)
            if bad >= 0:
                return int(done + bad)
            self._used = int(at)
            self.tally.self_loops += int(loops)
            self.tally.largest = max(self.tally.largest, int(largest))
            done += some.shape[1]
            if self._used >= self._room - 1:
                self.flush()
        return -1

    def flush(self) -> None:
        """Write what has been taken as a run."""
        if not self._used:
            return
        keys = self._keys[: self._used]
        keys.sort()
        kept, repeats = _without_repeats(keys)
        self.tally.duplicates += int(repeats)
        path = self._run(len(self.lengths))
        need_room(self._folder, 8 * int(kept))
        part = path.with_suffix(".part")
        with naming_file(part), part.open("wb") as file:
            file.write(keys[:kept].data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        self.lengths.append(int(kept))
        self._used = 0

    @property
    def taken(self) -> int:
        """Edges taken so far, but for repeats within a run."""
        return (sum(self.lengths) + self._used) // 2

    def fits(self, count: int) -> bool:
        """Whether so many further edges fit into the run under way."""
        return self._used + 2 * count < self._room

    def merged(self, degree: NDArray[np.int64]) -> Iterator[NDArray[np.int32]]:
        """Yield the neighbours of all nodes, row by row; `degree` is counted on the way."""
        self.flush()
        neighbours = np.empty(self._room, np.int32)
        with ExitStack() as files:
            runs = [
                _Run(files.enter_context(self._run(place).open("rb")), length)
                for place, length in enumerate(self.lengths)
            ]
            yield from self._merge(runs, neighbours, degree)

    def _merge(
        self, runs: list[_Run], neighbours: NDArray[np.int32], degree: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int32]]:
        while any(run.left for run in runs):
            bound = _bound(runs, self._room)
            used = 0
            for run in runs:
                used += run.take_below(bound, self._keys[used:])
            keys = self._keys[:used]
            keys.sort()
            end, duplicates, one_way = _fold(keys, neighbours, degree)
            self.tally.duplicates += int(duplicates)
            self.tally.one_way += int(one_way)
            yield neighbours[:end]

    def remove(self) -> None:
        """Delete the files."""
        for place in range(len(self.lengths)):
            self._run(place).unlink(missing_ok=True)

    def _run(self, place: int) -> Path:
        return self._folder / f"run-{place:05d}.keys"


class _Run:
    """A run that is read from its beginning to its end; plain reads, so that memory stays bounded."""

    def __init__(self, file: BufferedReader, length: int) -> None:
        self._file, self._at, self._length = file, 0, length

    @property
    def left(self) -> int:
        return self._length - self._at

    def below(self, bound: int) -> int:
        """How many of the numbers left are below the bound, by bisection on the file."""
        low, high = self._at, self._length
        while low < high:
            middle = (low + high) // 2
            self._file.seek(8 * middle)
            if int.from_bytes(self._file.read(8), "little") < bound:
                low = middle + 1
            else:
                high = middle
        return low - self._at

    def take_below(self, bound: int, into: NDArray[np.uint64]) -> int:
        count = self.below(bound)
        self._file.seek(8 * self._at)
        read = self._file.readinto(into[:count].data)
        if read != 8 * count:
            raise ValueError(f"{self._file.name}: ends too early; pack again")
        self._at += count
        return count


def _bound(runs: list[_Run], room: int) -> int:
    """The largest even number such that no more than `room` of what is left in the runs is below it."""
    if sum(run.left for run in runs) <= room:
        return 2**63
    low, high = 0, 2**62
    while low < high:
        middle = (low + high + 1) // 2
        if sum(run.below(2 * middle) for run in runs) <= room:
            low = middle
        else:
            high = middle - 1
    return 2 * low


def row_pointers(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the row pointers of rows of these lengths, piece by piece."""
    total = 0
    yield np.zeros(1, np.int64)
    for start in range(0, len(lengths), 2**20):
        piece = np.cumsum(lengths[start : start + 2**20]) + total
        total = int(piece[-1])
        yield piece


@kernel
def _emit(source: Any, target: Any, keys: Any, at: int, most: int) -> Any:
    """Both directions of every edge from place `at` on; also loops, the largest id, a bad place or -1."""
    loops: Any = 0
    largest: Any = -1
    for e in range(len(source)):
        a, b = np.int64(source[e]), np.int64(target[e])
        if a < 0 or b < 0 or a >= most or b >= most:
            return at, loops, largest, e
        largest = max(largest, a, b)
        if a == b:
            loops += 1
            continue
        keys[at] = np.uint64(a << 32 | b << 1)
        keys[at + 1] = np.uint64(b << 32 | a << 1 | 1)
        at += 2
    return at, loops, largest, -1


@kernel
def _without_repeats(keys: Any) -> Any:
    """Leave each number once, in place; repeats are counted in the rows of the lower ends alone."""
    kept, repeats = 0, 0
    for p in range(len(keys)):
        if kept > 0 and keys[p] == keys[kept - 1]:
            repeats += (keys[p] >> np.uint64(32)) < (keys[p] >> _FLAG & _MASK)
        else:
            keys[kept] = keys[p]
            kept += 1
    return kept, repeats


@kernel
def _fold(keys: Any, neighbours: Any, degree: Any) -> Any:
    """Each neighbour once; also repeats and edges given in one direction only, as `simple_graph` has them."""
    end, duplicates, one_way, p = 0, 0, 0, 0
    while p < len(keys):
        pair = keys[p] >> _FLAG
        forward, backward = 0, 0
        while p < len(keys) and keys[p] >> _FLAG == pair:
            if keys[p] & _FLAG:
                backward += 1
            else:
                forward += 1
            p += 1
        u, v = np.int64(pair >> np.uint64(31)), np.int64(pair & _MASK)
        neighbours[end] = v
        degree[u] += 1
        end += 1
        if u < v:
            if forward > 0 and backward > 0:
                duplicates += forward + backward - 2
            else:
                one_way += 1
                duplicates += forward + backward - 1
    return end, duplicates, one_way
