"""Triangles of a graph on disk, within a buffer: lists and counts are files, cut into blocks that fit.

Nodes are ranked by degree and edges point upwards, as in memory (see `orient`). A *block* is a range of
ranks whose out-lists fit into the buffer with a counter per edge and thread. A triangle u < v < w is found
when v's block is in memory and u's list comes by: the lists are read from beginning to end once per block,
and every counter that is added to at random is in memory. Results of finished stretches are written where a
repeat would write the same, so that a killed count goes on from its last checkpoint.

Memory: the buffer, and per node 32 bytes and 4 for each thread. Scratch on disk: 16 bytes per edge.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from mcn._files import atomic_write
from mcn._jit import kernel
from mcn._threads import run_chunks
from mcn.motifs.kernels import closed_triples
from mcn.motifs.orient import rank_by_degree, sort_range
from mcn.store.arrays import ArrayWriter, Entry, naming_file, need_room
from mcn.store.graph_store import GraphStore

SCRATCH = ".counting"
CHECKPOINT = 60.0
"""Seconds between two points that a killed count can go on from."""
_LEAST = 2**12  # edges of a block
_UNIT = 2**19  # edges of the stretch that a thread takes at a time
_WORD = 4

Progress = Callable[[float], object]


def count_on_disk(
    store: GraphStore,
    motifs: Sequence[str],
    folder: Path,
    *,
    induced: bool,
    threads: int,
    memory: int,
    progress: Progress | None = None,
) -> dict[str, Entry]:
    """Count triangles and write the counts of motifs on up to three nodes, an entry per neighbour.

    Args:
        store: the graph.
        motifs: among edge, 2-star and triangle.
        folder: for the arrays; scratch files go into a folder inside it.
        induced: whether 2-stars that are closed to a triangle are left out.
        threads: cores to use.
        memory: bytes of the buffer.
        progress: called with the finished fraction now and then.

    Returns:
        What the list of counts says of each array.
    """
    store.check()
    work = _Work(store, folder, threads, memory, progress)
    work.build()
    work.count()
    entries = work.write([motif for motif in motifs if motif != "edge"], induced)
    shutil.rmtree(work.scratch)
    return entries


class _Work:
    def __init__(
        self, store: GraphStore, folder: Path, threads: int, memory: int, progress: Progress | None
    ) -> None:
        if store.num_edges >= 2**31:
            raise ValueError(f"{store.num_edges:,} edges: at most 2**31 are supported")
        self.scratch = folder / SCRATCH
        self._store, self._folder, self._threads, self._progress = store, folder, threads, progress
        # Beside the block with its counters: the stretch of each thread, with what is added to it.
        self._unit = max(1, min(_UNIT, memory // (32 * threads)))
        room = (memory - 16 * threads * self._unit) // (_WORD * (1 + threads))
        self._csr = np.asarray(store.indptr), np.asarray(store.indices)
        self._rank, self._ptr = _lists_of(*self._csr)
        self._cuts = _cuts(self._ptr, max(_LEAST, room))
        self._state: dict[str, Any] = {"of": store.entries["indices"].sha256, "cuts": self._cuts.tolist()}
        self._state |= {"unit": self._unit}
        self._state |= {"built": False, "block": 0, "done": 0}
        self._open()

    def _open(self) -> None:
        """Go on with what an interrupted count of the same graph and buffer has left, or begin."""
        path = self.scratch / "state.json"
        try:
            found = json.loads(path.read_bytes())
        except (OSError, ValueError):
            found = None
        same = isinstance(found, dict) and all(
            found.get(key) == self._state[key] for key in ("of", "cuts", "unit")
        )
        if same:
            self._state = found
        else:
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.scratch.mkdir(parents=True, mode=0o700)
            need_room(self.scratch, 4 * _WORD * self._store.num_edges)

    @property
    def _blocks(self) -> int:
        return len(self._cuts) - 1

    def _save(self, **changes: Any) -> None:
        self._state |= changes
        with atomic_write(self.scratch / "state.json") as file:
            file.write(json.dumps(self._state).encode())

    def _file(self, name: str) -> Path:
        return self.scratch / f"{name}.u32"

    def build(self) -> None:
        """Write the out-lists of all ranks, block by block; each takes a pass over the store."""
        if self._state["built"]:
            return
        indptr, indices = self._csr
        rows = _even(indptr, 64 * self._threads)
        with _opened(self._file("lists"), "wb") as file:
            for low, high in self._ranges():
                base = int(self._ptr[low])
                lists = np.empty(int(self._ptr[high]) - base, np.uint32)
                place = (self._rank, self._ptr, low, high, np.uint64(base), lists)

                def scatter(_worker: int, start: int, stop: int, place: Any = place) -> None:
                    _scatter(start, stop, indptr, indices, *place)

                def order(_worker: int, start: int, stop: int, place: Any = place) -> None:
                    _order(start, stop, self._ptr, place[4], place[5])

                run_chunks(scatter, rows, self._threads)
                run_chunks(order, _even(self._ptr, 16 * self._threads, low, high), self._threads)
                file.write(lists.data)
            file.flush()
            os.fsync(file.fileno())
        self._save(built=True)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        return zip(self._cuts[:-1].tolist(), self._cuts[1:].tolist(), strict=True)

    def count(self) -> None:
        """Find the triangles, block by block."""
        for block, (low, high) in enumerate(self._ranges()):
            if block >= self._state["block"]:
                self._count_block(block, low, high)

    def _count_block(self, block: int, low: int, high: int) -> None:
        base, end = int(self._ptr[low]), int(self._ptr[high])
        lists = self._read("lists", base, end)
        found = [np.zeros(end - base, np.uint32) for _ in range(self._threads)]
        if self._state["done"]:
            found[0] += self._read(f"middle-{block}-{self._state['done']}", 0, end - base)
        marks = [np.zeros(self._store.num_nodes, np.uint32) for _ in range(self._threads)]
        units = _even(self._ptr, max(1, -(-end // self._unit)), 0, high)
        before = None if block == 0 else f"lowest-{(block - 1) % 2}"
        mine = self._file(f"lowest-{block % 2}")
        mine.touch()

        def work(worker: int, start: int, stop: int) -> None:
            at, to = int(self._ptr[start]), int(self._ptr[stop])
            rows = self._read("lists", at, to)
            # Blocks before had only lists below theirs: what they have not written is zero.
            t = np.zeros(to - at, np.uint32) if before is None else self._read(before, at, to)
            closed_triples(
                start, stop, marks[worker], self._ptr, rows, np.uint64(at), t,
                np.uint64(low), np.uint64(high), lists, np.uint64(base), found[worker],
            )  # fmt: skip
            _write_at(mine, at, t)

        step, last = 4 * self._threads, time.monotonic()
        for first in range(self._state["done"], len(units) - 1, step):
            run_chunks(work, units[first : first + step + 1], self._threads)
            done = min(first + step, len(units) - 1)
            self._report(block, done / (len(units) - 1))
            if time.monotonic() - last > CHECKPOINT:
                self._sum(found)
                self._keep(f"middle-{block}-{done}", found[0])
                _sync(mine)
                before_that = self._file(f"middle-{block}-{self._state['done']}")
                self._save(done=done)
                before_that.unlink(missing_ok=True)
                last = time.monotonic()
        self._sum(found)
        self._keep(f"middle-{block}", found[0])
        _sync(mine)
        self._save(block=block + 1, done=0)

    def _sum(self, found: list[NDArray[np.uint32]]) -> None:
        for other in found[1:]:
            found[0] += other
            other.fill(0)

    def _keep(self, name: str, values: NDArray[np.uint32]) -> None:
        with atomic_write(self._file(name)) as file:
            for start in range(0, len(values), 2**22):
                file.write(values[start : start + 2**22].data)

    def _report(self, block: int, share: float) -> None:
        if self._progress is not None:
            self._progress(0.9 * (block + share) / self._blocks)

    def _read(self, name: str, start: int, stop: int) -> NDArray[np.uint32]:
        """Numbers of a scratch file; what lies behind its end is zero."""
        with self._file(name).open("rb") as file:
            file.seek(_WORD * start)
            values = np.fromfile(file, np.uint32, stop - start)
        return values if len(values) == stop - start else np.pad(values, (0, stop - start - len(values)))

    def write(self, motifs: Sequence[str], induced: bool) -> dict[str, Entry]:
        """Write the counts in the order of the store's neighbours; a pass over the store per block."""
        entries = {}
        for motif in motifs:
            name = f"count.{motif}"
            partial: Path | None = None
            for block, (low, high) in enumerate(self._ranges()):
                base, end = int(self._ptr[low]), int(self._ptr[high])
                lists = self._read("lists", base, end)
                t = self._read(f"lowest-{(self._blocks - 1) % 2}", base, end)
                t += self._read(f"middle-{block}", 0, end - base)
                pieces = self._in_rows(low, high, lists, t, partial)
                if block < self._blocks - 1:
                    partial = self._file(f"partial-{block % 2}")
                    with _opened(partial, "wb") as file:
                        for _, _, piece in pieces:
                            file.write(piece.data)
                else:
                    entries[motif] = self._finish(name, motif, induced, pieces)
        return entries

    def _in_rows(
        self, low: int, high: int, lists: NDArray[Any], t: NDArray[Any], partial: Path | None
    ) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
        """The counts of stretches of rows, as far as the blocks up to this one know them."""
        indptr, indices = self._csr
        base = np.uint64(self._ptr[low])
        rows = _even(indptr, max(1, len(indices) // (4 * self._unit)))
        for start, stop in zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True):
            at, to = int(indptr[start]), int(indptr[stop])
            values = np.zeros(to - at, np.int32)
            if partial is not None:
                values = np.fromfile(partial, np.int32, to - at, offset=_WORD * at)
            given = (self._rank, self._ptr, low, high, base, lists, t, values, at)

            def look(_worker: int, first: int, last: int, given: Any = given) -> None:
                _look_up(first, last, indptr, indices, *given)

            run_chunks(look, _even(indptr, 4 * self._threads, start, stop), self._threads)
            yield start, stop, values

    def _finish(
        self, name: str, motif: str, induced: bool, pieces: Iterator[tuple[int, int, NDArray[np.int32]]]
    ) -> Entry:
        indptr, indices = self._csr
        writer = ArrayWriter(self._folder, name, np.int32)
        try:
            for start, stop, values in pieces:
                if motif == "2-star":
                    _two_stars(start, stop, indptr, indices, 2 if induced else 0, values)
                writer.append(values)
            return writer.close()
        except BaseException:
            writer.abandon()
            raise


def _lists_of(
    indptr: NDArray[np.int64], indices: NDArray[np.int32]
) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """The rank of every node, and where the out-list of every rank begins."""
    rank, _ = rank_by_degree(np.diff(indptr).astype(np.uint32))
    ptr = np.zeros(len(indptr), np.uint64)
    _out_degrees(indptr, indices, rank, ptr)
    np.cumsum(ptr, out=ptr)
    return rank, ptr


def _cuts(ptr: NDArray[np.uint64], most: int) -> NDArray[np.int64]:
    """Cut the ranks into ranges of at most `most` edges; a single list may be longer."""
    cuts, nodes = [0], len(ptr) - 1
    while cuts[-1] < nodes:
        stop = int(np.searchsorted(ptr, ptr[cuts[-1]] + np.uint64(most), side="right")) - 1
        cuts.append(min(nodes, max(stop, cuts[-1] + 1)))
    return np.array(cuts if nodes else [0, 0], np.int64)


def _even(ptr: NDArray[Any], parts: int, start: int = 0, stop: int | None = None) -> NDArray[np.int64]:
    """Cut the rows from `start` to `stop` into ranges of about equal numbers of entries."""
    stop = len(ptr) - 1 if stop is None else stop
    first, last = int(ptr[start]), int(ptr[stop])
    at = np.array([first + (last - first) * part // parts for part in range(1, parts)], ptr.dtype)
    inner = np.searchsorted(ptr[start : stop + 1], at) + start
    return np.unique(np.concatenate([[start], inner, [stop]]).astype(np.int64))


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[IO[bytes]]:
    """Open a scratch file for writing, so that an error of the disk names it."""
    with naming_file(path), path.open(mode) as file:
        yield cast("IO[bytes]", file)


def _write_at(path: Path, at: int, values: NDArray[np.uint32]) -> None:
    with _opened(path, "r+b") as file:
        file.seek(_WORD * at)
        file.write(values.data)


def _sync(path: Path) -> None:
    with _opened(path, "r+b") as file:
        os.fsync(file.fileno())


@kernel
def _out_degrees(indptr: Any, indices: Any, rank: Any, ptr: Any) -> Any:
    """Into `ptr`, shifted by one: how many neighbours of each rank rank higher."""
    for u in range(len(indptr) - 1):
        r = rank[u]
        higher = 0
        for e in range(indptr[u], indptr[u + 1]):
            higher += rank[indices[e]] > r
        ptr[r + np.uint32(1)] = np.uint64(higher)


@kernel
def _scatter(
    start: Any,
    stop: Any,
    indptr: Any,
    indices: Any,
    rank: Any,
    ptr: Any,
    low: Any,
    high: Any,
    base: Any,
    lists: Any,
) -> Any:
    """The out-lists of the nodes in [start, stop) that rank in [low, high); each is written by one thread."""
    for u in range(start, stop):
        r = np.int64(rank[u])
        if r < low or r >= high:
            continue
        at = ptr[r] - base
        for e in range(indptr[u], indptr[u + 1]):
            other = rank[indices[e]]
            if np.int64(other) > r:
                lists[at] = other
                at += np.uint64(1)


@kernel
def _order(start: Any, stop: Any, ptr: Any, base: Any, lists: Any) -> Any:
    for r in range(start, stop):
        sort_range(lists, ptr[r] - base, ptr[r + 1] - base)


@kernel
def _look_up(
    start: Any,
    stop: Any,
    indptr: Any,
    indices: Any,
    rank: Any,
    ptr: Any,
    low: Any,
    high: Any,
    base: Any,
    lists: Any,
    t: Any,
    values: Any,
    shift: Any,
) -> Any:
    """The counts of the neighbours of nodes in [start, stop) whose lower end ranks in [low, high)."""
    one = np.uint64(1)
    for u in range(start, stop):
        for e in range(indptr[u], indptr[u + 1]):
            a, b = rank[u], rank[indices[e]]
            lower, higher = min(a, b), max(a, b)
            if np.int64(lower) < low or np.int64(lower) >= high:
                continue
            left, right = ptr[lower] - base, ptr[np.int64(lower) + 1] - base
            while right - left > one:
                middle = (left + right) >> one
                if lists[middle] <= higher:
                    left = middle
                else:
                    right = middle
            values[e - shift] = t[left]


@kernel
def _two_stars(start: Any, stop: Any, indptr: Any, indices: Any, closed: Any, values: Any) -> Any:
    """From triangles to 2-stars: the further neighbours of both ends, `closed` times the triangles less."""
    shift = indptr[start]
    for u in range(start, stop):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            both = indptr[u + 1] - indptr[u] + indptr[v + 1] - indptr[v] - 2
            values[e - shift] = both - closed * values[e - shift]
