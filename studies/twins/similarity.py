"""How alike two nodes are by the motifs around them, and which pairs cannot be twins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mcn
from studies.twins.kernels import kernel

HOPS = 3
"""Motif counts are averaged over walks of up to this many steps."""
NEAR = 4
"""Nodes this close to each other are no twins: neighbours have alike surroundings because they share them."""
NEVER = np.float32(-np.inf)
"""The similarity of a pair that cannot be twins."""

_FLAT = 1e-6  # a column that varies less than this is constant up to rounding
_SMALL = 1e-3  # directions this much smaller than the largest are dropped: whitening would blow them up


def similarity(adjacency: Any) -> NDArray[np.float32]:
    """Float32 [N, N]: minus the squared distance of the nodes' profiles, over their number of columns.

    `NEVER` for pairs within `NEAR` hops, for a node with itself, and for nodes without neighbours.

    Args:
        adjacency: A as CSR, symmetric, ones.
    """
    profile = profiles(adjacency)
    similar: NDArray[np.float32] = profile @ profile.T
    square = np.square(profile).sum(1)
    similar *= 2  # in place: there is room for few matrices of this size
    similar -= square[:, None]
    similar -= square
    similar /= profile.shape[1]
    _exclude_near(adjacency.indptr, adjacency.indices, NEAR, similar)
    alone = np.diff(adjacency.indptr) == 0
    similar[alone] = NEVER
    similar[:, alone] = NEVER
    return similar


def profiles(adjacency: Any) -> NDArray[np.float32]:
    """Whitened profiles: columns of variance 1 that are not correlated; one column of zeros if all are alike.

    A profile is what is around a node: log motif counts (15 node orbits), and their means over the ends
    of random walks of 1 … `HOPS` steps.
    """
    n = adjacency.shape[0]
    counts = mcn.count_motifs(np.stack(adjacency.nonzero()), n, threads=1).per_node
    degree = np.diff(adjacency.indptr)
    columns = [np.log1p(counts.astype(np.float64))]
    for _ in range(HOPS):
        columns.append((adjacency @ columns[-1]) / np.maximum(degree, 1)[:, None])
    raw = np.concatenate(columns, axis=1)
    raw -= raw.mean(0)
    spread = raw.std(0)
    raw = raw[:, spread > _FLAT] / spread[spread > _FLAT]
    if not raw.size:
        return np.zeros((n, 1), np.float32)
    left, length, _ = np.linalg.svd(raw, full_matrices=False)
    kept = left[:, length > _SMALL * length[0]]
    return np.asarray(kept * np.sqrt(n), np.float32)


@kernel
def _exclude_near(indptr: Any, indices: Any, hops: Any, similar: Any) -> Any:
    """Write `NEVER` at every pair that is at most `hops` steps apart, the diagonal among them."""
    n = len(indptr) - 1
    queue = np.empty(n, np.int64)
    for source in range(n):
        similar[source, source] = NEVER
        queue[0] = source
        begin, end = 0, 1
        for _ in range(hops):
            last = end
            for at in range(begin, last):
                for p in range(indptr[queue[at]], indptr[queue[at] + 1]):
                    node = indices[p]
                    if similar[source, node] != NEVER:
                        similar[source, node] = NEVER
                        queue[end] = node
                        end += 1
            begin = last
