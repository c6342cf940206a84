"""The five Ψ of the paper, which turn A into Ã (eq:k1–eq:k5): on whole matrices, and row by row.

Every Ψ adds something to the diagonal of A and scales the result, so one kernel over a finished row
serves all of them, whether the row is a row of a motif adjacency or of one of its powers:

==============  ========  ==========================================  ================
name            equation  Ã                                           added to A_ii
==============  ========  ==========================================  ================
``unweighted``  eq:k1     1 where A_ij > 0 or i = j                   (set to 1)
``row-max``     eq:k2     A + M                                       M_ii = max_j A_ij
``transition``  eq:k3     D⁻¹ (A + M), D the row sums of A + M        M_ii
``laplacian``   eq:k4     D + A, D the row sums of A                  D_ii
``symmetric``   eq:k5     D^-½ (A + M) D^-½, D the row sums of A + M  M_ii
==============  ========  ==========================================  ================

A row without entries becomes a plain self-loop of weight 1, whatever the Ψ. Where A is not symmetric (arcs),
eq:k5 has the row sums of A + M on the left and its column sums on the right; both count such self-loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphmotifs._jit import kernel
from graphmotifs._messages import one_of
from mcn.matrices.adjacencies import check_magnitude, check_matrix, lay_below
from mcn.matrices.rows import Rows

PSI_NAMES = ("unweighted", "row-max", "transition", "laplacian", "symmetric")

UNWEIGHTED, ROW_MAX, TRANSITION, LAPLACIAN, SYMMETRIC = range(5)
FINISHED = 5  # beside the codes of Ψ: the values are those of Ψ(A) already, its diagonal among them


def psi_code(psi: str) -> int:
    """Position of `psi` in `PSI_NAMES`; a ValueError about any other name suggests the nearest."""
    one_of("psi", psi, PSI_NAMES)
    return PSI_NAMES.index(psi)


def apply_psi(A: Any, psi: str) -> csr_array:
    """Ã = Ψ(A), in float64.

    Args:
        A: square matrix [N, N] with finite values ≥ 0 (SciPy sparse or dense). Its diagonal is kept.
        psi: ``unweighted`` (eq:k1), ``row-max`` (eq:k2), ``transition`` (eq:k3), ``laplacian`` (eq:k4) or
            ``symmetric`` (eq:k5).

    A row of A without entries becomes a self-loop of weight 1, whatever the Ψ.

    >>> apply_psi([[0, 2, 1], [2, 0, 0], [1, 0, 0]], "transition").toarray().tolist()
    [[0.4, 0.4, 0.2], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]
    """
    code, matrix = psi_code(psi), check_matrix(A, "A")
    below = lay_below({"A": matrix})
    check_magnitude(below, psi, 1, single=False)
    return psi_rows(below.rows, code, np.float64, symmetric=False).matrix(matrix.shape[1])


def psi_rows(rows: Rows, code: int, dtype: type[np.floating[Any]], symmetric: bool = True) -> Rows:
    """Compute the rows of Ψ(A) of a checked matrix; `symmetric` says whether it is."""
    n = len(rows.indptr) - 1
    most, roots = len(rows.indices) + n, (_NONE, _NONE)
    if code == SYMMETRIC:
        degrees, loops = _row_degrees(rows.indptr, rows.values)
        columns = degrees if symmetric else np.bincount(rows.indices, rows.values, n) + loops
        roots = np.sqrt(degrees)[None], np.sqrt(columns)[None]
    out = Rows(np.zeros(n + 1, np.int64), np.empty(most, np.int32), np.empty(most, dtype))
    weigh_rows(code, n, rows, roots, 0, n, out)
    return out.part(0, n)


def root_degrees(adjacency: Rows) -> NDArray[np.float64]:
    """Compute √D_ii of eq:k5 for every row; entries without values count 1 each."""
    roots: NDArray[np.float64] = np.sqrt(_row_degrees(adjacency.indptr, adjacency.values)[0])
    return roots


_NONE = np.empty((1, 0))  # the roots of every Ψ but ``symmetric``


@kernel
def weigh_rows(psi: int, num_nodes: int, source: Any, roots: Any, start: int, stop: int, out: Any) -> None:
    """Compute Ψ(A_t) of rows start … stop − 1 of the stacked A_t, each to where the one before it ends."""
    indptr, indices, values = source
    to_indptr, to_columns, to_values = out
    for row in range(start, stop):
        t, i, first = row // num_nodes, row % num_nodes, indptr[row]
        given, own_roots = (
            (indices[first:], values[first:], indptr[row + 1] - first),
            (roots[0][t], roots[1][t]),
        )
        to_indptr[row + 1] = weigh_row(psi, i, given, own_roots, to_columns, to_values, to_indptr[row])


@kernel
def _row_degrees(indptr: Any, values: Any) -> Any:
    """D_ii and M_ii of every row, float64 [2, N], see `degree_of_row`."""
    found = np.empty((2, indptr.size - 1))
    for i in range(indptr.size - 1):
        count = indptr[i + 1] - indptr[i]
        if values.size > 0:
            found[0, i], found[1, i] = degree_of_row(values[indptr[i] : indptr[i + 1]], count)
        else:
            found[0, i], found[1, i] = count + 1.0, 1.0
    return found


@kernel
def degree_of_row(values: Any, count: int) -> Any:
    """D_ii of eq:k3 and eq:k5, the row sum of A + M, and M_ii; a row without entries has a self-loop, 1."""
    if count == 0:
        return 1.0, 1.0
    total = 0.0
    top = 0.0
    for p in range(count):
        total += values[p]
        top = max(top, values[p])
    return total + top, top


@kernel
def entry_weight(psi: int, value: float, total: float, top: float, here: float, there: float) -> float:
    """Ψ's weight of an entry off the diagonal; `here` and `there` are √D of the two nodes (eq:k5)."""
    if psi == UNWEIGHTED:
        return 1.0
    if psi == TRANSITION:
        return value / (total + top)
    if psi == SYMMETRIC:
        return value / (here * there)
    return value


@kernel
def loop_weight(psi: int, own: float, total: float, top: float, here: float, there: float) -> float:
    """Ψ's weight of the diagonal; `own` is A_ii, `here` and `there` are √D of the row and of the column."""
    if psi == FINISHED:
        return own
    if psi == UNWEIGHTED or total == 0.0:
        return 1.0
    if psi == ROW_MAX:
        return own + top
    if psi == TRANSITION:
        return (own + top) / (total + top)
    if psi == LAPLACIAN:
        return own + total
    return (own + top) / (here * there)


@kernel
def weigh_row(psi: int, i: Any, row: Any, roots: Any, to_columns: Any, to_values: Any, at: int) -> int:
    """Write row `i` of Ã to position `at` and return where it ends, at most count + 1 further.

    `row` is the row of A: its columns, which ascend, its values, and their number. `roots` are √D_ii of eq:k5
    for every row and every column, and are read by ``symmetric`` only.
    """
    columns, values, count = row
    of_rows, of_columns = roots
    total = 0.0
    top = 0.0
    for p in range(count):
        total += values[p]
        top = max(top, values[p])
    here = of_rows[i] if psi == SYMMETRIC else 1.0
    pending = True  # the diagonal entry is still to be written
    p = 0
    while p < count or pending:
        if pending and (p == count or columns[p] >= i):
            own = 0.0
            if p < count and columns[p] == i:
                own = values[p]
                p += 1
            there = of_columns[i] if psi == SYMMETRIC else 1.0
            to_columns[at], to_values[at] = i, loop_weight(psi, own, total, top, here, there)
            pending = False
        else:
            j = np.int64(columns[p])
            there = of_columns[j] if psi == SYMMETRIC else 1.0
            to_columns[at], to_values[at] = j, entry_weight(psi, values[p], total, top, here, there)
            p += 1
        at += 1
    return at
