"""C of eq:state: the motif counts of the nodes, standardised for the selector."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn.motifs import NODE_ORBITS

NUM_COUNTS = len(NODE_ORBITS)


def count_scale(per_node: Any, num_nodes: int) -> NDArray[np.float64]:
    """Compute mean and standard deviation of log1p of each column of counts, float64 [2, NUM_COUNTS].

    A column that is the same for every node has 0 for its deviation. None for `per_node` gives zeros.
    """
    logs = _logs(per_node, num_nodes)
    if logs is None or num_nodes == 0:
        return np.zeros((2, NUM_COUNTS))
    constant = logs.max(axis=0) == logs.min(axis=0)
    return np.stack([logs.mean(axis=0), np.where(constant, 0.0, logs.std(axis=0))])


def check_scale(given: Any, name: str = "count_scale", width: int = NUM_COUNTS) -> NDArray[np.float64]:
    """Return means and deviations [2, width] that came from elsewhere, such as a `count_scale`, checked."""
    try:
        scale = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is a {type(given).__name__}; expected numbers") from None
    if scale.shape != (2, width):
        raise ValueError(f"{name} has shape {scale.shape}; expected (2, {width})")
    if not np.isfinite(scale).all() or (scale[1] < 0).any():
        raise ValueError(f"{name} must hold finite means, and deviations that are not negative")
    return scale


def standardise_counts(
    per_node: Any, num_nodes: int, scale: NDArray[np.float64] | None = None
) -> NDArray[np.float32]:
    """Shift and scale log1p of the counts to mean 0 and deviation 1 per column; a constant column becomes 0.

    None for `per_node` gives zeros; `scale` is the `count_scale` of the graph that a selector was trained on.
    """
    logs = _logs(per_node, num_nodes)
    if logs is None or num_nodes == 0:
        return np.zeros((num_nodes, NUM_COUNTS), np.float32)
    mean, spread = count_scale(per_node, num_nodes) if scale is None else scale
    return np.where(spread == 0, 0.0, (logs - mean) / np.where(spread == 0, 1.0, spread)).astype(np.float32)


def _logs(per_node: Any, num_nodes: int) -> NDArray[np.float64] | None:
    """Check the counts and return their log1p."""
    if per_node is None:
        return None
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
    logs: NDArray[np.float64] = np.log1p(counts)
    return logs
