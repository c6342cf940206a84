"""The twin matrix of a graph: rounds of seed and extend, each begun from what the last one found."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from mcn.paper.baselines import symmetric
from studies.twins.extend import Extensions, extend
from studies.twins.similarity import similarity

ROUNDS = ((40, 8), (80, 6), (160, 6), (320, 4))
"""Pairs per extension and seeds per node, round by round."""
SHARPNESS = 0.2
"""A score that is lower by this much per pair counts e times less."""
PRIOR = 0.3
"""Weight of the motif similarity from the second round on."""
FLOOR = 1e-3
"""Twins below this are not told from no twins at all."""

_PASSED_ON = 0.01  # weaker twins are not squared: the product stays sparse
_RELABELLING = 0  # the seed of the order in which ties are broken
_ROWS = 512  # at a time, when the best of each row are looked for


def twin_matrix(adjacency: Any) -> Any:
    """CSR float32 [N, N], symmetric up to rounding: how much two nodes look like twins. No entry: not at all.

    Nodes within four hops of each other have no entry, and neither have nodes without neighbours. Only
    structure is used. Ties are broken in a random but fixed order, so that the order in which a file lists
    the nodes, which may follow the very thing that is asked for, says nothing.

    Args:
        adjacency: A as CSR, symmetric, ones.
    """
    n = adjacency.shape[0]
    order = np.random.default_rng(_RELABELLING).permutation(n)
    back = np.argsort(order)
    return sp.csr_array(_rounds(_sorted(adjacency[order][:, order]))[back][:, back])


def _rounds(adjacency: Any) -> Any:
    """The twin matrix, ties broken by the numbers of the nodes."""
    n = adjacency.shape[0]
    twins = sp.csr_array((n, n), dtype=np.float32)
    if not adjacency.nnz:
        return twins
    largest = int(np.bincount(connected_components(adjacency)[1]).max())
    base = similarity(adjacency)
    similar = base
    for number, (most, per_node) in enumerate(ROUNDS):
        left, right = best_of_rows(base, per_node) if number == 0 else best_of_sparse(twins, per_node)
        if not len(left):
            break
        size = min(most, largest)  # no extension leaves the component it began in
        twins = votes(extend(adjacency, similar, left, right, size), size, base)
        similar = believed(base, twins)
    return twins


def votes(found: Extensions, size: int, base: NDArray[np.float32]) -> Any:
    """N + N² of the pairs that were found, N = D^-1/2 M D^-1/2, as CSR float32.

    M adds up, over extensions and in both directions, ``exp(score / (SHARPNESS size)) * local``. A factor
    common to all cancels in N: the largest score is taken off so that nothing overflows. N² says that
    twins of twins are twins. Pairs whose similarity `base` is -inf are dropped.
    """
    n = len(base)
    weight = np.exp((found.score - found.score.max()) / (SHARPNESS * size))
    each = np.repeat(weight, found.size) * found.local
    one_way = sp.csr_array((each, (found.row, found.column)), shape=(n, n))
    direct = symmetric(one_way + one_way.T).astype(np.float32)
    strong = direct.copy()
    strong.data[strong.data < _PASSED_ON] = 0
    strong.eliminate_zeros()
    twins = (direct + strong @ strong).tocoo()
    allowed = (base[twins.row, twins.col] > -np.inf) & (twins.data > 0)
    return _sorted(
        sp.csr_array((twins.data[allowed], (twins.row[allowed], twins.col[allowed])), shape=(n, n))
    )


def believed(base: NDArray[np.float32], twins: Any) -> NDArray[np.float32]:
    """``PRIOR * base + log(N + FLOOR) - log(FLOOR)``: the constant changes no choice and keeps N sparse."""
    similar = PRIOR * base
    entries = twins.tocoo()
    similar[entries.row, entries.col] += np.log1p(entries.data / FLOOR)
    return similar


def best_of_rows(similar: NDArray[np.float32], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The `most` largest entries of every row that are not -inf, as rows and columns."""
    n = len(similar)
    most = min(most, n)
    columns = np.empty((n, most), np.int64)
    for begin in range(0, n, _ROWS):
        block = similar[begin : begin + _ROWS]
        columns[begin : begin + _ROWS] = np.argpartition(block, n - most, axis=1)[:, n - most :]
    rows = np.repeat(np.arange(n), most)
    allowed = similar[rows, columns.ravel()] > -np.inf
    return rows[allowed], columns.ravel()[allowed]


def best_of_sparse(matrix: Any, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The `most` largest stored entries of every row, as rows and columns."""
    entries = matrix.tocoo()
    order = np.lexsort((-entries.data, entries.row))
    rows, columns = entries.row[order].astype(np.int64), entries.col[order].astype(np.int64)
    rank = np.arange(len(rows)) - matrix.indptr[rows]
    return rows[rank < most], columns[rank < most]


def _sorted(matrix: Any) -> Any:
    csr = sp.csr_array(matrix)
    csr.sort_indices()
    return csr
