"""The rows of Ψ(A_t^k) that batches are made of: exact ones for some nodes at a time, and drawn ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.matrices import MotifStack, Rows
from mcn.matrices.psi import LAPLACIAN, SYMMETRIC, UNWEIGHTED, degree_of_row
from mcn.matrices.rows import gather_rows
from mcn.nn import _sample_kernels as kernels
from mcn.nn._rng import derive
from mcn.nn._work import spread

_CHUNK = 8192  # rows that are made at a time where all are wanted


class Csr(NamedTuple):
    """A symmetric matrix: columns ascend, entries of value 0 are none; `values` is empty where all are 1."""

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    values: NDArray[Any]


class Drawn(NamedTuple):
    """Drawn rows: row r is the first ``lengths[r]`` entries from ``starts[r]`` on, columns are node ids."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]


class GraphRows(ABC):
    """Rows of T·K matrices Ψ(A_t^k) over plain arrays, which may be memory-mapped.

    Attributes:
        motifs: names of the T motifs.
        steps: K.
        psi: name of Ψ. code: its number in the kernels.
        num_nodes: N.
        matrices: the A_t.
        base: A, or Ψ(A) if `base_psi` says that it is finished, for the state (eq:state).
        base_option: the option t·K whose rows are those of `base`, if there is one.
    """

    motifs: tuple[str, ...]
    steps: int
    psi: str
    code: int
    num_nodes: int
    matrices: tuple[Csr, ...]
    base: Csr
    base_psi: int
    base_option: int | None

    @property
    def options(self) -> int:
        """T·K."""
        return len(self.motifs) * self.steps

    @abstractmethod
    def exact(self, nodes: NDArray[np.int64], choice: NDArray[np.int64]) -> Rows:
        """Compute the rows of Â for `nodes` with these choices; columns are node ids."""

    @abstractmethod
    def exact_base(self, nodes: NDArray[np.int64]) -> Rows:
        """Compute the rows of Ψ(A) for `nodes`; columns are node ids."""

    @abstractmethod
    def counts(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return C of eq:state for `nodes`, [n, number of node orbits]."""

    def drawn(self, nodes: NDArray[np.int64], choice: NDArray[np.int64], fan: int, key: int) -> Drawn:
        """Draw at most `fan` neighbours of each node from the row that it chose; see `draw_rows`."""
        motif, step = np.divmod(choice, self.steps)
        room = np.empty(len(nodes), np.int64)
        for t, matrix in enumerate(self.matrices):
            own = motif == t
            room[own] = matrix.indptr[nodes[own] + 1] - matrix.indptr[nodes[own]]
        room = np.where(step > 0, fan, np.minimum(room, fan)) + 1
        out = _room_for(room)
        word, code = np.uint64(derive(key, 0)), self.code
        for option in np.unique(choice):
            t, further = divmod(int(option), self.steps)
            slots = np.flatnonzero(choice == option)
            where = (nodes[slots], slots, self.matrices[t])
            rest = (word, out.starts, out.columns, out.values, out.lengths)
            if further == 0:
                kernels.draw_rows(code, fan, *where, self._roots(t), *rest)
            else:
                walks = self._walks[t]
                tops = walks.tops[further] if len(walks.tops) else np.empty(0)
                kernels.draw_walks(
                    code, fan, further + 1, *where, walks.reach, tops, *rest, self._walk_scratch
                )
        return out

    def drawn_base(self, nodes: NDArray[np.int64], fan: int, key: int) -> Drawn:
        """Draw at most `fan` neighbours of each node from its row of Ψ(A)."""
        out = _room_for(np.minimum(self.base.indptr[nodes + 1] - self.base.indptr[nodes], fan) + 1)
        kernels.draw_rows(
            self.base_psi,
            fan,
            nodes,
            np.arange(len(nodes)),
            self.base,
            self._base_roots,
            np.uint64(derive(key, 0)),
            out.starts,
            out.columns,
            out.values,
            out.lengths,
        )
        return out

    def row_sums(self, option: int) -> NDArray[np.float64]:
        """Return D_ii = Σ_j Ψ(A_t^k)_ij of every node, from exact rows that are made a few at a time."""
        if option not in self._sums:
            sums = np.empty(self.num_nodes)
            for start in range(0, self.num_nodes, _CHUNK):
                nodes = np.arange(start, min(start + _CHUNK, self.num_nodes))
                sums[nodes] = self.exact(nodes, np.full(len(nodes), option, np.int64)).sums()
            self._sums[option] = sums
        return self._sums[option]

    @cached_property
    def _sums(self) -> dict[int, NDArray[np.float64]]:
        return {}

    def _roots(self, t: int) -> NDArray[np.float64]:
        if self.code != SYMMETRIC:
            return np.empty(0)
        if t not in self._known_roots:
            self._known_roots[t] = _root_degrees(self.matrices[t], self.num_nodes)
        return self._known_roots[t]

    @cached_property
    def _base_roots(self) -> NDArray[np.float64]:
        return _root_degrees(self.base, self.num_nodes) if self.base_psi == SYMMETRIC else np.empty(0)

    @cached_property
    def _known_roots(self) -> dict[int, NDArray[np.float64]]:
        return {}

    @cached_property
    def _walk_scratch(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        return _scratch(self.num_nodes if self.code == UNWEIGHTED else 0)

    @cached_property
    def _walks(self) -> list[_Walks]:
        return [_walks(matrix, self.steps, self.code, self.num_nodes) for matrix in self.matrices]


class StackRows(GraphRows):
    """The rows of a `MotifStack`, stored there or not.

    Args:
        stack: of the graph.
        edge_is_base: whether the motif "edge" is the plain adjacency, as it is in a stack made of counts.
    """

    def __init__(self, stack: MotifStack, edge_is_base: bool = False) -> None:
        self.motifs, self.steps, self.psi = stack.motifs, stack.steps, stack.psi
        self.code, self.num_nodes, self._stack = stack.code, stack.num_nodes, stack
        self.matrices = tuple(_of_stack(stack, t) for t in range(stack.num_motifs))
        self.base, self.base_psi = Csr(*stack.base), kernels.FINISHED
        known = edge_is_base and "edge" in stack.motifs
        self.base_option = stack.motifs.index("edge") * stack.steps if known else None

    def exact(self, nodes: NDArray[np.int64], choice: NDArray[np.int64]) -> Rows:
        """Compute the rows of Â; see `GraphRows.exact`."""
        return self._stack.rows_of(nodes, choice)

    def exact_base(self, nodes: NDArray[np.int64]) -> Rows:
        """Copy rows of Ψ(A)."""
        return gather_rows(self._stack.base, nodes, None)

    def counts(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return C of eq:state for `nodes`."""
        return self._stack.node_counts[nodes]


class _Walks(NamedTuple):
    """What walks in one A_t need: ``reach[m] = A^m 1``, and the greatest entry per row of every power."""

    reach: NDArray[np.float64]
    tops: NDArray[np.float64]


def _walks(matrix: Csr, steps: int, psi: int, num_nodes: int) -> _Walks:
    reach = np.ones((steps + 1, num_nodes))
    weighted = matrix.values.size > 0 and psi != UNWEIGHTED
    cost = len(matrix.indices)
    for before, after in pairwise(reach):
        work = partial(kernels.reach_of, csr=matrix, weighted=weighted, before=before, after=after)
        spread(work, num_nodes, cost)
    if psi in (UNWEIGHTED, LAPLACIAN):
        return _Walks(reach, np.empty((0, 0)))
    tops, scratch = np.empty((steps, num_nodes)), _scratch(num_nodes)
    for k in range(1, steps):
        kernels.row_tops(0, num_nodes, k + 1, matrix, tops[k], scratch)
    return _Walks(reach, tops)


@kernel
def _degrees(csr: Any, num_nodes: int, roots: Any) -> None:
    indptr, _, values = csr
    for i in range(num_nodes):
        count = indptr[i + 1] - indptr[i]
        if values.size > 0:
            roots[i] = np.sqrt(degree_of_row(values[indptr[i] : indptr[i + 1]], count))
        else:
            roots[i] = np.sqrt(count + 1.0)


def _root_degrees(csr: Csr, num_nodes: int) -> NDArray[np.float64]:
    """√D_ii of eq:k5, D the row sums of A + M."""
    roots = np.empty(num_nodes)
    _degrees(csr, num_nodes, roots)
    return roots


def _of_stack(stack: MotifStack, t: int) -> Csr:
    indptr, indices, values = stack.adjacencies(t)
    ones = bool((values[indptr[0] : indptr[-1]] == 1.0).all())
    return Csr(indptr, indices, values[:0] if ones else values)


def _scratch(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    return np.zeros(size), np.zeros(size), np.empty(size, np.int64)


def _room_for(room: NDArray[np.int64]) -> Drawn:
    starts = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    size = int(starts[-1])
    return Drawn(starts[:-1], np.empty(len(room), np.int64), np.empty(size, np.int64), np.empty(size))
