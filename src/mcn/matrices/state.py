"""C of eq:state: what a node's motif counts tell the selector."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

NUM_COUNTS = 15  # node orbits of the graphlets on 2–4 nodes


def standardise_counts(per_node: Any, num_nodes: int) -> NDArray[np.float32]:
    """log1p of the counts, each column with mean 0 and standard deviation 1; a constant column becomes 0.

    Args:
        per_node: [N, 15] counts ≥ 0, or None for no counts (all zero).
    """
    if per_node is None:
        return np.zeros((num_nodes, NUM_COUNTS), np.float32)
    counts = np.asarray(per_node)
    if counts.shape != (num_nodes, NUM_COUNTS):
        raise ValueError(
            f"node_counts has shape {counts.shape}; expected ({num_nodes}, {NUM_COUNTS}), "
            "one column per node orbit as in MotifCounts.per_node."
        )
    counts = counts.astype(np.float64)
    bad = np.argwhere(~(np.isfinite(counts) & (counts >= 0)))
    if bad.size:
        row, column = map(int, bad[0])
        raise ValueError(
            f"node_counts[{row}, {column}] = {counts[row, column]}; counts must be finite and not negative."
        )
    if num_nodes == 0:
        return np.zeros((0, NUM_COUNTS), np.float32)
    logs = np.log1p(counts)
    constant = logs.max(axis=0) == logs.min(axis=0)
    centred = logs - logs.mean(axis=0)
    spread = np.where(constant, 1.0, centred.std(axis=0))
    return np.where(constant, 0.0, centred / spread).astype(np.float32)
