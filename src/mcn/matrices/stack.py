"""`MotifStack`: the K·T matrices Ψ(A_t^k) of eq:kstep1, stored or computed row by row when chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphmotifs._messages import did_you_mean
from mcn._composition import check_composition
from mcn._memory import human_bytes
from mcn.matrices.adjacencies import (
    Adjacencies,
    adjacencies_from_counts,
    adjacencies_from_mapping,
    adjacency_of,
    check_edge_weights,
    check_magnitude,
    check_matrix,
    check_symmetric,
    lay_below,
    undirected,
)
from mcn.matrices.powers import Powers
from mcn.matrices.psi import psi_code, psi_rows
from mcn.matrices.rows import PinnedBlock, Rows, RowSource, StackBlock, check_numbers
from mcn.matrices.size import StackSize, check_steps, default_memory_limit, lengths_within, reach, size_of
from mcn.matrices.state import check_scale, count_scale, standardise_counts

if TYPE_CHECKING:
    from mcn.matrices.adjacencies import AnyCounts


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
        self.motifs, self.num_dst, self._adjacencies = adjacencies.motifs, adjacencies.num_nodes, adjacencies
        if edge.shape[0] != self.num_dst:
            raise ValueError(f"edge has {edge.shape[0]} nodes but the adjacencies have {self.num_dst}.")
        self.code = psi_code(psi)  # of the Ψ that rows are made with
        check_magnitude(adjacencies, psi, self.steps)
        alone = lay_below({"edge": edge})
        check_magnitude(alone, psi, 1)
        self.src = np.arange(self.num_dst)
        self.count_scale = count_scale(node_counts, self.num_dst) if scale is None else check_scale(scale)
        self.node_counts = standardise_counts(node_counts, self.num_dst, self.count_scale)
        self.base = psi_rows(alone.rows, self.code, np.float32)
        self._powers = Powers(adjacencies, self.code, self.steps, threads)
        self._stored: Rows | None = None
        self._balanced: dict[int, Rows] = {}
        self._threads = threads
        if materialize:
            limit = default_memory_limit() if memory_limit is None else memory_limit
            self._stored = self._powers.all_rows(lengths_within(adjacencies, self.steps, limit, threads))

    @classmethod
    def from_counts(
        cls,
        counts: AnyCounts,
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
            counts: `mcn.MotifCounts`, or for directed neighbourhoods `mcn.DirectedCounts`.
            motifs: names of edge orbits or graphlets; also "self", a neighbourhood of the node alone. Of a
                digraph also "out" and "in", the nodes that a node points to and is pointed to by, and
                directed motifs: "feed-forward-loop" or "M5" by the direction of their arcs, "M5:in" against
                it, "M5:both" either way. All others are of the graph without directions.
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
        plain = undirected(counts)
        held = None if weights is None else check_edge_weights(weights, plain, scope)
        adj = adjacencies_from_counts(counts, motifs, scope, add_edges, held, binary=psi == "unweighted")
        arcs = "" if adj.symmetric else f"direction (motifs {', '.join(adj.motifs)})"
        check_composition({"direction": arcs, "edge weights": "" if held is None else "weights"})
        edge = adjacency_of(plain, "edge") if held is None else held
        stored = (materialize, memory_limit, threads)
        return cls(adj, edge, plain.per_node, steps, psi, *stored, count_scale, weighted=held is not None)

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
            steps, psi, materialize, memory_limit, threads: as in `from_counts`.
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
    def directed(self) -> bool:
        """Whether a motif of the stack is directed, so that its matrices need not be symmetric."""
        return not self._adjacencies.symmetric

    @property
    def materialized(self) -> bool:
        """Whether the matrices are stored."""
        return self._stored is not None

    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """Return the rows of Â for all nodes, see `RowSource.select`; callers must not change them."""
        if choice is None and self._stored is not None and self.num_options == 1:
            return self._stored
        return self.rows_of(self.src, self.check_choice(choice))

    def rows_of(self, nodes: NDArray[np.int64], choice: NDArray[np.int64]) -> Rows:
        """Return the rows of Â of some nodes with these choices; columns are node ids."""
        if self._stored is not None:
            return self._stored.take(choice * self.num_nodes + nodes, self._threads)
        return self._powers.rows(nodes, choice)

    def balanced(self, option: int) -> Rows:
        """Return D^-1/2 Ψ(A_t^k) D'^-1/2, D the row sums and D' the column sums; kept for the next call."""
        if option not in self._balanced:
            rows = self.select(np.full(self.num_nodes, option))
            columns = np.bincount(rows.indices, rows.values, self.num_nodes).astype(np.float64)
            self._balanced[option] = rows.normalised(columns, rows.sums())
        return self._balanced[option]

    def adjacency(self, t: int) -> Rows:
        """Return the rows of A_t."""
        return self._adjacencies.of(t)

    def matrix(self, motif: str, step: int = 1) -> csr_array:
        """Compute Ψ(A_t^k) in float64, [N, N]."""
        if motif not in self.motifs:
            known = ", ".join(map(repr, self.motifs))
            raise ValueError(f"motif {motif!r} is not among {known}{did_you_mean(motif, self.motifs)}")
        if step not in range(1, self.steps + 1):
            raise ValueError(f"step={step!r}; this stack has the steps 1 … {self.steps}.")
        choice = np.full(self.num_nodes, self.motifs.index(motif) * self.steps + step - 1, np.int64)
        return self._powers.rows(self.src, choice, np.float64).matrix(self.num_nodes)

    def block(self, rows: Any) -> StackBlock:
        """Cut out the part for the target nodes `rows` (global ids in any order, none twice)."""
        targets = self._check_targets(rows)
        marked = reach(self.base, 1, targets)
        for t in range(self.num_motifs):
            marked |= reach(self.adjacency(t), self.steps, targets)
        marked[targets] = False
        src = np.concatenate([targets, np.flatnonzero(marked)])
        return StackBlock(self, src, targets.size)

    def pinned_block(self, rows: Any, choice: int) -> PinnedBlock:
        """Cut out the part for the target nodes `rows` where every node chooses ``t·K + (k-1)``."""
        everyone = np.full(self.num_nodes, choice, np.int64)
        return PinnedBlock(self.block(rows), choice, lambda: self.select(everyone).sums())

    def blocks(self, rows: Any, depth: int) -> list[StackBlock]:
        """Make the blocks for a network of `depth` layers, from the input to the output layer.

        The targets of the last are `rows`; the sources of each are the targets of the one before it.
        """
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise ValueError(f"depth={depth!r}; expected an integer of at least 1 (one block per layer).")
        blocks = [self.block(rows)]
        while len(blocks) < depth:
            blocks.insert(0, self.block(blocks[0].src))
        return blocks

    def size(self, exact: bool = True) -> StackSize:
        """Count the entries and bytes of every Ψ(A_t^k), stored or not; see `stack_size`.

        ``exact=False`` gives quick upper bounds when the matrices are not stored.
        """
        if self._stored is None:
            return size_of(self._adjacencies, self.steps, exact, self._threads)
        starts = np.arange(self.num_options + 1) * self.num_nodes
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

    def _check_targets(self, rows: Any) -> NDArray[np.int64]:
        targets = check_numbers(rows, "rows", self.num_nodes)
        ids, times = np.unique(targets, return_counts=True)
        if ids.size < targets.size:
            raise ValueError(f"rows names node {ids[times.argmax()]} more than once; name each target once.")
        return targets


def _psi_with_weights(psi: str, steps: int) -> str:
    """Return the Ψ that keeps the weights of edges; for ``unweighted`` it is ``row-max``."""
    if psi == "unweighted" and steps > 1:
        raise ValueError(
            f"psi='unweighted' with steps={steps} has no place for edge weights; use one step, "
            "psi='row-max', 'transition', 'laplacian' or 'symmetric', or leave out the weights"
        )
    return "row-max" if psi == "unweighted" else psi
