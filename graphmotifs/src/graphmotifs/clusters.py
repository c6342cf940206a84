"""Clusters that cut few instances of a motif: the spectral method of Benson, Gleich and Leskovec (2016).

In the motif adjacency W, where an entry counts the instances that two nodes are in together, the nodes are
ordered by the second eigenvector of the normalised Laplacian; the cluster is the prefix of that order with
the least conductance φ(S) = cut(S) / min(vol(S), vol(rest)). For motifs on two and three nodes this is the
*motif* conductance, the instances cut by those that end in the smaller side: with three nodes, both cut and
volume count every instance twice. For motifs on four nodes an instance that is cut in halves weighs 4/3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from graphmotifs.directed_counts import DirectedCounts
from graphmotifs.motif_counts import MotifCounts

_SMALL = 64
"""Nodes up to which all eigenvectors are computed, densely."""


@dataclass(frozen=True)
class MotifClusters:
    """Two clusters of nodes by a motif, made by `motif_clusters`.

    Attributes:
        labels: int64 [N]: 0 for the nodes of the smaller cluster, 1 for the larger, -1 for those left out.
        conductance: of the cut between the two.
        left_out: nodes outside the largest component of the motif adjacency.
    """

    labels: NDArray[np.int64]
    conductance: float
    left_out: int


def motif_clusters(counts: MotifCounts | DirectedCounts, motif: str) -> MotifClusters:
    """Divide the nodes of a graph in two so that few instances of a motif are cut.

    Only the largest connected component of the motif adjacency is divided. For more clusters, divide again.

    Args:
        counts: made by `count`, directed or not.
        motif: a graphlet or triad; "edge" or "arc" for ordinary spectral clustering.

    Raises:
        ValueError: the graph has no instance of the motif.

    >>> from graphmotifs import count
    >>> two = [[0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]]  # triangles that an edge joins
    >>> motif_clusters(count(two), "edge")
    MotifClusters(labels=array([0, 0, 0, 1, 1, 1]), conductance=0.14285714285714285, left_out=0)
    """
    weights = sp.csr_array(counts.adjacency(motif, scope="pairs"))
    if weights.nnz == 0:
        raise ValueError(f"this graph has no instance of {motif!r}, so that there is nothing to divide by it")
    component = connected_components(weights, directed=False)[1]
    inside = np.flatnonzero(component == np.bincount(component).argmax())
    side, conductance = _best_cut(sp.csr_array(weights[inside][:, inside]))
    if (2 * side.sum(), not side[0]) > (len(side), False):
        side = ~side
    labels = np.full(counts.num_nodes, -1)
    labels[inside] = np.where(side, 0, 1)
    return MotifClusters(labels, conductance, counts.num_nodes - len(inside))


def _best_cut(weights: sp.csr_array[np.int64]) -> tuple[NDArray[np.bool_], float]:
    """The nodes on one side of the best cut of the sweep, and its conductance."""
    n = weights.shape[0]
    degree = np.asarray(weights.sum(axis=1), np.int64)
    order = np.argsort(_second_eigenvector(weights, degree), kind="stable")
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    upper = sp.coo_array(sp.triu(weights, k=1))
    ends = np.sort(place[np.stack([upper.row, upper.col])], axis=0)
    # An entry is cut by the prefixes that end between its two nodes.
    change = np.zeros(n, np.int64)
    np.add.at(change, ends[0], upper.data)
    np.subtract.at(change, ends[1], upper.data)
    cut, volume = np.cumsum(change)[:-1], np.cumsum(degree[order])[:-1]
    conductance = cut / np.minimum(volume, int(degree.sum()) - volume)
    best = int(conductance.argmin())
    return place <= best, float(conductance[best])


def _second_eigenvector(weights: sp.csr_array[np.int64], degree: NDArray[np.int64]) -> NDArray[np.float64]:
    """That of the normalised Laplacian, divided by the root of the degrees."""
    root = 1 / np.sqrt(degree.astype(np.float64))
    scaled: Any = sp.diags_array(root) @ weights @ sp.diags_array(root)
    if weights.shape[0] <= _SMALL:
        return np.asarray(np.linalg.eigh(scaled.toarray())[1][:, -2] * root)
    start = np.random.default_rng(0).random(weights.shape[0])
    try:
        values, vectors = eigsh(scaled, k=2, which="LA", v0=start)
    except ArpackNoConvergence as error:
        raise ValueError("the second eigenvector did not converge; divide a part of the graph") from error
    return np.asarray(vectors[:, np.argsort(values)[0]] * root)
