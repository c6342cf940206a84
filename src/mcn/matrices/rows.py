"""Rows in one CSR, and what is done with them: copying some, renaming their columns, turning them round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn._sort import sort_part
from mcn._threads import run_chunks
from mcn.matrices.compute import thread_count

_HALF, _LOW_HALF = np.uint64(32), np.uint64(2**32 - 1)


class Rows(NamedTuple):
    """The rows of Â (eq:att_matrix) of the target nodes, one CSR of C-contiguous arrays.

    `indices` are positions among the source nodes, ascending within a row; every row holds the node itself.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]

    def sums(self) -> NDArray[np.float64]:
        """D_ii = Σ_j Â_ij, the sum of every row."""
        count = len(self.indptr) - 1
        row = np.repeat(np.arange(count), np.diff(self.indptr))
        return np.bincount(row, self.values, minlength=count).astype(np.float64)


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
    """Copy the rows `numbers` of a CSR to a CSR of their own, in O(entries of these rows)."""
    indptr = np.empty(numbers.size + 1, np.int64)
    _row_pointers(stored.indptr, numbers, indptr)
    entries = int(indptr[-1])
    result = Rows(indptr, np.empty(entries, np.int32), np.empty(entries, stored.values.dtype))
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
        keys = np.empty(stop - start, np.uint64)  # the new index, and where the value is
        found = np.int64(0)
        for p in range(stop - start):
            new = position[row_indices[p]]
            if new < num_dst:
                keys[found] = (np.uint64(new) << _HALF) | np.uint64(p)
                found += 1
        sort_part(keys, np.int64(0), found)
        for p in range(found):
            indices[start + p] = np.int32(keys[p] >> _HALF)
            values[start + p] = row_values[np.int64(keys[p] & _LOW_HALF)]
        front = start + found
        for p in range(stop - start):
            if position[row_indices[p]] >= num_dst:
                indices[front] = position[row_indices[p]]
                values[front] = row_values[p]
                front += 1


def rename_columns(rows: Rows, position: NDArray[np.int32], num_dst: int) -> Rows:
    """Replace global ids by positions among a block's sources, and sort every row by them.

    The rows are changed in place: pass rows that nobody else holds.
    """
    _rename(rows.indptr, position, num_dst, rows.indices, rows.values)
    return rows


class Transposed(NamedTuple):
    """A CSR pattern by columns: the places ``indptr[c] … indptr[c+1]`` belong to column c.

    rows: the row of each place, ascending within a column. entries: its number in the CSR.
    """

    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    entries: NDArray[np.int64]


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


def transpose(indptr: NDArray[np.int64], indices: NDArray[np.int32], columns: int) -> Transposed:
    """List the entries of a CSR column by column, so that sums over a column have a fixed order."""
    out = Transposed(
        np.zeros(columns + 1, np.int64), np.empty(len(indices), np.int32), np.empty(len(indices), np.int64)
    )
    _transpose(indptr, indices, *out)
    return out
