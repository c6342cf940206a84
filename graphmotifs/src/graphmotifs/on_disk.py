"""Triangles of a graph on disk, within a buffer: lists and counts are files, cut into blocks that fit.

Nodes are ranked by degree and edges point upwards, as in memory (see `orient`). A *block* is a range of
ranks whose out-lists fit into the buffer with a counter per edge and thread. A triangle u < v < w is found
when v's block is in memory and u's list comes by: the lists are read from beginning to end once per block,
and every counter that is added to at random is in memory. A count that was killed is begun anew.

Memory: the buffer, and per node 32 bytes and 4 for each thread. Scratch on disk: 20 bytes per edge.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphmotifs._arguments import as_integer
from graphmotifs._files import atomic_write, naming
from graphmotifs._jit import kernel
from graphmotifs._sort import sort_part
from graphmotifs._threads import available_threads, cut_rows, run_chunks
from graphmotifs.base_counts import exact_sum
from graphmotifs.catalogue import EDGE_ORBITS, TRIANGLES, graphlet_of, stage_of
from graphmotifs.edge_kernels import closed_triples
from graphmotifs.graph import SimpleGraph
from graphmotifs.graph_rows import GraphRows
from graphmotifs.motif_counts import MotifCounts
from graphmotifs.oriented import rank_by_degree

LEAST_MEMORY = 2**16
_LEAST = 2**12  # edges of a block
_UNIT = 2**19  # edges of the stretch that a thread takes at a time
_WORD = 4
_ROWS = 2**16

Progress = Callable[[float], object]


def count_to_folder(
    rows: GraphRows,
    motifs: Sequence[str] | None,
    folder: Path,
    count: Callable[[list[str]], MotifCounts],
    *,
    induced: bool,
    threads: int | None,
    memory: int,
    local: bool,
    progress: Progress | None,
) -> Mapping[str, NDArray[Any]]:
    """Count motifs of a graph on disk into a folder: a file `count.MOTIF.npy` with an entry per neighbour.

    `count` counts motifs that need more than triangles in memory; if not `local`, it counts all of them.
    Returned are the arrays, mapped into memory; that of "edge" is 1 everywhere and has no file.
    """
    if as_integer(memory, "memory") < LEAST_MEMORY:
        raise ValueError(f"memory must be at least {LEAST_MEMORY:,} bytes, got {memory}")
    names = list(dict.fromkeys(EDGE_ORBITS if motifs is None else motifs))
    for name in names:
        graphlet_of(name)
    folder.mkdir(parents=True, exist_ok=True)
    on_disk = [name for name in names if local and stage_of(name, induced) == TRIANGLES and name != "edge"]
    in_memory = [name for name in names if name not in on_disk and name != "edge"]
    if on_disk:
        rows.check()
        _TriangleCount(rows, folder, threads or available_threads(), memory, progress).run(on_disk, induced)
    if in_memory:
        counts = count(in_memory)
        edges = _edges_of_neighbours(counts.graph)
        for name in in_memory:
            column = counts.column(name)
            kind: Any = np.int32 if int(column.max(initial=0)) < 2**31 else np.int64
            _write_array(_file_of(folder, name), [column.astype(kind)[edges]], kind)
    return {
        name: np.broadcast_to(np.int32(1), rows.indices.shape)
        if name == "edge"
        else np.load(_file_of(folder, name), mmap_mode="r")
        for name in names
    }


def _file_of(folder: Path, motif: str) -> Path:
    return folder / f"count.{motif}.npy"


def _write_array(path: Path, pieces: Iterable[NDArray[Any]], dtype: Any) -> None:
    """Write an array [entries] that comes in pieces; the file appears under its name when it is complete."""
    entries, header = 0, {"descr": np.dtype(dtype).newbyteorder("<").str, "fortran_order": False}
    with atomic_write(path) as file:
        np.lib.format.write_array_header_1_0(file, header | {"shape": (0,)})  # with room for any length
        for piece in pieces:
            file.write(np.ascontiguousarray(piece, header["descr"]).data)
            entries += len(piece)
        file.seek(0)
        np.lib.format.write_array_header_1_0(file, header | {"shape": (entries,)})


def totals_of(rows: GraphRows, values: NDArray[Any]) -> dict[str, int]:
    """Sum the counts of a motif over the edges, and say how many edges and nodes have any."""
    indptr = np.asarray(rows.indptr)
    total = edges = nodes = 0
    for start in range(0, rows.num_nodes, _ROWS):
        stop = min(start + _ROWS, rows.num_nodes)
        piece = np.asarray(values[indptr[start] : indptr[stop]])
        total += exact_sum(piece.astype(np.int64))
        edges += int(np.count_nonzero(piece))
        nodes_of_entries = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
        nodes += int(np.count_nonzero(np.bincount(nodes_of_entries[piece > 0], minlength=stop - start)))
    return {"per_edge": total // 2, "edges": edges // 2, "nodes": nodes}


class _TriangleCount:
    """Counts the triangles of a graph on disk, block by block."""

    def __init__(
        self, graph: GraphRows, folder: Path, threads: int, memory: int, progress: Progress | None
    ) -> None:
        if graph.num_edges >= 2**31:
            raise ValueError(f"{graph.num_edges:,} edges: at most 2**31 are supported")
        self._scratch = folder / ".counting"
        self._folder, self._threads, self._progress = folder, threads, progress
        # Beside the block with its counters: the stretch of each thread, with what is added to it.
        self._unit = max(1, min(_UNIT, memory // (32 * threads)))
        room = (memory - 16 * threads * self._unit) // (_WORD * (1 + threads))
        self._csr = np.asarray(graph.indptr), np.asarray(graph.indices)
        self._rank, _ = rank_by_degree(np.diff(graph.indptr).astype(np.uint32))
        self._ptr = np.zeros(graph.num_nodes + 1, np.uint64)  # where the out-list of every rank begins
        _out_degrees(*self._csr, self._rank, self._ptr)
        np.cumsum(self._ptr, out=self._ptr)
        cuts = _cut_blocks(self._ptr, max(_LEAST, room))
        self._blocks = list(pairwise(cuts))

    def run(self, motifs: Sequence[str], induced: bool) -> None:
        """Count, and write the counts of 2-star and triangle, an entry per neighbour."""
        shutil.rmtree(self._scratch, ignore_errors=True)  # what a killed count has left
        self._scratch.mkdir(mode=0o700)
        try:
            self._build()
            for block, (low, high) in enumerate(self._blocks):
                self._count_block(block, low, high)
            for motif in motifs:
                self._write(motif, induced)
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _file(self, name: str) -> Path:
        return self._scratch / f"{name}.u32"

    def _build(self) -> None:
        """Write the out-lists of all ranks, block by block; each takes a pass over the rows."""
        rows = cut_rows(self._csr[0], 64 * self._threads)
        lists_file = self._file("lists")
        with naming(lists_file), lists_file.open("wb") as file:
            for low, high in self._blocks:
                base = int(self._ptr[low])
                lists = np.empty(int(self._ptr[high]) - base, np.uint32)
                block = (self._rank, self._ptr, low, high, np.uint64(base), lists)
                self._on_threads(_fill_lists, rows, self._csr, block)
                self._on_threads(_sort_out_lists, cut_rows(self._ptr, 16 * self._threads, low, high), block)
                file.write(lists.data)

    def _count_block(self, block: int, low: int, high: int) -> None:
        base, end = int(self._ptr[low]), int(self._ptr[high])
        lists = self._read("lists", base, end)
        counters = [np.zeros(end - base, np.uint32) for _ in range(self._threads)]
        marks = [np.zeros(len(self._rank), np.uint32) for _ in range(self._threads)]
        units = cut_rows(self._ptr, max(1, -(-end // self._unit)), 0, high)
        lowest_file, middle_file = self._file("lowest"), self._file("middle")
        lowest_file.touch()

        def work(worker: int, start: int, stop: int) -> None:
            at, to = int(self._ptr[start]), int(self._ptr[stop])
            rows = self._read("lists", at, to)
            # Blocks before had only lists below theirs: what they have not written is zero.
            t = self._read("lowest", at, to)
            lowest, middle = (rows, np.uint64(at), t), (lists, np.uint64(base), counters[worker])
            middles = np.uint64(low), np.uint64(high)
            closed_triples(start, stop, marks[worker], self._ptr, *middles, lowest, middle, None)
            with naming(lowest_file), lowest_file.open("r+b") as file:
                file.seek(_WORD * at)
                file.write(t.data)

        step = 4 * self._threads
        for first in range(0, len(units) - 1, step):
            run_chunks(work, units[first : first + step + 1], self._threads)
            if self._progress is not None:
                done = min(first + step, len(units) - 1)
                self._progress(0.9 * (block + done / (len(units) - 1)) / len(self._blocks))
        for other in counters[1:]:
            counters[0] += other
        with naming(middle_file), middle_file.open("ab") as file:
            file.write(counters[0].data)

    def _read(self, name: str, start: int, stop: int) -> NDArray[np.uint32]:
        """Numbers of a scratch file; what lies behind its end is zero."""
        with self._file(name).open("rb") as file:
            file.seek(_WORD * start)
            values = np.fromfile(file, np.uint32, stop - start)
        return values if len(values) == stop - start else np.pad(values, (0, stop - start - len(values)))

    def _write(self, motif: str, induced: bool) -> None:
        """Write the counts in the order of the graph's neighbours; a pass over the rows per block."""
        partial = self._file("partial")
        partial.touch()
        for block, (low, high) in enumerate(self._blocks):
            base, end = int(self._ptr[low]), int(self._ptr[high])
            lists = self._read("lists", base, end)
            t = self._read("lowest", base, end)
            t += self._read("middle", base, end)
            pieces = self._row_counts(low, high, lists, t, partial if block else None)
            if block < len(self._blocks) - 1:
                with naming(partial), partial.open("r+b") as file:
                    for _, _, piece in pieces:  # a piece is read before it is written
                        file.write(piece.data)
        closed = None if motif == "triangle" else 2 if induced else 0
        _write_array(_file_of(self._folder, motif), self._finish_counts(pieces, closed), np.int32)

    def _finish_counts(
        self, pieces: Iterator[tuple[int, int, NDArray[np.int32]]], closed: int | None
    ) -> Iterator[NDArray[np.int32]]:
        """Yield the counts of triangles, or of 2-stars: those that are induced (`closed` is 2) or all (0)."""
        indptr, indices = self._csr
        degree = np.diff(indptr).astype(np.int32)
        for start, stop, values in pieces:
            if closed is not None:
                here, there = degree[start:stop], indices[indptr[start] : indptr[stop]]
                values = np.repeat(here, here) + degree[there] - 2 - closed * values
            yield values

    def _row_counts(
        self, low: int, high: int, lists: NDArray[Any], t: NDArray[Any], partial: Path | None
    ) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
        """Yield the counts of stretches of rows, as far as they are known after the blocks up to this one."""
        indptr, indices = self._csr
        block = (self._rank, self._ptr, low, high, np.uint64(self._ptr[low]), lists)
        rows = cut_rows(indptr, max(1, len(indices) // (4 * self._unit)))
        for start, stop in pairwise(rows.tolist()):
            at, to = int(indptr[start]), int(indptr[stop])
            values = np.zeros(to - at, np.int32)
            if partial is not None:
                values = np.fromfile(partial, np.int32, to - at, offset=_WORD * at)
            cuts = cut_rows(indptr, 4 * self._threads, start, stop)
            self._on_threads(_look_up, cuts, self._csr, block, t, values, at)
            yield start, stop, values

    def _on_threads(self, work: Callable[..., object], cuts: NDArray[np.int64], *given: Any) -> None:
        """Call `work` for ranges of rows, on threads."""
        run_chunks(lambda _worker, start, stop: work(start, stop, *given), cuts, self._threads)


def _cut_blocks(ptr: NDArray[np.uint64], most: int) -> list[int]:
    """Cut the ranks into ranges of at most `most` edges; a single list may be longer."""
    cuts, nodes = [0], len(ptr) - 1
    while cuts[-1] < nodes:
        stop = int(np.searchsorted(ptr, ptr[cuts[-1]] + np.uint64(most), side="right")) - 1
        cuts.append(min(nodes, max(stop, cuts[-1] + 1)))
    return cuts if nodes else [0, 0]


@kernel
def _out_degrees(indptr: Any, indices: Any, rank: Any, ptr: Any) -> Any:
    """Write into `ptr`, shifted by one, how many neighbours of each rank are of a higher rank."""
    for u in range(len(indptr) - 1):
        r = rank[u]
        higher = 0
        for e in range(indptr[u], indptr[u + 1]):
            higher += rank[indices[e]] > r
        ptr[r + np.uint32(1)] = np.uint64(higher)


@kernel
def _fill_lists(start: Any, stop: Any, csr: Any, block: Any) -> Any:
    """Write the out-lists of the nodes in [start, stop) that rank in [low, high), a list by one thread."""
    (indptr, indices), (rank, ptr, low, high, base, lists) = csr, block
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
def _sort_out_lists(start: Any, stop: Any, block: Any) -> Any:
    _, ptr, _, _, base, lists = block
    for r in range(start, stop):
        sort_part(lists, np.int64(ptr[r] - base), np.int64(ptr[r + 1] - base))


@kernel
def _look_up(start: Any, stop: Any, csr: Any, block: Any, t: Any, values: Any, shift: Any) -> Any:
    """Write the counts of the neighbours of nodes in [start, stop) whose lower end ranks in [low, high)."""
    (indptr, indices), (rank, ptr, low, high, base, lists) = csr, block
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


def _edges_of_neighbours(graph: SimpleGraph) -> NDArray[np.int64]:
    """The number of the edge (u < v, sorted) that leads to each neighbour, in the order of the rows."""
    numbers = np.arange(1, graph.num_edges + 1)  # from 1 on: sums of sparse matrices drop zeros
    upper = csr_array((numbers, graph.indices, graph.indptr), shape=(graph.num_nodes, graph.num_nodes))
    both = csr_array(upper + upper.T)
    both.sort_indices()
    return np.asarray(both.data - 1)
