"""The rows of a graph on disk: neighbours and counts are read where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.matrices import Rows
from mcn.matrices.psi import psi_code
from mcn.matrices.state import standardise_counts
from mcn.motifs import NODE_ORBITS
from mcn.nn.feature_rows import FeatureRows
from mcn.nn.features import SparseFeatures
from mcn.nn.graph_rows import Csr, Drawn, GraphRows
from mcn.store import GraphStore

_ALL = 2**31 - 1  # more neighbours than any node has


class StoreRows(GraphRows):
    """The rows Ψ(A_t) of a `mcn.GraphStore`, one step each.

    Memory holds two numbers per node; everything else stays on disk until it is asked for.

    Args:
        store: with the counts of all `motifs` but the edge.
        motifs: names; also "self".
        psi: name of Ψ.
        scale: the `count_scale` of the graph a network was trained on, to use it on this one.

    Raises:
        ValueError: the counts of a motif are not in the store.
    """

    def __init__(
        self, store: GraphStore, motifs: Sequence[str], psi: str, scale: NDArray[np.float64] | None = None
    ) -> None:
        store.check()
        self.motifs, self.steps, self.psi, self.code = tuple(motifs), 1, psi, psi_code(psi)
        self.num_nodes = store.num_nodes
        self.base = Csr(np.asarray(store.indptr), np.asarray(store.indices), np.empty(0))
        self.base_psi = self.code
        self.base_option = self.motifs.index("edge") if "edge" in self.motifs else None
        self.matrices = tuple(self._matrix(store, motif) for motif in self.motifs)
        self._known = {"edge": np.diff(self.base.indptr)}
        if "triangle" in self.motifs:
            triangles = self.matrices[self.motifs.index("triangle")]
            self._known["triangle"] = np.empty(self.num_nodes, np.int64)
            _half_sums(triangles.indptr, triangles.values, self._known["triangle"])
        self.count_scale = self._scale() if scale is None else scale

    def _matrix(self, store: GraphStore, motif: str) -> Csr:
        if motif == "edge":
            return self.base
        if motif == "self":
            return Csr(np.zeros(self.num_nodes + 1, np.int64), self.base.indices[:0], np.empty(0))
        counts = store.counts
        if motif not in counts:
            raise ValueError(
                f"{store.path}: {motif} is not counted yet; count it into the store first: "
                f"mcn.count_motifs(store, motifs=({motif!r},))"
            )
        return Csr(self.base.indptr, self.base.indices, np.asarray(counts[motif]))

    def exact(self, nodes: NDArray[np.int64], choice: NDArray[np.int64]) -> Rows:
        """Compute the rows of Â; see `GraphRows.exact`."""
        return _closed_up(self.drawn(nodes, choice, _ALL, 0))

    def exact_base(self, nodes: NDArray[np.int64]) -> Rows:
        """Compute rows of Ψ(A)."""
        return _closed_up(self.drawn_base(nodes, _ALL, 0))

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
            same = not len(logs) or logs.max() == logs.min()
            scale[:, NODE_ORBITS.index(name)] = (
                logs.mean() if len(logs) else 0.0,
                0.0 if same else logs.std(),
            )
        return scale


@kernel
def _half_sums(indptr: Any, values: Any, out: Any) -> None:
    for i in range(indptr.size - 1):
        total = 0
        for p in range(indptr[i], indptr[i + 1]):
            total += values[p]
        out[i] = total // 2  # a triangle at a node has two edges there


def _closed_up(drawn: Drawn) -> Rows:
    """Rows that were drawn in full, as a CSR."""
    indptr = np.concatenate([[0], np.cumsum(drawn.lengths)]).astype(np.int64)
    places = np.repeat(drawn.starts - indptr[:-1], drawn.lengths) + np.arange(indptr[-1])
    return Rows(indptr, drawn.columns[places].astype(np.int32), drawn.values[places].astype(np.float32))


def store_features(
    store: GraphStore, scaling: str = "raw", scale: NDArray[np.float64] | None = None
) -> FeatureRows:
    """Return the features of a store, read by node; see `FeatureRows`.

    Raises:
        ValueError: it has none, or sparse ones that would have to be standardised.
    """
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
