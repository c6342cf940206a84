"""Copying chosen rows out of a stored stack, and renaming columns to positions in a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn._threads import run_chunks
from mcn.matrices.compute import thread_count
from mcn.matrices.rows import Rows


@kernel
def _row_pointers(indptr: Any, numbers: Any, to_indptr: Any) -> None:
    to_indptr[0] = 0
    for r in range(numbers.size):
        to_indptr[r + 1] = to_indptr[r] + indptr[numbers[r] + 1] - indptr[numbers[r]]


@kernel
def _copy_rows(
    indptr: Any,
    indices: Any,
    values: Any,
    numbers: Any,
    start: int,
    stop: int,
    to_indptr: Any,
    to_indices: Any,
    to_values: Any,
) -> None:
    for r in range(start, stop):
        source = indptr[numbers[r]]
        at = to_indptr[r]
        for p in range(to_indptr[r + 1] - at):
            to_indices[at + p] = indices[source + p]
            to_values[at + p] = values[source + p]


def gather_rows(stored: Rows, numbers: NDArray[np.int64], threads: int | None) -> Rows:
    """Rows `numbers` of a CSR as a CSR of their own, in O(entries of these rows)."""
    indptr = np.empty(numbers.size + 1, np.int64)
    _row_pointers(stored.indptr, numbers, indptr)
    entries = int(indptr[-1])
    result = Rows(indptr, np.empty(entries, np.int32), np.empty(entries, np.float32))
    workers = thread_count(threads, entries)

    def work(_worker: int, start: int, stop: int) -> None:
        _copy_rows(*stored, numbers, start, stop, *result)

    chunks = 4 * workers if workers > 1 else 1
    run_chunks(work, [numbers.size * c // chunks for c in range(chunks + 1)], workers)
    return result


@kernel
def _rename(indptr: Any, position: Any, num_dst: int, indices: Any, values: Any) -> None:
    for r in range(indptr.size - 1):
        start, stop = indptr[r], indptr[r + 1]
        if stop - start <= 32:  # most rows: an insertion sort in place, without a copy
            for p in range(start, stop):
                new, value, q = position[indices[p]], values[p], p
                while q > start and indices[q - 1] > new:
                    indices[q], values[q] = indices[q - 1], values[q - 1]
                    q -= 1
                indices[q], values[q] = new, value
            continue
        row_indices = indices[start:stop].copy()
        row_values = values[start:stop].copy()
        # Targets come first among the sources, in any order; the other sources ascend with their ids.
        front = start
        for p in range(stop - start):
            if position[row_indices[p]] < num_dst:
                indices[front] = position[row_indices[p]]
                values[front] = row_values[p]
                front += 1
        order = np.argsort(indices[start:front])
        front_indices = indices[start:front].copy()
        front_values = values[start:front].copy()
        for p in range(order.size):
            indices[start + p] = front_indices[order[p]]
            values[start + p] = front_values[order[p]]
        for p in range(stop - start):
            if position[row_indices[p]] >= num_dst:
                indices[front] = position[row_indices[p]]
                values[front] = row_values[p]
                front += 1


def rename_columns(rows: Rows, position: NDArray[np.int32], num_dst: int) -> Rows:
    """`rows` with global ids replaced by positions among a block's sources, ascending in every row.

    Works in place: pass rows that nobody else holds.
    """
    _rename(rows.indptr, position, num_dst, rows.indices, rows.values)
    return rows
