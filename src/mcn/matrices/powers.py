"""Rows of Ψ(A_t^k) (eq:kstep1, eq:kstep2), one at a time: a sparse row times a sparse matrix, k − 1 times.

A row is held as ascending `columns` with `values`; `total` is a dense accumulator and `bits` a set of
columns met, both all zero between calls. The T adjacencies lie below each other in one CSR (the arrays
`source`), so row i of A_t is row t·N + i. Sums run over ascending intermediate nodes: a row has the same bits
in whatever order, on whatever thread and for whatever purpose it is computed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from graphmotifs._sort import sort_part
from graphmotifs._threads import run_chunks
from mcn.matrices.adjacencies import Adjacencies
from mcn.matrices.psi import SYMMETRIC, degree_of_row, weigh_row, weigh_rows
from mcn.matrices.rows import Rows, thread_count

CHUNK = 512  # rows
_Roots = tuple[NDArray[np.float64], NDArray[np.float64]]


class Powers:
    """The K·T matrices Ψ(A_t^k) of some adjacencies, from which any rows can be computed.

    `psi` is the number of Ψ (`mcn.matrices.psi.psi_code`). The bits do not depend on the threads.
    """

    def __init__(self, adjacencies: Adjacencies, psi: int, steps: int, threads: int | None) -> None:
        self.adjacencies, self.psi, self.steps, self.threads = adjacencies, psi, steps, threads

    @cached_property
    def _roots(self) -> _Roots:
        """√D of eq:k5 of the rows and of the columns of every power, [T·K, N]; other Ψ need none, [T·K, 0].

        A symmetric matrix has one D for both.
        """
        options, n = len(self.adjacencies.motifs) * self.steps, self.adjacencies.num_nodes
        rows = np.empty((options, n if self.psi == SYMMETRIC else 0))
        if self.psi != SYMMETRIC:
            return rows, rows
        columns = rows if self.adjacencies.symmetric else np.empty_like(rows)
        nowhere = Rows(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
        self._compute_all((rows, columns), nowhere)
        if self.adjacencies.symmetric:
            roots = np.sqrt(rows)
            return roots, roots
        return np.sqrt(rows), np.sqrt(columns + self._column_sums())

    def _column_sums(self) -> NDArray[np.float64]:
        """The sums of the columns of every A_t^k, [T·K, N]."""
        adj, sums = self.adjacencies, []
        for t in range(len(adj.motifs)):
            turned, walks = adj.matrix(t).T.tocsr(), np.ones(adj.num_nodes)
            for _ in range(self.steps):
                walks = np.asarray(turned @ walks)
                sums.append(walks)
        return np.stack(sums)

    def rows(
        self, nodes: NDArray[np.int64], choice: NDArray[np.int64], dtype: type[np.floating[Any]] = np.float32
    ) -> Rows:
        """Compute row ``nodes[r]`` of matrix ``choice[r]``, t·K + (k − 1), for every r."""
        n, size, roots = self.adjacencies.num_nodes, nodes.size, self._roots
        workers = thread_count(self.threads, row_work(self.adjacencies, self.steps, size))
        bounds = [*range(0, size, CHUNK), size] if workers > 1 else [0, size]
        scratch = [_new_scratch(n) for _ in range(workers)]
        lengths = np.empty(size, np.int64)
        parts: dict[int, tuple[NDArray[np.int32], NDArray[Any]]] = {}

        def work(worker: int, start: int, stop: int) -> None:
            part = slice(start, stop)
            chosen, source = (nodes[part], choice[part], lengths[part]), self.adjacencies.rows
            nothing = (np.empty(0, np.int32), np.empty(0, dtype))
            parts[start] = _chosen_rows(
                self.psi, self.steps, n, source, roots, chosen, nothing, scratch[worker]
            )

        run_chunks(work, bounds, workers)
        indptr = np.zeros(size + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        columns, values = zip(*(parts[start] for start in sorted(parts)), strict=True)
        return Rows(indptr, np.concatenate(columns), np.concatenate(values))

    def all_rows(self, lengths: NDArray[np.int32]) -> Rows:
        """Compute all matrices into one CSR with row index (t·K + (k − 1))·N + i, given their row lengths."""
        indptr = np.zeros(lengths.size + 1, np.int64)
        np.cumsum(lengths.reshape(-1), out=indptr[1:])
        size = int(indptr[-1])
        out = Rows(indptr, np.empty(size, np.int32), np.empty(size, np.float32))
        self._compute_all(self._roots, out)
        return out

    def _compute_all(self, roots: _Roots, out: Rows) -> None:
        """Compute all rows into `out`, or only D and M into `roots` where `out` has no room for any."""
        n, source = self.adjacencies.num_nodes, self.adjacencies.rows
        count = len(self.adjacencies.motifs) * n
        workers = thread_count(self.threads, row_work(self.adjacencies, self.steps, count))
        scratch = [_new_scratch(n) for _ in range(workers)]

        def chunk(worker: int, start: int, stop: int) -> None:
            if self.steps == 1 and len(out.indptr):  # the kernel that multiplies takes a second to compile
                weigh_rows(self.psi, n, source, roots, start, stop, out)
            else:
                _all_rows(self.psi, self.steps, n, source, roots, start, stop, out, scratch[worker])

        run_chunks(chunk, [*range(0, count, CHUNK), count], workers)


def row_work(adj: Adjacencies, steps: int, count: int) -> float:
    """Estimate the entries touched for `count` rows: the mean degree per step, at most all entries."""
    entries = len(adj.rows.indices)
    mean = max(1.0, entries / max(1, len(adj.motifs) * adj.num_nodes))
    with np.errstate(over="ignore"):  # of a long walk, the second of the two bounds is the smaller one
        return float(count * (min(np.float64(mean) ** steps, float(steps * entries)) + 1.0))


# Position of the lowest set bit of a 64-bit word by multiplication with a de Bruijn number.
_DEBRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(64, np.uint64)
for _i in range(64):
    _POSITION[((int(_DEBRUIJN) << _i) & (2**64 - 1)) >> 58] = _i
_ONE, _SIX, _LOW, _TOP, _ZERO = (np.uint64(v) for v in (1, 6, 63, 58, 0))


class _Scratch(NamedTuple):
    """Private memory of one worker, about 24 bytes per node."""

    columns: NDArray[np.uint32]
    values: NDArray[np.float64]
    touched: NDArray[np.uint32]
    total: NDArray[np.float64]
    bits: NDArray[np.uint64]


def _new_scratch(num_nodes: int) -> _Scratch:
    """Scratch for rows of `num_nodes` columns."""
    return _Scratch(
        np.empty(num_nodes, np.uint32),
        np.empty(num_nodes, np.float64),
        np.empty(num_nodes, np.uint32),
        np.zeros(num_nodes, np.float64),
        np.zeros((num_nodes + 63) // 64, np.uint64),
    )


@kernel
def _order_touched(touched: Any, found: Any, bits: Any) -> None:
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
def _first_step(source: Any, row: Any, scratch: Any) -> int:
    """Load row `row` of the stacked adjacencies; returns its length."""
    indptr, indices, values = source
    start = indptr[row]
    count = indptr[row + 1] - start
    for p in range(count):
        scratch.columns[p] = indices[start + p]
        scratch.values[p] = values[start + p]
    return count  # type: ignore[no-any-return]


@kernel
def _next_step(source: Any, offset: Any, count: int, scratch: Any) -> int:
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
    _order_touched(touched, found, bits)
    for p in range(found):
        j = np.uint64(touched[p])
        columns[p] = j
        weights[p] = total[j]
        total[j] = 0.0
    return found  # type: ignore[no-any-return]


@kernel
def _chosen_rows(
    psi: int, steps: int, num_nodes: int, source: Any, roots: Any, chosen: Any, buffers: Any, scratch: Any
) -> Any:
    """Compute rows of Ψ(A_t^k) for nodes with choices t·K + (k − 1), into buffers that grow.

    `chosen` are the nodes, their choices, and where the lengths of the rows are written to.
    """
    nodes, choice, lengths = chosen
    to_columns, to_values = buffers
    used = 0
    for r in range(nodes.size):
        i = nodes[r]
        offset = (choice[r] // steps) * num_nodes
        count = _first_step(source, offset + i, scratch)
        for _ in range(choice[r] % steps):
            count = _next_step(source, offset, count, scratch)
        if used + count + 1 > to_columns.size:
            size = 2 * (used + count + 1)
            more_columns = np.empty(size, to_columns.dtype)
            more_values = np.empty(size, to_values.dtype)
            for p in range(used):  # a slice would bring seconds of numba's broadcasting to compile
                more_columns[p] = to_columns[p]
                more_values[p] = to_values[p]
            to_columns = more_columns
            to_values = more_values
        row = (scratch.columns, scratch.values, count)
        own_roots = (roots[0][choice[r]], roots[1][choice[r]])
        end = weigh_row(psi, i, row, own_roots, to_columns, to_values, used)
        lengths[r] = end - used
        used = end
    return to_columns[:used], to_values[:used]


@kernel
def _all_rows(
    psi: int,
    steps: int,
    num_nodes: int,
    source: Any,
    roots: Any,
    start: int,
    stop: int,
    out: Any,
    scratch: Any,
) -> None:
    """Compute every Ψ(A_t^k) of rows start … stop − 1 of the stacked A_t, each to its place in the stack.

    Where `out` has no places, M_ii of eq:k5 is written to the second of the `roots` and D_ii to the first,
    which may be the same array.
    """
    to_indptr, to_columns, to_values = out
    for row in range(start, stop):
        motif, i = row // num_nodes, row % num_nodes
        count = _first_step(source, row, scratch)
        for k in range(steps):
            if k > 0:
                count = _next_step(source, motif * num_nodes, count, scratch)
            c = motif * steps + k
            if to_indptr.size == 0:
                degree, loop = degree_of_row(scratch.values, count)
                roots[1][c, i] = loop
                roots[0][c, i] = degree
            else:
                found, own_roots = (scratch.columns, scratch.values, count), (roots[0][c], roots[1][c])
                weigh_row(psi, i, found, own_roots, to_columns, to_values, to_indptr[c * num_nodes + i])
