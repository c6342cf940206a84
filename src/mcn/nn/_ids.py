"""Node ids as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def node_ids(rows: Any) -> NDArray[np.int64]:
    """Node ids from an id array or tensor, or from a boolean mask (ascending)."""
    ids = np.asarray(rows.detach().cpu().numpy() if hasattr(rows, "detach") else rows)
    if ids.dtype == bool:
        ids = np.flatnonzero(ids)
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or len(ids) == 0:
        raise ValueError(
            "rows: expected a non-empty array [n] of node ids, or a boolean mask with at least one "
            f"node set; got shape {ids.shape} of {ids.dtype}"
        )
    return np.ascontiguousarray(ids, np.int64)
