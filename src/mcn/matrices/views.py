"""The matrices that views are drawn from: a motif re-weights a node's neighbours, it removes none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mcn.matrices.adjacencies import check_matrix, check_motifs
from mcn.matrices.pagerank import PageRankRows, pagerank_rows, walk_weights

if TYPE_CHECKING:
    from mcn.motifs import MotifCounts


def view_rows(
    counts: MotifCounts,
    names: Sequence[str],
    *,
    order: int,
    alpha: float | None,
    top: int,
    scope: str = "edges",
    symmetric: bool = False,
    tolerance: float = 1e-4,
    threads: int | None = None,
) -> PageRankRows:
    """PageRank rows (see `pagerank_rows`) of one matrix per name.

    Args:
        counts: the motif counts of a graph.
        names: "edge" for A; a motif for A + A_t with its raw counts. Three kinds of views without motifs are
            there to compare with: "alpha=0.1" and "order=3" are A with another α or longest walk,
            "random=7" is A plus random weights (the number is their seed).
        order, alpha: the longest walk, and the chance to stop after each step (None: all lengths alike).
        top: entries kept per row.
        scope: of the motif counts, see `mcn.MotifCounts.adjacency`.
        symmetric, tolerance, threads: see `pagerank_rows`.
    """
    edge = check_matrix(counts.adjacency("edge"), "adjacency 'edge'")
    matrices, weights = [], []
    for name in check_motifs(names):
        kind, _, value = name.partition("=")
        matrices.append(_matrix(counts, edge, kind, value, scope))
        weights.append(
            walk_weights(
                int(_number(name, value)) if kind == "order" else order,
                _number(name, value) if kind == "alpha" else alpha,
            )
        )
    return pagerank_rows(matrices, weights, top, symmetric=symmetric, tolerance=tolerance, threads=threads)


def _matrix(counts: MotifCounts, edge: csr_array, kind: str, value: str, scope: str) -> csr_array:
    if kind in ("edge", "alpha", "order"):
        return edge
    if kind == "random":
        return csr_array(edge + _random_weights(counts, int(_number(f"random={value}", value))))
    return csr_array(edge + check_matrix(counts.adjacency(kind, scope=scope), f"adjacency {kind!r}"))


def _random_weights(counts: MotifCounts, seed: int) -> csr_array:
    """Exponential weights on the edges, symmetric, with mean 1."""
    weight: NDArray[Any] = np.random.default_rng(seed).exponential(size=len(counts.pairs))
    u, v = counts.pairs.T
    n = counts.num_nodes
    return csr_array(
        (np.concatenate([weight, weight]), (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(n, n)
    )


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"view {name!r}: expected a number after '=', got {value!r}") from None
