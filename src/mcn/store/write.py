"""Writing a store: edges sorted on disk in bounded memory, then ids, features and labels, the manifest last.

Both directions of an edge become one number each, (u, v) as ``u·2³² + 2v`` and (v, u) as ``v·2³² + 2u + 1``:
the last bit says which of them was given. A self-loop is one number, which tells of its node and is dropped
by the merge. A *run* is what fits into a third of the buffer, sorted by way of another third; a lone one
stays there. The merge takes from all runs the numbers below a bound that lets them fit into the first third,
sorts them and writes the rows, each neighbour once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphmotifs._arguments import as_array
from graphmotifs._files import atomic_write, try_claim
from graphmotifs._jit import kernel
from graphmotifs._sparse import check_csr
from mcn.data.edge_list import made_simple
from mcn.store.manifest import FILE, Manifest, StoredArray, is_store, write_array
from mcn.store.radix_sort import sort_numbers

Progress = Callable[[float], object]
SCRATCH = ".packing"
"""The folder, inside the store's, for what is only needed while packing."""
LEAST_KEYS = 2**16
_WRITTEN = (".npy", ".part")  # what may stand beside it while packing
_MASK = np.uint64(2**31 - 1)
_FLAG = np.uint64(1)


class EdgeSorter:
    """Sorts edges that do not fit into memory, by way of sorted runs in a folder."""

    def __init__(self, folder: Path, memory: int) -> None:
        self._folder = folder
        self._room = max(LEAST_KEYS, memory // 24) // 2 * 2
        self._keys, self._scratch = (np.empty(self._room, np.uint64) for _ in range(2))
        self._used, self._sorted = 0, False
        self._self_loops = self._duplicates = self._one_way = 0  # dropped on the way to a simple graph
        self.lengths: list[int] = []  # of the runs
        self.largest = -1  # of the node numbers seen

    def add(self, ends: NDArray[np.int64], most: int) -> int:
        """Take further edges [2, E]; returns the place of one with a node outside 0..most - 1, or -1."""
        done = 0
        while done < ends.shape[1]:
            some = ends[:, done : done + (self._room - self._used) // 2]
            used, loops, largest, bad = _emit(some[0], some[1], self._keys, self._used, most)
            if bad >= 0:
                return int(done + bad)
            self._used, self._sorted = int(used), False
            self._self_loops += int(loops)
            self.largest = max(self.largest, int(largest))
            done += some.shape[1]
            if self._used >= self._room - 1:
                self.flush()
        return -1

    def flush(self) -> None:
        """Write what has been taken as a run."""
        if not self._used:
            return
        keys = self._sort()
        with atomic_write(self._run(len(self.lengths))) as file:
            file.write(keys.data)
        self.lengths.append(len(keys))
        self._used = 0

    def _sort(self) -> NDArray[np.uint64]:
        """Sort what has been taken since the last run, and leave every number once."""
        if not self._sorted:
            kept, repeats = _without_repeats(self._in_order(self._used))
            self._duplicates += int(repeats)
            self._used, self._sorted = int(kept), True
        return self._keys[: self._used]

    def _in_order(self, used: int) -> NDArray[np.uint64]:
        """Sort the first numbers of the buffer; it and the scratch may change places."""
        ordered = sort_numbers(self._keys[:used], self._scratch[:used])
        if ordered.base is self._scratch:
            self._keys, self._scratch = self._scratch, self._keys
        return ordered

    @property
    def taken(self) -> int:
        """Edges taken so far, but for repeats within a run."""
        return (sum(self.lengths) + self._used) // 2

    def present(self) -> NDArray[np.bool_]:
        """Which of the numbers up to the largest are nodes: those that have an edge or a self-loop."""
        present = np.zeros(self.largest + 1, np.bool_)
        if not self.lengths:
            _mark_sources(self._sort(), present)
        else:
            self.flush()
        for place in range(len(self.lengths)):
            with self._run(place).open("rb") as file:
                while read := file.readinto(self._keys.data) // 8:
                    _mark_sources(self._keys[:read], present)
        return present

    def merged(
        self, degree: NDArray[np.int64], place: NDArray[np.int32] | None = None
    ) -> Iterator[NDArray[np.int32]]:
        """Yield the neighbours of all nodes, or their places, row by row; `degree` is counted on the way."""
        alone = not self.lengths
        if not alone:
            self.flush()
        neighbours = np.empty(self._used if alone else self._room, np.int32)

        def rows(keys: NDArray[np.uint64]) -> NDArray[np.int32]:
            end, duplicates, one_way = _fold(keys, neighbours, degree, place)
            self._duplicates += int(duplicates)
            self._one_way += int(one_way)
            return neighbours[:end]

        if alone:
            yield rows(self._sort())
        # Mapped for bisection alone: the numbers are read into the buffer, so that memory stays bounded.
        runs = [np.memmap(self._run(i), np.uint64, "r", shape=(n,)) for i, n in enumerate(self.lengths)]
        starts = [0] * len(runs)
        while starts != self.lengths:
            bound = _bound(runs, starts, self._room)
            used = 0
            for index, run in enumerate(runs):
                count = _below(run, starts[index], bound)
                with self._run(index).open("rb") as file:
                    file.seek(8 * starts[index])
                    file.readinto(self._keys[used : used + count].data)
                starts[index] += count
                used += count
            yield rows(self._in_order(used))

    def describe(self, degree: NDArray[np.int64]) -> str:
        """One line on the graph and on what was made simple."""
        dropped = (self._self_loops, self._duplicates, self._one_way)
        return made_simple(len(degree), int(degree.sum()) // 2, *dropped)

    def _run(self, place: int) -> Path:
        return self._folder / f"run-{place:05d}.keys"


def _below(run: NDArray[np.uint64], start: int, bound: int) -> int:
    """How many numbers of a run, from `start` on, are below the bound."""
    return int(np.searchsorted(run[start:], np.uint64(bound)))


def _bound(runs: Sequence[NDArray[np.uint64]], starts: list[int], room: int) -> int:
    """The largest even number such that no more than `room` of what is left in the runs is below it."""
    low, high = 0, 2**62
    if sum(map(len, runs)) - sum(starts) <= room:
        low = high
    while low < high:
        middle = (low + high + 1) // 2
        if sum(_below(run, start, 2 * middle) for run, start in zip(runs, starts, strict=True)) <= room:
            low = middle
        else:
            high = middle - 1
    return 2 * low


@contextmanager
def new_store(folder: Path) -> Iterator[Path]:
    """Make the folder of a store and one for scratch inside it, which is yielded; an error leaves neither.

    What a process that was killed while it packed has left in the folder is removed first.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.resolve()
        claim = try_claim(lock.with_name(f".{lock.name}.lock"))
    except OSError as error:  # the folder is what the user knows of
        raise OSError(error.errno, error.strerror, str(folder)) from error
    if claim is None:
        raise FileExistsError(f"{folder}: another process is packing a graph into it; choose another folder")
    try:
        with _begun(folder) as scratch:
            yield scratch
    finally:
        claim.release()


@contextmanager
def _begun(folder: Path) -> Iterator[Path]:
    scratch, there = folder / SCRATCH, folder.exists()
    if is_store(folder):
        raise FileExistsError(f"{folder}: holds a packed graph already ({FILE}); choose another folder")
    if scratch.is_dir() and all(file.name == SCRATCH or file.suffix in _WRITTEN for file in folder.iterdir()):
        _clear(folder)
    elif there and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder}: is not an empty folder; choose another")
    scratch.mkdir(parents=True, mode=0o700)
    try:
        yield scratch
    except BaseException:
        with suppress(OSError):  # the first error is the one to tell
            _clear(folder)
            if not there:
                folder.rmdir()
        raise
    scratch.rmdir()


def _clear(folder: Path) -> None:
    """Remove what was packed; the scratch folder, by which an unfinished packing is known, goes last."""
    for file in folder.iterdir():
        if file.name != SCRATCH:
            file.unlink()
    shutil.rmtree(folder / SCRATCH)


def write_rows(
    folder: Path,
    sorter: EdgeSorter,
    n: int,
    progress: Progress | None = None,
    present: NDArray[np.bool_] | None = None,
) -> tuple[dict[str, StoredArray], NDArray[np.int64]]:
    """Merge the runs into `indices` and `indptr`; returns what they are and the degree of every node.

    `present` says which of the `n` numbers are nodes, if not all; the others are left out, and the order
    stays.
    """
    degree = np.zeros(n, np.int64)
    place = None if present is None else (np.cumsum(present) - 1).astype(np.int32)

    def pieces() -> Iterator[NDArray[np.int32]]:
        written = 0
        for piece in sorter.merged(degree, place):
            yield piece
            written += len(piece)
            if progress is not None:
                progress(min(1.0, written / max(1, 2 * sorter.taken)))

    indices = write_array(folder, "indices", pieces(), np.int32)
    for run in (folder / SCRATCH).iterdir():  # before the manifest: a finished store has none
        run.unlink()
    degree = degree if present is None else degree[present]
    starts = np.concatenate([[0], np.cumsum(degree)])
    return {"indices": indices, "indptr": write_array(folder, "indptr", starts, np.int64)}, degree


def finish_store(
    folder: Path,
    arrays: dict[str, StoredArray],
    degree: NDArray[np.int64],
    ids: Sequence[Any] | NDArray[Any] | None,
    x: Any,
    per_node: Mapping[str, Any],
    classes: Sequence[Any],
    about: dict[str, Any],
) -> None:
    """Write what belongs to the nodes, and then the manifest: ids, features, labels and masks."""
    n = len(degree)
    arrays |= _write_ids(folder, ids, n)
    features, width = _write_features(folder, x, n)
    arrays |= features
    for name, values in per_node.items():
        if values is None:
            continue
        dtype: Any = np.int64 if name == "y" else np.bool_
        array = as_array(values, name, "[N]")
        if array.shape != (n,) or not (array.dtype.kind in "iu" if name == "y" else array.dtype == dtype):
            raise ValueError(
                f"{name} has shape {list(array.shape)}, dtype {array.dtype}; expected "
                f"{np.dtype(dtype).name} of shape [{n}]"
            )
        arrays[name] = write_array(folder, name, array, dtype)
    Manifest(n, int(degree.sum()) // 2, width, [*map(str, classes)], about, arrays).write(folder)


def _write_ids(folder: Path, ids: Sequence[Any] | NDArray[Any] | None, n: int) -> dict[str, StoredArray]:
    """Write names of the nodes; nothing if they are their numbers."""
    if ids is None:
        return {}
    if len(ids) != n:
        raise ValueError(f"{len(ids):,} ids for {n:,} nodes; expected one for each")
    array = ids if isinstance(ids, np.ndarray) else np.array(ids, object)
    if array.dtype.kind in "iu":
        plain = np.array_equal(array, np.arange(n))
        return {} if plain else {"ids": write_array(folder, "ids", array, np.int64)}
    encoded = [str(name).encode("utf-8", "replace") for name in array.tolist()]
    starts = np.cumsum([0, *map(len, encoded)])
    text = np.frombuffer(b"".join(encoded), np.uint8)
    return {
        "ids_ptr": write_array(folder, "ids_ptr", starts, np.int64),
        "ids_text": write_array(folder, "ids_text", text, np.uint8),
    }


def _write_features(folder: Path, x: Any, n: int) -> tuple[dict[str, StoredArray], int]:
    """Write features: dense, in pieces of rows, or sparse; returns the arrays and the number of columns."""
    if x is None:
        return {}, 0
    given: Any = x
    if sparse.issparse(x):
        csr: Any = sparse.csr_array(given)
        csr.sum_duplicates()
        check_csr(csr.indptr, csr.indices, (n, csr.shape[1]), "x", values=csr.data)
        parts: dict[str, tuple[Any, Any]] = {
            "x_indptr": (csr.indptr, np.int64),
            "x_indices": (csr.indices, np.int32),
            "x_values": (csr.data, np.float32),
        }
        return {name: write_array(folder, name, *part) for name, part in parts.items()}, int(csr.shape[1])
    pieces = (as_array(piece, "x", "[rows, F]") for piece in ([x] if hasattr(x, "shape") else x))
    first = next(pieces, np.empty((0, 0), np.float32))
    if first.ndim != 2:
        raise ValueError(f"x has shape {list(first.shape)}; expected [N, F], or pieces of such rows")
    # A piece may be mapped, and larger than memory.
    rows = (piece[at : at + 2**16] for piece in chain([first], pieces) for at in range(0, len(piece), 2**16))
    stored = write_array(folder, "x", rows, np.float32, first.shape[1])
    if stored.shape[0] != n:
        raise ValueError(f"x has {stored.shape[0]:,} rows for {n:,} nodes; expected one for each")
    return {"x": stored}, int(first.shape[1])


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
        keys[at] = np.uint64(a << 32 | b << 1)
        at += 1
        if a == b:
            loops += 1
        else:
            keys[at] = np.uint64(b << 32 | a << 1 | 1)
            at += 1
    return at, loops, largest, -1


@kernel
def _mark_sources(keys: Any, present: Any) -> Any:
    for key in keys:
        present[key >> np.uint64(32)] = True


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
def _fold(keys: Any, neighbours: Any, degree: Any, place: Any) -> Any:
    """Each neighbour once; also repeats and edges given in one direction only, as `simple_graph` has them.

    Which end is lower, and which way an edge was given, cannot be foreseen: sums instead of branches.
    """
    end, p = 0, 0
    duplicates: Any = 0
    one_way: Any = 0
    while p < len(keys):
        pair, first = keys[p] >> _FLAG, p
        p += 1
        while p < len(keys) and keys[p] >> _FLAG == pair:
            p += 1
        u, v = np.int64(pair >> np.uint64(31)), np.int64(pair & _MASK)
        if u == v:
            continue
        neighbours[end] = v if place is None else place[v]
        degree[u] += 1
        end += 1
        lower = np.int64(u < v)  # edges are counted in the rows of these ends
        both = np.int64((keys[p - 1] & _FLAG) - (keys[first] & _FLAG))  # sorted: the other direction is last
        one_way += lower * (1 - both)
        duplicates += lower * (p - first - 1 - both)
    return end, duplicates, one_way
