"""The five Ψ of the paper, row by row: what turns a row of A into a row of Ã (eq:k1–eq:k5).

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

A row without entries becomes a plain self-loop of weight 1, whatever the Ψ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mcn._jit import kernel
from mcn._names import one_of

PSI_NAMES = ("unweighted", "row-max", "transition", "laplacian", "symmetric")

UNWEIGHTED, ROW_MAX, TRANSITION, LAPLACIAN, SYMMETRIC = range(5)


def psi_code(psi: str) -> int:
    """Position of `psi` in `PSI_NAMES`; a ValueError about any other name suggests the nearest."""
    one_of("psi", psi, PSI_NAMES)
    return PSI_NAMES.index(psi)


@kernel
def degree_of_row(values: Any, count: int) -> float:
    """D_ii of eq:k3 and eq:k5, the row sum of A + M; 1 for a row without entries (its self-loop)."""
    if count == 0:
        return 1.0
    total = 0.0
    top = 0.0
    for p in range(count):
        total += values[p]
        top = max(top, values[p])
    return total + top


@kernel
def weigh_row(
    psi: int,
    i: Any,
    columns: Any,
    values: Any,
    count: int,
    roots: Any,
    to_columns: Any,
    to_values: Any,
    at: int,
) -> int:
    """Write row `i` of Ã to position `at` and return where it ends, at most count + 1 further.

    `columns` ascend; `roots` holds √D_jj of eq:k5 for every j and is read by ``symmetric`` only.
    """
    if count == 0:
        to_columns[at] = i
        to_values[at] = 1.0
        return at + 1
    total = 0.0
    top = 0.0
    for p in range(count):
        total += values[p]
        top = max(top, values[p])
    loop = total if psi == LAPLACIAN else top
    pending = True  # the diagonal entry is still to be written
    p = 0
    while p < count or pending:
        if pending and (p == count or columns[p] >= i):
            j = np.int64(i)
            value = loop
            pending = False
            if p < count and columns[p] == i:
                value += values[p]
                p += 1
        else:
            j = np.int64(columns[p])
            value = values[p]
            p += 1
        if psi == UNWEIGHTED:
            value = 1.0
        elif psi == TRANSITION:
            value /= total + top
        elif psi == SYMMETRIC:
            value /= roots[i] * roots[j]
        to_columns[at] = j
        to_values[at] = value
        at += 1
    return at
