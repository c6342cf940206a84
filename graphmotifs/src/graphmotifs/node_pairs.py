"""Motif counts for pairs of nodes that are *not* adjacent (`scope="pairs"`).

For nodes i ≁ j with common neighbours c, and for the induced graphlets that hold both:

* `P = A²` counts the 2-stars i–c–j; pairs of common neighbours make 4-cycles, or chordal cycles where
  the two are joined;
* `Σ_c (d(c) − 2)` counts a further neighbour k of c: a 3-star leaf, the triangle of a tailed triangle
  (k ~ i or k ~ j), or a chordal cycle (both; seen from c and from k);
* `A_tri A + A A_tri` counts triangles on one side of a 2-star: tailed triangles, and chordal cycles four
  times;
* `P (d(i) + d(j) − 2)` counts a further neighbour of i or j: 4-paths, tailed triangles, and 4-cycles and
  chordal cycles four times each;
* `A³` counts the walks i–x–y–j: 4-paths by their ends, tailed triangles, and chordal cycles twice.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphmotifs._jit import kernel

Matrix: TypeAlias = "sp.csr_array[np.int64]"  # a string: SciPy before 1.16 cannot be subscripted


class NonAdjacentPairs:
    """Counts of the induced graphlets that contain both nodes of a pair without an edge."""

    def __init__(self, edge: Matrix, triangle: Matrix) -> None:
        self._edge = edge
        self._triangle = triangle
        self._degree: NDArray[np.int64] = np.diff(edge.indptr).astype(np.int64)

    def matrix(self, graphlet: str) -> Matrix | None:
        """Return the counts of one graphlet as a matrix; None for a graphlet whose nodes are all joined."""
        if graphlet in ("edge", "triangle", "4-clique"):
            return None
        if graphlet == "2-star":
            return self._two_star
        if graphlet == "chordal-cycle":
            return _without_zeros(self._chordal)
        if graphlet == "tailed-triangle":
            return _without_zeros(self._tailed)
        if graphlet == "4-cycle":
            return _without_zeros(self._cycle)
        if graphlet == "3-star":
            a = self._edge
            others = self._apart(a @ sp.diags_array(self._degree - 2, dtype=np.int64) @ a)
            return _without_zeros(others - self._tailed - 2 * self._chordal)
        if graphlet == "4-path":
            ends = self._apart(self._edge @ self._edge @ self._edge) - self._tailed - 2 * self._chordal
            p = self._two_star.tocoo()
            further = p.data * (self._degree[p.row] + self._degree[p.col] - 2)
            inner = sp.csr_array((further, (p.row, p.col)), shape=p.shape)
            return _without_zeros(ends + inner - self._tailed - 4 * self._cycle - 4 * self._chordal)
        raise ValueError(f"unknown graphlet {graphlet!r}")

    @cached_property
    def _two_star(self) -> Matrix:
        return _without_zeros(self._apart(self._edge @ self._edge))

    @cached_property
    def _chordal(self) -> Matrix:
        p = self._two_star
        return sp.csr_array(
            (
                _joined_common_neighbours(self._edge.indptr, self._edge.indices, p.indptr, p.indices),
                p.indices.copy(),  # its own: zeros are dropped in place
                p.indptr.copy(),
            ),
            shape=p.shape,
        )

    @cached_property
    def _tailed(self) -> Matrix:
        one_side = self._triangle @ self._edge
        return (self._apart(one_side + one_side.T) - 4 * self._chordal).tocsr()

    @cached_property
    def _cycle(self) -> Matrix:
        both = self._two_star.copy()
        both.data = both.data * (both.data - 1) // 2
        return (both - self._chordal).tocsr()

    def _apart(self, matrix: Any) -> Matrix:
        return drop_joined(matrix, self._edge)


def drop_joined(matrix: Any, edge: Matrix) -> Matrix:
    """Drop the diagonal and the entries of nodes that are joined in `edge`."""
    m: Matrix = matrix.tocsr()
    m.sort_indices()
    _zero_entries_of_edges(m.indptr, m.indices, m.data, edge.indptr, edge.indices)
    m.eliminate_zeros()
    return m


def _without_zeros(matrix: Any) -> Matrix:
    m: Matrix = matrix.tocsr()
    m.eliminate_zeros()
    m.sort_indices()
    return m


@kernel
def _zero_entries_of_edges(indptr: Any, indices: Any, data: Any, edge_ptr: Any, edges: Any) -> Any:
    n = len(indptr) - 1
    owner = np.full(n, -1, np.int64)
    for i in range(n):
        owner[i] = i
        for p in range(edge_ptr[i], edge_ptr[i + 1]):
            owner[edges[p]] = i
        for p in range(indptr[i], indptr[i + 1]):
            if owner[indices[p]] == i:
                data[p] = 0


@kernel
def _joined_common_neighbours(edge_ptr: Any, edges: Any, indptr: Any, indices: Any) -> Any:
    """Count, for each stored pair (i, j), the edges among the nodes that are adjacent to both."""
    n = len(indptr) - 1
    counts = np.zeros(len(indices), np.int64)
    near = np.full(n, -1, np.int64)  # near[c] == i: c is a neighbour of i
    slot = np.full(n, -1, np.int64)  # where j stands in row i
    for i in range(n):
        if indptr[i] == indptr[i + 1]:
            continue
        for p in range(edge_ptr[i], edge_ptr[i + 1]):
            near[edges[p]] = i
        for p in range(indptr[i], indptr[i + 1]):
            slot[indices[p]] = p
        for p in range(edge_ptr[i], edge_ptr[i + 1]):
            c = edges[p]
            for q in range(edge_ptr[c], edge_ptr[c + 1]):
                k = edges[q]
                if k <= c or near[k] != i:
                    continue
                x, y = edge_ptr[c], edge_ptr[k]  # both lists ascend: walk them together
                while x < edge_ptr[c + 1] and y < edge_ptr[k + 1]:
                    if edges[x] < edges[y]:
                        x += 1
                    elif edges[x] > edges[y]:
                        y += 1
                    else:
                        if slot[edges[x]] >= indptr[i]:
                            counts[slot[edges[x]]] += 1
                        x += 1
                        y += 1
    return counts
