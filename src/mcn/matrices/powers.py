"""Rows of A_t^k (eq:kstep2), one at a time: a sparse row times a sparse matrix, k − 1 times.

A row is held as ascending `columns` with `values`; `total` is a dense accumulator and `bits` a set of
columns met, both all zero between calls. The T adjacencies lie below each other in one CSR (the arrays
`source`), so row i of A_t is row t·N + i. Sums run over ascending intermediate nodes: a row has the same bits
in whatever order, on whatever thread and for whatever purpose it is computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn._sort import sort_part
from mcn.matrices.psi import degree_of_row, weigh_row

# Position of the lowest set bit of a 64-bit word by multiplication with a de Bruijn number.
_DEBRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(64, np.uint64)
for _i in range(64):
    _POSITION[((int(_DEBRUIJN) << _i) & (2**64 - 1)) >> 58] = _i
_ONE, _SIX, _LOW, _TOP, _ZERO = (np.uint64(v) for v in (1, 6, 63, 58, 0))


class Scratch(NamedTuple):
    """Private memory of one worker, about 24 bytes per node."""

    columns: NDArray[np.uint32]
    values: NDArray[np.float64]
    touched: NDArray[np.uint32]
    total: NDArray[np.float64]
    bits: NDArray[np.uint64]


def new_scratch(num_nodes: int) -> Scratch:
    """Scratch for rows of `num_nodes` columns."""
    return Scratch(
        np.empty(num_nodes, np.uint32),
        np.empty(num_nodes, np.float64),
        np.empty(num_nodes, np.uint32),
        np.zeros(num_nodes, np.float64),
        np.zeros((num_nodes + 63) // 64, np.uint64),
    )


@kernel
def order_touched(touched: Any, found: Any, bits: Any) -> None:
    """Sort the `found` columns in `touched` and empty `bits`, by whichever way is cheaper."""
    if found * 8 < bits.size:
        for p in range(found):
            bits[np.uint64(touched[p]) >> _SIX] = _ZERO
        sort_part(touched, np.int64(0), np.int64(found))
        return
    at = 0
    for w in range(bits.size):
        word = bits[w]
        bits[w] = _ZERO
        while word != _ZERO:
            low = word & (~word + _ONE)
            touched[at] = (np.uint64(w) << _SIX) + _POSITION[(low * _DEBRUIJN) >> _TOP]
            word ^= low
            at += 1


@kernel
def first_step(source: Any, row: Any, scratch: Any) -> int:
    """Load row `row` of the stacked adjacencies; returns its length."""
    indptr, indices, values = source
    start = indptr[row]
    count = indptr[row + 1] - start
    for p in range(count):
        scratch.columns[p] = indices[start + p]
        scratch.values[p] = values[start + p]
    return count  # type: ignore[no-any-return]


@kernel
def next_step(source: Any, offset: Any, count: int, scratch: Any) -> int:
    """Multiply the loaded row by the adjacency whose rows start at `offset`; returns its new length."""
    indptr, indices, values = source
    columns, weights, touched, total, bits = scratch
    found: Any = np.int64(0)  # a plain 0 has a type of its own, for which what is called is compiled anew
    for p in range(count):
        row = np.uint64(offset) + np.uint64(columns[p])
        weight = weights[p]
        for q in range(np.uint64(indptr[row]), np.uint64(indptr[row + _ONE])):
            j = np.uint64(indices[q])
            total[j] += weight * values[q]
            bit = _ONE << (j & _LOW)
            if bits[j >> _SIX] & bit == _ZERO:
                bits[j >> _SIX] |= bit
                touched[found] = j
                found += 1
    order_touched(touched, found, bits)
    for p in range(found):
        j = np.uint64(touched[p])
        columns[p] = j
        weights[p] = total[j]
        total[j] = 0.0
    return found  # type: ignore[no-any-return]


@kernel
def chosen_rows(
    psi: int,
    steps: int,
    num_nodes: int,
    source: Any,
    roots: Any,
    rows: Any,
    choice: Any,
    lengths: Any,
    to_columns: Any,
    to_values: Any,
    scratch: Any,
) -> Any:
    """Compute rows of Ψ(A_t^k) for nodes `rows` with choice t·K + (k − 1), into growing buffers."""
    used = 0
    for r in range(rows.size):
        i = rows[r]
        offset = (choice[r] // steps) * num_nodes
        count = first_step(source, offset + i, scratch)
        for _ in range(choice[r] % steps):
            count = next_step(source, offset, count, scratch)
        if used + count + 1 > to_columns.size:
            size = 2 * (used + count + 1)
            more_columns = np.empty(size, to_columns.dtype)
            more_values = np.empty(size, to_values.dtype)
            for p in range(used):  # a slice would bring seconds of numba's broadcasting to compile
                more_columns[p] = to_columns[p]
                more_values[p] = to_values[p]
            to_columns = more_columns
            to_values = more_values
        end = weigh_row(
            psi, i, scratch.columns, scratch.values, count, roots[choice[r]], to_columns, to_values, used
        )
        lengths[r] = end - used
        used = end
    return to_columns[:used], to_values[:used]


@kernel
def all_rows(
    psi: int,
    steps: int,
    num_nodes: int,
    source: Any,
    roots: Any,
    motif: int,
    start: int,
    stop: int,
    to_indptr: Any,
    to_columns: Any,
    to_values: Any,
    scratch: Any,
) -> None:
    """Compute rows start … stop − 1 of Ψ(A_t^k), one motif t and every k, each to its place in the stack."""
    offset = motif * num_nodes
    for i in range(start, stop):
        count = first_step(source, offset + i, scratch)
        for k in range(steps):
            if k > 0:
                count = next_step(source, offset, count, scratch)
            c = motif * steps + k
            at = to_indptr[c * num_nodes + i]
            weigh_row(psi, i, scratch.columns, scratch.values, count, roots[c], to_columns, to_values, at)


@kernel
def root_degrees(
    steps: int,
    num_nodes: int,
    source: Any,
    motif: int,
    start: int,
    stop: int,
    roots: Any,
    scratch: Any,
) -> None:
    """Compute √D_ii of eq:k5 for rows start … stop − 1 of A_t^k, one motif t and every k."""
    offset = motif * num_nodes
    for i in range(start, stop):
        count = first_step(source, offset + i, scratch)
        for k in range(steps):
            if k > 0:
                count = next_step(source, offset, count, scratch)
            roots[motif * steps + k, i] = np.sqrt(degree_of_row(scratch.values, count))
