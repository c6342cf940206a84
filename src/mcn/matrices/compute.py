"""Runs the row kernels on several threads; the result is the same for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._threads import available_threads, run_chunks
from mcn.data.arrays import limit_threads
from mcn.matrices.adjacencies import Adjacencies
from mcn.matrices.pattern import row_lengths
from mcn.matrices.powers import Scratch, all_rows, chosen_rows, new_scratch, root_degrees
from mcn.matrices.psi import SYMMETRIC

_PARALLEL = 2_000_000  # entries touched; with less, the work is over before a second thread has started
_CHUNK = 512  # rows


def thread_count(threads: int | None, work: float) -> int:
    """Decide how many threads, at most `threads`, are worth starting to touch about `work` entries."""
    most = limit_threads(threads)
    return 1 if work < _PARALLEL else most or available_threads()


def row_work(
    adj: Adjacencies, steps: int, rows: NDArray[np.int64], choice: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Estimate the entries touched for each row: its degree, times the mean degree per further step."""
    n = adj.num_nodes
    motif, further = np.divmod(choice, steps)
    entries = np.diff(adj.indptr[::n]).astype(np.float64) if n else np.zeros(len(adj.motifs))
    mean = np.maximum(entries / max(n, 1), 1.0)
    at = motif * n + rows
    length = (adj.indptr[at + 1] - adj.indptr[at]).astype(np.float64)
    work: NDArray[np.float64] = np.minimum(length * mean[motif] ** further, steps * entries[motif]) + 1.0
    return work


def _full_work(adj: Adjacencies, steps: int) -> float:
    rows = np.arange(adj.num_nodes)
    last = [
        row_work(adj, steps, rows, np.full(rows.size, (t + 1) * steps - 1)) for t in range(len(adj.motifs))
    ]
    return float(np.sum(last))


def _bounds(start: int, stop: int) -> list[int]:
    return [*range(start, stop, _CHUNK), stop]


def _run_motifs(
    adj: Adjacencies, steps: int, threads: int | None, work: Callable[[int, int, int, Scratch], None]
) -> None:
    """Call ``work(t, start, stop, scratch)`` over all rows of every motif t."""
    workers = thread_count(threads, _full_work(adj, steps))
    scratch = [new_scratch(adj.num_nodes) for _ in range(workers)]
    for t in range(len(adj.motifs)):

        def chunk(worker: int, start: int, stop: int, t: int = t) -> None:
            work(t, start, stop, scratch[worker])

        run_chunks(chunk, _bounds(0, adj.num_nodes), workers)


def compute_roots(adj: Adjacencies, psi: int, steps: int, threads: int | None) -> NDArray[np.float64]:
    """Compute √D_jj of eq:k5 for every power, [T·K, N]; other Ψ than ``symmetric`` need none, [T·K, 0]."""
    n, options = adj.num_nodes, len(adj.motifs) * steps
    if psi != SYMMETRIC:
        return np.empty((options, 0))
    roots = np.empty((options, n))

    def work(t: int, start: int, stop: int, scratch: Scratch) -> None:
        root_degrees(steps, n, adj.arrays, t, start, stop, roots, scratch)

    _run_motifs(adj, steps, threads, work)
    return roots


def compute_rows(
    adj: Adjacencies,
    psi: int,
    steps: int,
    roots: NDArray[np.float64],
    rows: NDArray[np.int64],
    choice: NDArray[np.int64],
    dtype: type[np.floating[Any]],
    threads: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Compute row ``rows[r]`` of matrix ``choice[r]`` for every r; return the three arrays of a CSR."""
    n = adj.num_nodes
    reached = np.cumsum(row_work(adj, steps, rows, choice))
    total = float(reached[-1]) if rows.size else 0.0
    workers = thread_count(threads, total)
    # Chunks of about equal work: one where one thread does it all, else enough to end together.
    marks = np.linspace(0, total, 8 * workers + 1) if workers > 1 else np.empty(0)
    bounds = np.unique([0, *np.searchsorted(reached, marks), rows.size]).tolist()
    scratch = [new_scratch(n) for _ in range(workers)]
    lengths = np.empty(rows.size, np.int64)
    parts: dict[int, tuple[NDArray[np.int32], NDArray[Any]]] = {}

    def work(worker: int, start: int, stop: int) -> None:
        chunk = slice(start, stop)
        at = choice[chunk] // steps * n + rows[chunk]
        size = int((adj.indptr[at + 1] - adj.indptr[at] + 1).sum())  # enough for k = 1; grows where it must
        buffers = (np.empty(size, np.int32), np.empty(size, dtype))
        parts[start] = chosen_rows(
            psi,
            steps,
            n,
            adj.arrays,
            roots,
            rows[chunk],
            choice[chunk],
            lengths[chunk],
            *buffers,
            scratch[worker],
        )

    run_chunks(work, bounds, workers)
    indptr = np.zeros(rows.size + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    if len(parts) == 1:
        return indptr, *parts[0]
    columns = [np.empty(0, np.int32), *(parts[start][0] for start in sorted(parts))]
    values = [np.empty(0, dtype), *(parts[start][1] for start in sorted(parts))]
    return indptr, np.concatenate(columns), np.concatenate(values)


def compute_stack(
    adj: Adjacencies,
    psi: int,
    steps: int,
    roots: NDArray[np.float64],
    lengths: NDArray[np.int32],
    threads: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Compute all K·T matrices into one CSR with row index (t·K + (k − 1))·N + i, given their row lengths."""
    n = adj.num_nodes
    indptr = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths.reshape(-1), out=indptr[1:])
    indices = np.empty(int(indptr[-1]), np.int32)
    values = np.empty(int(indptr[-1]), np.float32)

    def work(t: int, start: int, stop: int, scratch: Scratch) -> None:
        all_rows(psi, steps, n, adj.arrays, roots, t, start, stop, indptr, indices, values, scratch)

    _run_motifs(adj, steps, threads, work)
    return indptr, indices, values


def compute_lengths(
    adj: Adjacencies, steps: int, threads: int | None, most: float = np.inf
) -> tuple[NDArray[np.int32], bool]:
    """Count the entries of every row of every Ψ(A_t^k), int32 [T, K, N], and say whether all were counted.

    Counting stops when the sum exceeds `most`, which is checked after every 64th of a motif's rows. Rows that
    were not counted stay 0.
    """
    n = adj.num_nodes
    lengths = np.zeros((len(adj.motifs), steps, n), np.int32)
    workers = thread_count(threads, _full_work(adj, steps))
    seen = [np.zeros(2 * n, np.uint8) for _ in range(workers)]
    queues = [np.empty(2 * n, np.uint64) for _ in range(workers)]
    batch = max(
        4 * _CHUNK, -(-n // 64)
    )  # by the graph alone: where counting stops is the same for any threads
    total = 0
    for t in range(len(adj.motifs)):

        def work(worker: int, start: int, stop: int, t: int = t) -> None:
            row_lengths(
                steps, n, adj.indptr, adj.indices, t, start, stop, lengths, seen[worker], queues[worker]
            )

        for first in range(0, n, batch):
            last = min(first + batch, n)
            run_chunks(work, _bounds(first, last), workers)
            total += int(lengths[t, :, first:last].sum(dtype=np.int64))
            if total > most:
                return lengths, False
    return lengths, True
