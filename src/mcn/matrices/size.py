"""The size of a stack, counted before any power is built, and which nodes its rows reach.

Only the pattern of the powers is looked at, not their values: step k of a node's row is what the neighbours
of step k − 1 make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from graphmotifs._jit import kernel
from graphmotifs._memory import total_bytes
from graphmotifs._threads import run_chunks
from mcn._memory import human_bytes
from mcn.matrices.adjacencies import Adjacencies, adjacencies_from_counts
from mcn.matrices.powers import CHUNK, row_work
from mcn.matrices.rows import Rows, thread_count

if TYPE_CHECKING:
    from mcn.matrices.adjacencies import AnyCounts

ENTRY_BYTES = 8  # int32 column, float32 value
ROW_BYTES = 8  # int64 row pointer
MAX_STEPS = 1000


class StackTooLarge(ValueError):
    """The K·T matrices need more memory than allowed; the message names the largest and says what to do."""


@dataclass(frozen=True, eq=False)
class StackSize:
    """The `entries` of every Ψ(A_t^k), int64 [T, K]; upper bounds if not `exact`."""

    motifs: tuple[str, ...]
    num_nodes: int
    entries: NDArray[np.int64]
    exact: bool = True

    @property
    def bytes(self) -> NDArray[np.int64]:
        """Memory of every matrix when it is stored, int64 [T, K]."""
        return self.entries * ENTRY_BYTES + self.num_nodes * ROW_BYTES

    @property
    def total_entries(self) -> int:
        """Entries of all matrices together."""
        return int(self.entries.sum())

    @property
    def total_bytes(self) -> int:
        """Memory of all matrices together when they are stored."""
        return int(self.bytes.sum())

    def __str__(self) -> str:
        width = max(len("total"), *map(len, self.motifs))
        lines = [f"{'motif':<{width}}  step  {'entries':>16}  {'memory':>10}"]
        for t, motif in enumerate(self.motifs):
            for k in range(self.entries.shape[1]):
                size = human_bytes(int(self.bytes[t, k]))
                lines.append(f"{motif:<{width}}  {k + 1:>4}  {self.entries[t, k]:>16,}  {size:>10}")
        lines.append(
            f"{'total':<{width}}        {self.total_entries:>16,}  {human_bytes(self.total_bytes):>10}"
        )
        return "\n".join(lines if self.exact else [*lines, "(upper bounds)"])

    __repr__ = __str__


def stack_size(
    counts: AnyCounts,
    motifs: Sequence[str] = ("edge", "triangle"),
    steps: int = 1,
    *,
    scope: str = "edges",
    add_edges: bool = False,
    exact: bool = True,
) -> StackSize:
    """Compute the size of the stack of these motifs and steps without building it. Ψ does not matter.

    That of matrices of one's own is ``MotifStack.from_adjacencies(…, materialize=False).size()``.

    Args:
        counts, motifs, steps, scope, add_edges: as in `MotifStack.from_counts`.
        exact: count by a search from every node (memory O(N) per thread, no power is stored);
            False gives upper bounds in O(K · edges).
    """
    adj = adjacencies_from_counts(counts, motifs, scope, add_edges)
    return size_of(adj, check_steps(steps), exact, threads=None)


def check_steps(steps: int) -> int:
    """Check that `steps` is an integer of at least 1, and return it."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise ValueError(f"steps={steps!r}; expected an integer of at least 1 (K, the greatest step size).")
    if steps > MAX_STEPS:
        raise ValueError(f"steps={steps!r}; at most {MAX_STEPS} are supported.")
    return int(steps)


def size_of(adj: Adjacencies, steps: int, exact: bool, threads: int | None) -> StackSize:
    """Count the entries, or bound them; for K = 1 a bound is exact unless A has entries on its diagonal."""
    if exact:
        entries = row_lengths(adj, steps, threads)[0].sum(axis=2, dtype=np.int64)
    else:
        entries = np.stack([_most_entries(adj.matrix(t), steps) for t in range(len(adj.motifs))])
    return StackSize(adj.motifs, adj.num_nodes, entries, exact)


def lengths_within(
    adj: Adjacencies, steps: int, memory_limit: float, threads: int | None
) -> NDArray[np.int32]:
    """Count the row lengths of all matrices; raise `StackTooLarge` as soon as they exceed the limit."""
    pointers = len(adj.motifs) * steps * adj.num_nodes * ROW_BYTES
    lengths, complete = row_lengths(adj, steps, threads, (memory_limit - pointers) / ENTRY_BYTES)
    if complete:
        return lengths
    counted = lengths.sum(axis=2, dtype=np.int64)
    t, k = map(int, np.unravel_index(counted.argmax(), counted.shape))
    at_least, at_most = int(counted[t, k]), int(size_of(adj, steps, False, threads).entries[t, k])
    all_rows = bool((lengths[t, k] > 0).all())
    number = f"{at_least:,}" if all_rows else f"between {at_least:,} and {at_most:,}"
    memory = human_bytes(at_least * ENTRY_BYTES)
    memory = memory if all_rows else f"{memory} to {human_bytes(at_most * ENTRY_BYTES)}"
    fewer = f"fewer steps (steps={k} leaves it out), " if k else ""
    raise StackTooLarge(
        f"the matrices of {len(adj.motifs)} motifs × {steps} steps need more than memory_limit="
        f"{human_bytes(memory_limit)}; the largest found is motif {adj.motifs[t]!r} at step {k + 1} with "
        f"{number} entries ({memory}). Use {fewer}fewer motifs, "
        "materialize=False (rows are computed when they are chosen), or a higher memory_limit."
    )


def default_memory_limit() -> float:
    """8 GiB, or half of the machine's memory where that is less."""
    return min(8 * 2.0**30, total_bytes() / 2)


def row_lengths(
    adj: Adjacencies, steps: int, threads: int | None, most: float = np.inf
) -> tuple[NDArray[np.int32], bool]:
    """Count the entries of every row of every Ψ(A_t^k), int32 [T, K, N], and say whether all were counted.

    Counting stops when the sum exceeds `most`, which is checked after every 64th of a motif's rows. Rows that
    were not counted stay 0.
    """
    n = adj.num_nodes
    lengths = np.zeros((len(adj.motifs), steps, n), np.int32)
    if steps == 1:  # nothing to search: a row of A, and the node itself where it is not there
        for t in range(len(adj.motifs)):
            lengths[t, 0] = adj.of(t).lengths + (adj.matrix(t).diagonal() == 0)
        return lengths, bool(lengths.sum(dtype=np.int64) <= most)
    workers = thread_count(threads, row_work(adj, steps, len(adj.motifs) * n))
    seen = [np.zeros(n, np.uint8) for _ in range(workers)]
    queues = [np.empty(2 * n, np.uint64) for _ in range(workers)]
    batch = max(4 * CHUNK, -(-n // 64))  # by the graph alone: counting stops at the same row for any threads
    total = 0
    for t, first in product(range(len(adj.motifs)), range(0, n, batch)):

        def work(worker: int, start: int, stop: int, t: int = t) -> None:
            _row_lengths(n, adj.rows, t, start, stop, lengths, seen[worker], queues[worker])

        last = min(first + batch, n)
        run_chunks(work, [*range(first, last, CHUNK), last], workers)
        total += int(lengths[t, :, first:last].sum(dtype=np.int64))
        if total > most:
            return lengths, False
    return lengths, True


_ONE = np.uint64(1)


@kernel
def _row_lengths(
    num_nodes: int, rows: Any, motif: int, start: int, stop: int, lengths: Any, seen: Any, queue: Any
) -> None:
    """Count the entries of rows start … stop − 1 of Ψ(A_t^k) into ``lengths[motif, k − 1, i]``.

    `seen` (uint8 [N], zero between calls) marks the nodes of a step; the steps lie in both halves of `queue`
    (uint64 [2·N]) in turn.
    """
    indptr, indices, _ = rows
    n = np.uint64(num_nodes)
    offset = np.uint64(motif) * n
    for i in range(start, stop):
        node = np.uint64(i)
        queue[0] = node
        count = _ONE
        for k in range(lengths.shape[1]):
            here, there = (n, np.uint64(0)) if k & 1 else (np.uint64(0), n)
            found = np.uint64(0)
            for p in range(count):
                row = offset + queue[here + p]
                for q in range(np.uint64(indptr[row]), np.uint64(indptr[row + _ONE])):
                    j = np.uint64(indices[q])
                    if seen[j] == 0:
                        seen[j] = 1
                        queue[there + found] = j
                        found += _ONE
            missing = seen[node] == 0  # every Ψ puts the node itself into its row
            lengths[motif, k, i] = found + (_ONE if missing else np.uint64(0))
            for p in range(found):
                seen[queue[there + p]] = 0
            count = found


def _most_entries(matrix: csr_array, steps: int) -> NDArray[np.int64]:
    """Bound the entries of Ψ(A^k) from above, k = 1 … `steps`, in O(steps · entries of A).

    A row of A^k is no longer than the rows of A^(k−1) of its neighbours together, and than its component.
    """
    n = matrix.shape[0]
    pattern = csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=(n, n))
    _, component = connected_components(pattern, directed=False)
    ceiling = np.bincount(component, minlength=1)[component].astype(np.float64)
    bounds = np.empty(steps, np.int64)
    length = np.ones(n)
    for k in range(steps):
        length = np.minimum(np.asarray(pattern @ length), ceiling)
        bounds[k] = int(np.minimum(length + 1, ceiling).sum())
    return bounds


def reach(rows: Rows, depth: int, targets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark every node within `depth` steps of the targets, the targets included."""
    seen = np.zeros(len(rows.indptr) - 1, np.bool_)
    seen[targets] = True
    front = targets
    for _ in range(depth):
        near = np.zeros_like(seen)
        near[rows.take(front).indices] = True
        front = np.flatnonzero(near & ~seen)
        seen |= near
    return seen
