"""Where in a graph the nodes stand that chose a motif: the sentence under figure 4, as a statistic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

MEASURES = ("degree", "clustering", "distance")
"""Of a node: its neighbours; the share of their pairs that are joined; steps to the densest part (the
k-core of the largest k)."""


def node_measures(adjacency: sp.csr_array[Any]) -> dict[str, NDArray[np.float64]]:
    """The `MEASURES` of every node of a connected graph: CSR, symmetric, ones, no self-loops."""
    degree = np.diff(adjacency.indptr).astype(np.float64)
    triangles = np.asarray((adjacency @ adjacency).multiply(adjacency).sum(axis=1)).reshape(-1) / 2
    pairs = degree * (degree - 1) / 2
    clustering = np.divide(triangles, pairs, out=np.zeros_like(degree), where=pairs > 0)
    cores = core_numbers(adjacency)
    inside = np.flatnonzero(cores == cores.max())
    steps = sp.csgraph.dijkstra(adjacency, indices=inside, unweighted=True, min_only=True)
    return {"degree": degree, "clustering": clustering, "distance": np.asarray(steps, np.float64)}


def core_numbers(adjacency: sp.csr_array[Any]) -> NDArray[np.int64]:
    """For every node the largest k such that it is in a part whose nodes all have k neighbours in it."""
    degree, left = np.diff(adjacency.indptr).astype(np.int64), np.ones(adjacency.shape[0], bool)
    cores, k = np.zeros(adjacency.shape[0], np.int64), 0
    while left.any():
        k = max(k, int(degree[left].min()))
        gone = np.flatnonzero(left & (degree <= k))
        cores[gone], left[gone] = k, False
        for node in gone:
            degree[adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]] -= 1
    return cores


def rank_correlations(
    chosen: NDArray[np.int64], motifs: Sequence[str], measures: Mapping[str, NDArray[np.float64]]
) -> dict[str, dict[str, float | None]]:
    """By motif, Spearman's correlation of having chosen it with each measure; None where all or none did.

    Args:
        chosen: the number of the motif that each node chose.
        motifs: their names.
        measures: from `node_measures`, of the same nodes.
    """
    from scipy.stats import spearmanr

    found: dict[str, dict[str, float | None]] = {}
    for number, motif in enumerate(motifs):
        mine = (chosen == number).astype(np.float64)
        defined = 0 < mine.sum() < len(mine)
        found[motif] = {
            name: float(spearmanr(mine, own).statistic) if defined and np.ptp(own) > 0 else None
            for name, own in measures.items()
        }
    return found


def over_runs(values: Sequence[float | None]) -> dict[str, Any]:
    """Mean and standard error of the runs in which a figure is defined, how many they are, and of which sign.

    >>> over_runs([0.5, None, 0.3])
    {'mean': 0.4, 'error': 0.1, 'runs': 2, 'positive': 2, 'of': 3}
    """
    known = [value for value in values if value is not None]
    error = float(np.std(known, ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else None
    return {
        "mean": round(float(np.mean(known)), 4) if known else None,
        "error": None if error is None else round(error, 4),
        "runs": len(known),
        "positive": sum(value > 0 for value in known),
        "of": len(values),
    }
