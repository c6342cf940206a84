"""The rows of Ψ(A_t^k) that batches are made of, exact or drawn, of a graph in memory or on disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from mcn.matrices import MotifStack, Rows
from mcn.matrices.psi import FINISHED, LAPLACIAN, SYMMETRIC, UNWEIGHTED, psi_code, root_degrees
from mcn.matrices.state import standardise_counts
from mcn.motifs import NODE_ORBITS
from mcn.nn import _draw_kernels as kernels
from mcn.nn._rng import derive
from mcn.nn.features import FeatureRows, SparseFeatures
from mcn.store import GraphStore

_CHUNK = 8192  # rows that are made at a time where all are wanted
_ALL = 2**31 - 1  # more neighbours than any node has


class GraphRows(ABC):
    """Rows of T·K matrices Ψ(A_t^k) over plain arrays, which may be memory-mapped."""

    motifs: tuple[str, ...]
    steps: int
    code: int  # the number of Ψ in the kernels
    num_nodes: int
    matrices: tuple[Rows, ...]  # the A_t: columns ascend; entries of 0 are none; without values, all are 1
    base: Rows  # for the state (eq:state): A, or Ψ(A) if `base_psi` says that it is finished
    base_psi: int
    base_option: int | None  # t·K whose rows are those of `base`, if there is one

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

    def draw(self, nodes: NDArray[np.int64], choice: NDArray[np.int64], fan: int, key: int) -> Rows:
        """Draw at most `fan` neighbours of each node from the row that it chose; see `kernels.draw_rows`.

        Columns are node ids, values float64. What a node draws depends on the key and the node alone.
        """
        motif, step = np.divmod(choice, self.steps)
        room = np.empty(len(nodes), np.int64)
        for t, matrix in enumerate(self.matrices):
            choosers = motif == t
            room[choosers] = matrix.indptr[nodes[choosers] + 1] - matrix.indptr[nodes[choosers]]
        out = _room_for(np.where(step > 0, fan, np.minimum(room, fan)) + 1)
        word, code = np.uint64(derive(key, 0)), self.code
        for option in np.unique(choice):
            t, further = divmod(int(option), self.steps)
            slots = np.flatnonzero(choice == option)
            where = (nodes[slots], slots, self.matrices[t])
            if further == 0:
                kernels.draw_rows(code, fan, *where, self._roots[t], word, out)
            else:
                reach, tops = self._walks[t]
                given = (*where, (reach, tops[further]), word, out, self._walk_scratch)
                kernels.draw_walks(code, fan, further + 1, *given)
        return _closed_up(out)

    def draw_base(self, nodes: NDArray[np.int64], fan: int, key: int) -> Rows:
        """Draw at most `fan` neighbours of each node from its row of Ψ(A)."""
        out = _room_for(np.minimum(self.base.indptr[nodes + 1] - self.base.indptr[nodes], fan) + 1)
        where, word = (nodes, np.arange(len(nodes)), self.base), np.uint64(derive(key, 0))
        kernels.draw_rows(self.base_psi, fan, *where, self._base_roots, word, out)
        return _closed_up(out)

    def row_sums(self, option: int) -> NDArray[np.float64]:
        """Return D_ii = Σ_j Ψ(A_t^k)_ij of every node, from exact rows that are made a few at a time."""
        if option not in self._sums:
            sums = np.empty(self.num_nodes)
            for start in range(0, self.num_nodes, _CHUNK):
                nodes = np.arange(start, min(start + _CHUNK, self.num_nodes))
                sums[nodes] = self.exact(nodes, np.full(len(nodes), option, np.int64)).sums()
            self._sums[option] = sums
        return self._sums[option]

    def degrees(self, nodes: NDArray[np.int64], choice: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the row sums of Â of `nodes` with these choices."""
        degrees = np.empty(len(nodes))
        for option in np.unique(choice):
            choosers = choice == option
            degrees[choosers] = self.row_sums(int(option))[nodes[choosers]]
        return degrees

    @cached_property
    def _sums(self) -> dict[int, NDArray[np.float64]]:
        return {}

    @cached_property
    def _roots(self) -> list[NDArray[np.float64]]:
        return [_roots_for(self.code, matrix) for matrix in self.matrices]

    @cached_property
    def _base_roots(self) -> NDArray[np.float64]:
        return _roots_for(self.base_psi, self.base)

    @cached_property
    def _walk_scratch(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        return _scratch(self.num_nodes if self.code == UNWEIGHTED else 0)

    @cached_property
    def _walks(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        return [_walks(matrix, self.steps, self.code, self.num_nodes) for matrix in self.matrices]


class StackRows(GraphRows):
    """The rows of a `MotifStack`, stored there or not.

    `edge_is_base` says that the motif "edge" is the plain adjacency, as it is in a stack made of counts.
    """

    def __init__(self, stack: MotifStack, edge_is_base: bool = False) -> None:
        self.motifs, self.steps, self.code = stack.motifs, stack.steps, stack.code
        self.num_nodes, self._stack = stack.num_nodes, stack
        self.matrices = tuple(_without_ones(stack.adjacency(t)) for t in range(stack.num_motifs))
        self.base, self.base_psi = stack.base, FINISHED
        known = edge_is_base and "edge" in stack.motifs
        self.base_option = stack.motifs.index("edge") * stack.steps if known else None

    def draw(self, nodes: NDArray[np.int64], choice: NDArray[np.int64], fan: int, key: int) -> Rows:
        """Draw neighbours, see `GraphRows.draw`; longer walks are drawn in symmetric matrices alone."""
        if self._stack.directed and (self.steps > 1 or self.code == SYMMETRIC):
            raise ValueError("mini-batches of directed motifs have one step and no psi='symmetric' yet")
        return super().draw(nodes, choice, fan, key)

    def exact(self, nodes: NDArray[np.int64], choice: NDArray[np.int64]) -> Rows:
        """Compute the rows of Â; see `GraphRows.exact`."""
        return self._stack.rows_of(nodes, choice)

    def exact_base(self, nodes: NDArray[np.int64]) -> Rows:
        """Copy rows of Ψ(A)."""
        return self._stack.base.take(nodes, None)

    def counts(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return C of eq:state for `nodes`."""
        return self._stack.node_counts[nodes]


class StoreRows(GraphRows):
    """The rows Ψ(A_t) of a `mcn.GraphStore`, one step each.

    Memory holds two numbers per node; everything else stays on disk until it is asked for. The store has the
    counts of all `motifs` but "edge" and "self"; `scale` is the `count_scale` a network was trained with.
    """

    def __init__(
        self, store: GraphStore, motifs: Sequence[str], psi: str, scale: NDArray[np.float64] | None = None
    ) -> None:
        store.check()
        self.motifs, self.steps, self.code = tuple(motifs), 1, psi_code(psi)
        self.num_nodes = store.num_nodes
        self.base = Rows(np.asarray(store.indptr), np.asarray(store.indices), np.empty(0))
        self.base_psi = self.code
        self.base_option = self.motifs.index("edge") if "edge" in self.motifs else None
        self.matrices = tuple(self._matrix(store, motif) for motif in self.motifs)
        self._known = {"edge": np.diff(self.base.indptr)}
        if "triangle" in self.motifs:
            triangles = self.matrices[self.motifs.index("triangle")]
            self._known["triangle"] = np.empty(self.num_nodes, np.int64)
            _half_sums(triangles.indptr, triangles.values, self._known["triangle"])
        self.count_scale = self._scale() if scale is None else scale

    def _matrix(self, store: GraphStore, motif: str) -> Rows:
        if motif == "edge":
            return self.base
        if motif == "self":
            return Rows(np.zeros(self.num_nodes + 1, np.int64), self.base.indices[:0], np.empty(0))
        counts = store.counts
        if motif not in counts:
            raise ValueError(
                f"{store.path}: {motif} is not counted yet; count it into the store first: "
                f"mcn.count_motifs(store, motifs=({motif!r},))"
            )
        return Rows(self.base.indptr, self.base.indices, np.asarray(counts[motif]))

    def exact(self, nodes: NDArray[np.int64], choice: NDArray[np.int64]) -> Rows:
        """Compute the rows of Â; see `GraphRows.exact`."""
        return _float32(self.draw(nodes, choice, _ALL, 0))

    def exact_base(self, nodes: NDArray[np.int64]) -> Rows:
        """Compute rows of Ψ(A)."""
        return _float32(self.draw_base(nodes, _ALL, 0))

    def counts(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return C of eq:state for `nodes`: their degrees and triangles; the other columns are 0."""
        per_node = np.zeros((len(nodes), len(NODE_ORBITS)))
        for name, counted in self._known.items():
            per_node[:, NODE_ORBITS.index(name)] = counted[nodes]
        return standardise_counts(per_node, len(nodes), self.count_scale)

    def _scale(self) -> NDArray[np.float64]:
        """Means and deviations as `mcn.matrices.state.count_scale` has them, without a table of all nodes."""
        scale = np.zeros((2, len(NODE_ORBITS)))
        for name, counted in self._known.items():
            logs = np.log1p(counted)
            if len(logs):
                deviation = 0.0 if logs.max() == logs.min() else logs.std()
                scale[:, NODE_ORBITS.index(name)] = (logs.mean(), deviation)
        return scale


@kernel
def _half_sums(indptr: Any, values: Any, out: Any) -> None:
    for i in range(indptr.size - 1):
        total = 0
        for p in range(indptr[i], indptr[i + 1]):
            total += values[p]
        out[i] = total // 2  # a triangle at a node has two edges there


def _float32(rows: Rows) -> Rows:
    return rows._replace(values=rows.values.astype(np.float32))


def store_features(
    store: GraphStore, scaling: str = "raw", scale: NDArray[np.float64] | None = None
) -> FeatureRows:
    """Return the features of a store, read by node; see `FeatureRows`."""
    if store.x is not None:
        return FeatureRows(store.x, scaling, scale)
    if store.x_indptr is None or store.x_indices is None or store.x_values is None:
        raise ValueError(f"{store.path}: the store has no features; pack it with --nodes")
    if scale is not None:
        raise ValueError(f"{store.path}: sparse features on disk are not standardised; pack dense ones")
    sparse = SparseFeatures(
        np.asarray(store.x_indptr),
        np.asarray(store.x_indices),
        np.asarray(store.x_values),
        store.num_features,
    )
    return FeatureRows(sparse, scaling)


def _without_ones(matrix: Rows) -> Rows:
    return matrix._replace(values=matrix.values[:0]) if bool((matrix.values == 1.0).all()) else matrix


def _roots_for(psi: int, matrix: Rows) -> NDArray[np.float64]:
    return root_degrees(matrix) if psi == SYMMETRIC else np.empty(0)


def _walks(
    matrix: Rows, steps: int, psi: int, num_nodes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What walks in one A_t need: ``reach[m] = A^m 1``, and the greatest entry per row of every power."""
    reach = np.ones((steps + 1, num_nodes))
    weighted = matrix.values.size > 0 and psi != UNWEIGHTED
    values = matrix.values if weighted else np.ones(len(matrix.indices))
    step = Rows(matrix.indptr, matrix.indices.view(np.int32), values).matrix(num_nodes)
    for m in range(steps):
        reach[m + 1] = step @ reach[m]
    if psi in (UNWEIGHTED, LAPLACIAN):
        return reach, np.empty((steps, 0))
    tops, scratch = np.empty((steps, num_nodes)), _scratch(num_nodes)
    for k in range(1, steps):
        kernels.row_tops(k + 1, matrix, tops[k], scratch)
    return reach, tops


_Room = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]


def _room_for(room: NDArray[np.int64]) -> _Room:
    """Make room for drawn rows: where each starts, columns, values, and how long each will be."""
    starts = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    size = int(starts[-1])
    return starts[:-1], np.empty(size, np.int64), np.empty(size), np.empty(len(room), np.int64)


def _closed_up(drawn: _Room) -> Rows:
    """Put drawn rows next to each other, without the room that they did not take."""
    starts, columns, values, lengths = drawn
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
    return Rows(indptr, columns[places].astype(np.int32), values[places])


def _scratch(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    return np.zeros(size), np.zeros(size), np.empty(size, np.int64)
