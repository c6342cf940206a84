"""`Rows`, sparse rows in one CSR, and `RowSource`, what a layer takes its rows of Â from (eq:att_matrix)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphmotifs._arguments import as_array, limit_threads
from graphmotifs._jit import kernel
from graphmotifs._sort import sort_part
from graphmotifs._threads import available_threads, run_chunks

_PARALLEL = 2_000_000  # entries touched; with less, the work is over before a second thread has started
_SHORT = 32  # entries of a row up to which an insertion sort in place is the quickest


def thread_count(threads: int | None, work: float) -> int:
    """Decide how many threads, at most `threads`, are worth starting to touch about `work` entries."""
    most = limit_threads(threads)
    return 1 if work < _PARALLEL else most or available_threads()


class Rows(NamedTuple):
    """Sparse rows in one CSR of C-contiguous arrays: the one type for them, whatever they are rows of.

    The rows of Â that a layer works with have float32 values, and positions among the source nodes as
    indices, ascending within a row; every row holds the node itself.
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of entries of every row."""
        return np.diff(self.indptr)

    def sums(self) -> NDArray[np.float64]:
        """D_ii = Σ_j Â_ij, the sum of every row."""
        count = len(self.indptr) - 1
        row = np.repeat(np.arange(count), self.lengths)
        return np.bincount(row, self.values, minlength=count).astype(np.float64)

    def matrix(self, columns: int) -> csr_array:
        """Return the rows as a SciPy matrix that shares their arrays."""
        return csr_array((self.values, self.indices, self.indptr), shape=(len(self.indptr) - 1, columns))

    def part(self, start: int, stop: int) -> Rows:
        """Return rows start … stop − 1, whose entries are not copied."""
        indptr = self.indptr[start : stop + 1]
        entries = slice(int(indptr[0]), int(indptr[-1]))
        return Rows(indptr - indptr[0], self.indices[entries], self.values[entries])

    def take(self, numbers: NDArray[np.int64], threads: int | None = 1) -> Rows:
        """Copy the rows `numbers`, in this order, in O(entries of these rows)."""
        indptr = np.zeros(numbers.size + 1, np.int64)
        np.cumsum(self.indptr[numbers + 1] - self.indptr[numbers], out=indptr[1:])
        entries = int(indptr[-1])
        copy = Rows(indptr, np.empty(entries, np.int32), np.empty(entries, self.values.dtype))
        workers = thread_count(threads, entries)
        chunks = 4 * workers if workers > 1 else 1
        run_chunks(
            lambda _worker, start, stop: _copy_rows(self, numbers, start, stop, copy),
            [numbers.size * chunk // chunks for chunk in range(chunks + 1)],
            workers,
        )
        return copy

    def transpose(self, columns: int) -> Rows:
        """List the entries column by column, so that sums over a column have a fixed order.

        Row c of the result has the rows of column c as indices, ascending, and the numbers of its entries as
        values.
        """
        size = len(self.indices)
        turned = Rows(np.zeros(columns + 1, np.int64), np.empty(size, np.int32), np.empty(size, np.int64))
        _transpose(self.indptr, self.indices, *turned)
        return turned

    def normalised(self, sources: NDArray[np.float64], targets: NDArray[np.float64]) -> Rows:
        """Scale the entries to D^-1/2 Â D^-1/2 (eq:gcn), given the row sums of Â of every source.

        `targets` has the row sum that each row uses for itself.
        """
        for degrees in (sources, targets):
            if len(degrees) and not degrees.min() > 0:
                place = degrees.argmin()
                raise ValueError(f"row sums of Â must be positive, got {degrees[place]} at source {place}")
        own = np.repeat(1.0 / np.sqrt(targets), self.lengths)
        values = self.values * own * (1.0 / np.sqrt(sources))[self.indices]
        return Rows(self.indptr, self.indices, values.astype(self.values.dtype))


def below_each_other(parts: list[Rows]) -> Rows:
    """Lay the rows of several `Rows` below each other."""
    ends = np.cumsum([0, *(len(rows.indices) for rows in parts)])
    indptr = [rows.indptr[1:] + end for rows, end in zip(parts, ends, strict=False)]
    return Rows(
        np.concatenate([[0], *indptr]),
        np.concatenate([rows.indices for rows in parts]),
        np.concatenate([rows.values for rows in parts]),
    )


@kernel
def _copy_rows(rows: Any, numbers: Any, start: int, stop: int, copy: Any) -> None:
    for r in range(start, stop):
        source, at = rows.indptr[numbers[r]], copy.indptr[r]
        for p in range(copy.indptr[r + 1] - at):
            copy.indices[at + p] = rows.indices[source + p]
            copy.values[at + p] = rows.values[source + p]


@kernel
def _transpose(indptr: Any, indices: Any, out_indptr: Any, rows: Any, entries: Any) -> None:
    for e in range(indices.shape[0]):
        out_indptr[indices[e] + 1] += 1
    for c in range(out_indptr.shape[0] - 1):
        out_indptr[c + 1] += out_indptr[c]
    cursor = out_indptr[:-1].copy()
    for r in range(indptr.shape[0] - 1):
        for e in range(indptr[r], indptr[r + 1]):
            slot = cursor[indices[e]]
            rows[slot] = r
            entries[slot] = e
            cursor[indices[e]] += 1


@kernel
def rename_columns(rows: Any, position: Any) -> None:
    """Replace global ids by positions among a block's sources, and sort every row by them, in place.

    It is done for every chosen row in every epoch: SciPy's matrix around it took a twelfth of an epoch.
    """
    indices, values = rows.indices, rows.values
    for r in range(rows.indptr.size - 1):
        start, stop = rows.indptr[r], rows.indptr[r + 1]
        if stop - start <= _SHORT:
            for p in range(start, stop):
                new, value, q = position[indices[p]], values[p], p
                while q > start and indices[q - 1] > new:
                    indices[q], values[q] = indices[q - 1], values[q - 1]
                    q -= 1
                indices[q], values[q] = new, value
            continue
        keys = np.empty(stop - start, np.int64)  # the new index, and where the value was
        before = np.empty(stop - start, values.dtype)
        for p in range(stop - start):
            keys[p] = np.int64(position[indices[start + p]]) << 32 | p
            before[p] = values[start + p]
        sort_part(keys, np.int64(0), np.int64(stop - start))
        for p in range(stop - start):
            indices[start + p] = keys[p] >> 32
            values[start + p] = before[keys[p] & 0xFFFFFFFF]


def check_numbers(given: Any, name: str, count: int) -> NDArray[np.int64]:
    """Return a list of integers in 0 … count - 1, checked: a kernel reads wherever they point."""
    numbers = as_array(given, name, "[n]")
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise ValueError(f"{name} has shape {numbers.shape} and type {numbers.dtype}; expected integers [n].")
    bad = np.flatnonzero((numbers < 0) | (numbers >= count))
    if bad.size:
        raise ValueError(f"{name}[{bad[0]}] = {numbers[bad[0]]} is outside 0 … {count - 1}.")
    return np.ascontiguousarray(numbers, np.int64)


class RowSource(ABC):
    """Gives the rows of Â that target nodes choose, over source nodes.

    A whole `MotifStack` is one (all nodes are targets and sources), and so are the blocks of it.

    Attributes:
        motifs: names of the T motifs.
        steps: K, the greatest step size.
        src: global ids of the source nodes, [num_src]; the first `num_dst` are the targets, in order.
        node_counts: C of eq:state for the targets, [num_dst, number of node orbits].
        base: the target rows of Ψ(A), A the plain adjacency, for the state of eq:state.
        dropout_by_node: whether ids of nodes decide what a layer drops out, instead of their positions: it
            then does not depend on which other nodes are computed along with them.
    """

    motifs: tuple[str, ...]
    steps: int
    num_dst: int
    src: NDArray[np.int64]
    node_counts: NDArray[np.float32]
    base: Rows
    dropout_by_node: bool = False

    @property
    def num_motifs(self) -> int:
        """T, the number of motifs."""
        return len(self.motifs)

    @property
    def num_options(self) -> int:
        """T·K, the number of matrices that a target chooses its row from."""
        return len(self.motifs) * self.steps

    @property
    def num_src(self) -> int:
        """Number of source nodes."""
        return self.src.size

    @property
    def targets(self) -> NDArray[np.int64]:
        """Global ids of the target nodes, [num_dst]."""
        return self.src[: self.num_dst]

    @abstractmethod
    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """Return the rows of Â (eq:att_matrix) when target i chooses motif t and step k.

        ``choice[i] = t * K + (k - 1)``; None if there is nothing to choose (T·K = 1).
        """

    def check_choice(self, choice: Any) -> NDArray[np.int64]:
        """Return choices given by a caller as an array [num_dst]: an int stands for all targets."""
        what = f"{self.num_motifs} motifs × {self.steps} steps; choice = t * {self.steps} + (k - 1)"
        if choice is None:
            if self.num_options > 1:
                raise ValueError(f"choice is None, but there is something to choose ({what}).")
            return np.zeros(self.num_dst, np.int64)
        given = as_array(choice, "choice", f"[] or [{self.num_dst}]")
        if given.shape not in ((), (self.num_dst,)) or given.dtype.kind not in "iu":
            raise ValueError(
                f"choice has shape {given.shape} and type {given.dtype}; expected an int, or {self.num_dst} "
                "integers, one per target."
            )
        if given.size and not (given.min() >= 0 and given.max() < self.num_options):
            bad = int(np.flatnonzero((given < 0) | (given >= self.num_options))[0])
            place = f"[{bad}]" if given.ndim else ""
            raise ValueError(
                f"choice{place} = {given.flat[bad]} is outside 0 … {self.num_options - 1} ({what})."
            )
        return np.ascontiguousarray(given if given.ndim else np.full(self.num_dst, given), np.int64)


class StackBlock(RowSource):
    """The part of a stack that holds the rows of some target nodes, for training on a few nodes at a time.

    Its sources are the targets, then every other node that any row of a target can reach. Its values are
    those of the whole graph, not those of a subgraph. `MotifStack.block` makes it.
    """

    def __init__(self, stack: Any, src: NDArray[np.int64], num_dst: int) -> None:
        self.motifs, self.steps = stack.motifs, stack.steps
        self.src, self.num_dst = src, num_dst
        self.node_counts = stack.node_counts[self.targets]
        self._global_rows = stack.rows_of
        self._position = np.full(stack.num_src, -1, np.int32)
        self._position[src] = np.arange(src.size, dtype=np.int32)
        self.base = stack.base.take(self.targets, None)
        rename_columns(self.base, self._position)

    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """Return the rows of Â of the targets; see `RowSource.select`."""
        rows: Rows = self._global_rows(self.targets, self.check_choice(choice))
        rename_columns(rows, self._position)
        return rows


class PinnedBlock(RowSource):
    """A block in which every target makes the same known choice; `MotifStack.pinned_block` makes it.

    Its sources are the nodes that the chosen rows reach. An ordinary block must hold every node that any
    motif and step could reach, so that it grows with T and K; a pinned one does not. It has no `base`, whose
    rows may reach further: a pinned choice needs no state. `block` is the ordinary block of the targets,
    `all_degrees` returns the row sums of Â for all nodes of the graph.
    """

    def __init__(
        self, block: StackBlock, choice: int, all_degrees: Callable[[], NDArray[np.float64]]
    ) -> None:
        self.motifs, self.steps = block.motifs, block.steps
        self.choice, self.num_dst, self.node_counts = choice, block.num_dst, block.node_counts
        rows = block.select(np.full(block.num_dst, choice, np.int64))
        reached = np.zeros(block.num_src, bool)
        reached[rows.indices] = True
        reached[: block.num_dst] = True
        place = (np.cumsum(reached) - 1).astype(np.int32)
        self.src = block.src[reached]
        self._rows = Rows(rows.indptr, place[rows.indices], rows.values)
        self._all_degrees = all_degrees

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Row sums of Â for all sources."""
        return self._all_degrees()[self.src]

    @cached_property
    def normalised(self) -> Rows:
        """The rows of D^-1/2 Â D^-1/2 (eq:gcn), the same in every pass."""
        return self._rows.normalised(self.degrees, self.degrees[: self.num_dst])

    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """Return the pinned rows; refuse any other choice."""
        if choice is not None and (choice != self.choice).any():
            raise ValueError(
                f"choice: this block is pinned to {self.choice}, got {np.unique(choice).tolist()}"
            )
        return self._rows
