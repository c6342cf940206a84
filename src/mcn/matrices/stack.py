"""`MotifStack`: the K·T matrices Ψ(A_t^k) of eq:kstep1, stored or computed row by row when chosen."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mcn.data.arrays import as_array
from mcn.matrices.adjacencies import (
    Adjacencies,
    adjacencies_from_counts,
    adjacencies_from_mapping,
    check_edge_weights,
    check_magnitude,
    check_matrix,
    check_symmetric,
    lay_below,
    unknown_motif,
)
from mcn.matrices.compute import compute_roots, compute_rows, compute_stack
from mcn.matrices.functions import apply_psi
from mcn.matrices.pattern import reach
from mcn.matrices.psi import psi_code
from mcn.matrices.rows import Rows, gather_rows
from mcn.matrices.size import (
    StackSize,
    bounded_size,
    check_steps,
    default_memory_limit,
    exact_size,
    human_bytes,
    lengths_within,
)
from mcn.matrices.source import RowSource, StackBlock
from mcn.matrices.state import check_scale, count_scale, standardise_counts

if TYPE_CHECKING:
    from mcn.motifs import MotifCounts


class MotifStack(RowSource):
    """All matrices Ψ(A_t^k), k = 1 … K, of T motifs (eq:kstep1), with rows to choose from (eq:att_matrix).

    Build one with `from_counts` or `from_adjacencies`. Stored (``materialize=True``), the matrices lie in one
    CSR with row index (t·K + (k − 1))·N + i, and `select` copies the chosen rows. Otherwise only the A_t are
    kept, and `select` computes the chosen rows, with the same result to the last bit. `weighted` says whether
    edges have weights.

    >>> A = [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]]
    >>> stack = MotifStack.from_adjacencies({"edge": A}, steps=2)
    >>> stack.matrix("edge", 2).toarray().astype(int).tolist()
    [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 1]]
    >>> stack.select([0, 0, 0, 1]).indptr.tolist()  # node 3 takes step 2, the others step 1
    [0, 3, 6, 10, 13]
    """

    def __init__(
        self,
        adjacencies: Adjacencies,
        edge: csr_array,
        node_counts: Any,
        steps: int,
        psi: str,
        materialize: bool,
        memory_limit: float | None,
        threads: int | None,
        scale: Any = None,
        weighted: bool = False,
    ) -> None:
        self.steps, self.psi, self.weighted = check_steps(steps), psi, weighted
        psi = _psi_with_weights(psi, self.steps) if weighted else psi
        self._code, self._adj, self._threads = psi_code(psi), adjacencies, threads
        self.motifs, self.num_dst = adjacencies.motifs, adjacencies.num_nodes
        if edge.shape[0] != self.num_dst:
            raise ValueError(f"edge has {edge.shape[0]} nodes but the adjacencies have {self.num_dst}.")
        check_magnitude(adjacencies, psi, self.steps)
        self.src = np.arange(self.num_dst)
        self.count_scale = count_scale(node_counts, self.num_dst) if scale is None else check_scale(scale)
        self.node_counts = standardise_counts(node_counts, self.num_dst, self.count_scale)
        check_magnitude(lay_below({"edge": edge}), psi, 1)
        base = apply_psi(edge, psi)
        self.base = Rows(
            base.indptr.astype(np.int64), base.indices.astype(np.int32), base.data.astype(np.float32)
        )
        lengths = None
        if materialize:
            limit = default_memory_limit() if memory_limit is None else memory_limit
            lengths = lengths_within(adjacencies, self.steps, limit, threads)
        self._roots = compute_roots(adjacencies, self._code, self.steps, threads)
        self._stored: Rows | None = None
        self._fixed = False  # see `fixed`: the rows are stored, and cannot be computed again
        if lengths is not None:
            self._stored = Rows(
                *compute_stack(adjacencies, self._code, self.steps, self._roots, lengths, threads)
            )

    @classmethod
    def from_counts(
        cls,
        counts: MotifCounts,
        motifs: Sequence[str] = ("edge", "triangle"),
        steps: int = 1,
        psi: str = "unweighted",
        *,
        scope: str = "edges",
        add_edges: bool = False,
        materialize: bool = True,
        memory_limit: float | None = None,
        threads: int | None = None,
        count_scale: NDArray[np.float64] | None = None,
        weights: Any = None,
    ) -> MotifStack:
        """Make the stack of a graph whose motifs were counted.

        Args:
            counts: `mcn.MotifCounts`.
            motifs: names of edge orbits or graphlets; also "self", a neighbourhood of the node alone.
            steps: K, the greatest power.
            psi: one of the five Ψ, see `apply_psi`.
            scope: ``edges``, the paper's A_t, or ``pairs``; see `MotifCounts.adjacency`.
            add_edges: use A + A_t instead of A_t for every motif but the edge, which re-weights a node's
                neighbours instead of removing those that share no instance with it.
            materialize: store the matrices; False computes rows of powers when they are chosen.
            memory_limit: bytes the stored matrices may take; None means 8 GiB, or half of the machine's
                memory if that is less. Beyond it: `StackTooLarge`.
            threads: at most so many; None for all cores. Results do not depend on it.
            count_scale: the `count_scale` of the stack a network was trained on, to use it on this graph.
            weights: W, a symmetric matrix with the positive weight of every edge. The entries of A and of
                every A_t are multiplied by it before they are raised to a power and before Ψ: a walk counts
                the product of its weights. ``unweighted`` then forgets the counts, not the weights: Ã_uv is
                w_uv where A_t has an entry, Ã_uu the largest of its row; it allows one step only. Weights of
                1 change nothing.
        """
        held = None if weights is None else check_edge_weights(weights, counts, scope)
        adj = adjacencies_from_counts(counts, motifs, scope, add_edges, held, binary=psi == "unweighted")
        edge = check_matrix(counts.adjacency("edge"), "adjacency 'edge'") if held is None else held
        return cls(
            adj,
            edge,
            counts.per_node,
            steps,
            psi,
            materialize,
            memory_limit,
            threads,
            count_scale,
            weighted=held is not None,
        )

    @classmethod
    def from_adjacencies(
        cls,
        adjacencies: Mapping[str, Any],
        *,
        edge: Any = None,
        node_counts: Any = None,
        steps: int = 1,
        psi: str = "unweighted",
        materialize: bool = True,
        memory_limit: float | None = None,
        threads: int | None = None,
    ) -> MotifStack:
        """Make a stack of matrices that the caller computed: square, symmetric, without negative values.

        Args:
            adjacencies: the A_t by name, in the order of the motifs.
            edge: the plain adjacency A for the state (eq:state); None takes ``adjacencies["edge"]``.
            node_counts: counts for C of eq:state, with the columns of `MotifCounts.per_node`; None for zeros.
            steps: K.
            psi: as in `from_counts`, like the other arguments.
            materialize: see `from_counts`.
            memory_limit: see `from_counts`.
            threads: see `from_counts`.
        """
        adj = adjacencies_from_mapping(adjacencies)
        if edge is None:
            if "edge" not in adjacencies:
                raise ValueError(
                    f"edge is missing and there is no 'edge' among the adjacencies {adj.motifs}; "
                    "pass the graph's adjacency matrix as edge=."
                )
            edge = adjacencies["edge"]
        plain = check_symmetric(check_matrix(edge, "edge"), "edge")
        return cls(adj, plain, node_counts, steps, psi, materialize, memory_limit, threads)

    @property
    def num_nodes(self) -> int:
        """N, all of them targets and sources."""
        return self.num_dst

    @property
    def code(self) -> int:
        """The number of the Ψ that rows are made with; ``unweighted`` with edge weights is ``row-max``."""
        return self._code

    @property
    def materialized(self) -> bool:
        """Whether the matrices are stored."""
        return self._stored is not None

    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """Return the rows of Â for all nodes, see `RowSource.select`; callers must not change them."""
        if choice is None and self._stored is not None and self.num_motifs * self.steps == 1:
            return self._stored
        return self._rows(self.src, self._check_choice(choice))

    def rows_of(self, nodes: NDArray[np.int64], choice: NDArray[np.int64]) -> Rows:
        """Return the rows of Â of some nodes with these choices; columns are node ids."""
        return self._rows(nodes, choice)

    def adjacencies(self, t: int) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64]]:
        """Return A_t as indptr, indices and values; indptr counts from the beginning of the whole stack."""
        n = self.num_nodes
        return self._adj.indptr[t * n : (t + 1) * n + 1], self._adj.indices, self._adj.values

    def fixed(self, choice: Any) -> MotifStack:
        """Return the stack in which nothing is left to choose: its only matrix is Â of these choices.

        Args:
            choice: the ``t·K + (k-1)`` of every node, [N], or one number for all; or a list of those, one for
                each layer of a network: the result then holds a matrix per layer (one for equal layers), and
                `pins` says which. A network on the result computes what one on this stack computes with the
                choices pinned, at the cost of one motif.
        """
        layers = list(choice) if isinstance(choice, list | tuple) else [choice]
        different: list[Any] = []
        pins = []
        for each in layers:
            same = [number for number, other in enumerate(different) if np.array_equal(each, other)]
            pins += same or [len(different)]
            different += [] if same else [each]
        parts = [self._fixed_rows(each) for each in different]
        found = copy.copy(self)
        found.motifs = tuple(name for name, _ in parts)
        if len(parts) > 1:  # names of motifs differ
            found.motifs = tuple(f"{name}, {number}" for number, name in enumerate(found.motifs, 1))
            found.pins = tuple(pins)
        found.steps = 1
        rows = parts[0][1] if len(parts) == 1 else _below_each_other([rows for _, rows in parts])
        pattern = rows.indices.view(np.uint32)
        found._adj = Adjacencies(found.motifs, self.num_nodes, rows.indptr, pattern, rows.values)  # type: ignore[arg-type]
        found._stored, found._fixed = rows, True
        return found

    def _fixed_rows(self, choice: Any) -> tuple[str, Rows]:
        """Return the rows of one layer's choices, and a name for them."""
        one = np.ndim(choice) == 0
        number = self._check_choice(np.full(self.num_nodes, choice) if one else choice)
        name = self.motifs[int(choice) // self.steps] if one else "chosen"
        if not one or self._stored is None:
            return name, self._rows(self.src, number)
        start, n = int(choice) * self.num_nodes, self.num_nodes
        indptr = self._stored.indptr[start : start + n + 1]
        part = slice(int(indptr[0]), int(indptr[-1]))
        return name, Rows(indptr - indptr[0], self._stored.indices[part], self._stored.values[part])

    def matrix(self, motif: str, step: int = 1) -> csr_array:
        """Compute Ψ(A_t^k) in float64, [N, N]."""
        if motif not in self.motifs:
            raise ValueError(unknown_motif(motif, self.motifs))
        if step not in range(1, self.steps + 1):
            raise ValueError(f"step={step!r}; this stack has the steps 1 … {self.steps}.")
        n = self.num_nodes
        if self._fixed:
            indptr, columns, weights = self._rows(self.src, np.full(n, self.motifs.index(motif)))
            return csr_array((weights.astype(np.float64), columns, indptr), shape=(n, n))
        choice = np.full(n, self.motifs.index(motif) * self.steps + step - 1, np.int64)
        indptr, indices, values = compute_rows(
            self._adj, self._code, self.steps, self._roots, self.src, choice, np.float64, self._threads
        )
        return csr_array((values, indices, indptr), shape=(n, n))

    def block(self, rows: Any) -> StackBlock:
        """Cut out the part for the target nodes `rows` (global ids in any order, none twice)."""
        targets = self._check_targets(rows)
        marked = np.zeros(self.num_nodes, np.bool_)
        for t in range(self.num_motifs):
            reach(self._adj.indptr, self._adj.indices, t * self.num_nodes, self.steps, targets, marked)
        reach(self.base.indptr, self.base.indices.view(np.uint32), 0, 1, targets, marked)
        marked[targets] = False
        src = np.concatenate([targets, np.flatnonzero(marked)])
        return StackBlock(self, src, targets.size, self._rows)

    def blocks(self, rows: Any, depth: int) -> list[StackBlock]:
        """Make the blocks for a network of `depth` layers, from the input to the output layer.

        The targets of the last are `rows`; the sources of each are the targets of the one before it.
        """
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise ValueError(f"depth={depth!r}; expected an integer of at least 1 (one block per layer).")
        found = [self.block(rows)]
        while len(found) < depth:
            found.append(self.block(found[-1].src))
        return found[::-1]

    def size(self, exact: bool = True) -> StackSize:
        """Count the entries and bytes of every Ψ(A_t^k), stored or not; see `stack_size`.

        Args:
            exact: False gives quick upper bounds when the matrices are not stored.
        """
        if self._stored is None:
            if not exact:
                return bounded_size(self._adj, self.steps)
            return exact_size(self._adj, self.steps, self._threads)
        starts = np.arange(self.num_motifs * self.steps + 1) * self.num_nodes
        entries = np.diff(self._stored.indptr[starts]).reshape(self.num_motifs, self.steps)
        return StackSize(self.motifs, self.num_nodes, entries)

    def __repr__(self) -> str:
        size = self.size(exact=False)
        most = "" if size.exact else "at most "
        how = "stored" if self.materialized else "if stored; rows are computed when chosen"
        return (
            f"MotifStack(num_nodes={self.num_nodes}, motifs={self.motifs}, steps={self.steps}, "
            f"psi={self.psi!r}: {most}{size.total_entries:,} entries, {human_bytes(size.total_bytes)} {how})"
        )

    def _rows(self, rows: NDArray[np.int64], choice: NDArray[np.int64]) -> Rows:
        if self._stored is not None:
            return gather_rows(self._stored, choice * self.num_nodes + rows, self._threads)
        return Rows(
            *compute_rows(
                self._adj, self._code, self.steps, self._roots, rows, choice, np.float32, self._threads
            )
        )

    def _check_targets(self, rows: Any) -> NDArray[np.int64]:
        targets = as_array(rows, "rows", "[n]")
        if targets.ndim != 1 or targets.dtype.kind not in "iu":
            raise ValueError(
                f"rows has shape {targets.shape} and type {targets.dtype}; expected a list of node ids."
            )
        bad = np.flatnonzero((targets < 0) | (targets >= self.num_nodes))
        if bad.size:
            raise ValueError(
                f"rows[{bad[0]}] = {targets[bad[0]]} is not a node; ids are 0 … {self.num_nodes - 1}."
            )
        ids, times = np.unique(targets, return_counts=True)
        if ids.size < targets.size:
            raise ValueError(f"rows names node {ids[times.argmax()]} more than once; name each target once.")
        return np.ascontiguousarray(targets, np.int64)


def _below_each_other(parts: list[Rows]) -> Rows:
    ends = np.cumsum([0, *(len(rows.indices) for rows in parts)])
    indptr = [rows.indptr[1:] + end for rows, end in zip(parts, ends, strict=False)]
    return Rows(
        np.concatenate([[0], *indptr]),
        np.concatenate([rows.indices for rows in parts]),
        np.concatenate([rows.values for rows in parts]),
    )


def _psi_with_weights(psi: str, steps: int) -> str:
    """Return the Ψ that keeps the weights of edges; that of ``unweighted`` is ``row-max`` on weights alone.

    Raises:
        ValueError: ``unweighted`` sets the entries of a power to 1, so that nothing of the weights is left.
    """
    if psi == "unweighted" and steps > 1:
        raise ValueError(
            f"psi='unweighted' with steps={steps} has no place for edge weights; use one step, "
            "psi='row-max', 'transition', 'laplacian' or 'symmetric', or leave out the weights"
        )
    return "row-max" if psi == "unweighted" else psi
