"""Targets of nodes: what kind they are, which nodes have one, and how they are spread over a split."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_TENTHS, _IN_EACH = 10, 5  # parts into which numbers are divided, and nodes that a part has at least


def target_kind(y: Any) -> str:
    """Return what the targets of a graph are, by dtype and shape alone; an array or a tensor.

    "classes": integers [N], one class per node. "regression": floats [N], a number per node. "multilabel":
    two columns or more of any dtype, a yes or no in each. [N, 1] counts as [N].
    """
    if y.ndim == 2 and y.shape[1] > 1:
        return "multilabel"
    return "regression" if _is_float(y) else "classes"


def known_targets(y: Any) -> Any:
    """Return which nodes have a target, bool [N]: all of them, where there are several.

    A class that is not known is negative, and so is a yes or no in integers; a float is NaN.
    """
    known = y == y if _is_float(y) else y >= 0  # NaN alone is not equal to itself
    return known.all(1) if y.ndim == 2 else known


def strata(y: Any) -> NDArray[np.int64]:
    """Return the group that each node is drawn with, -1 without a target.

    That is its class, the tenth of the numbers that its own is in, or one group for all where there are
    several targets.
    """
    kind, known = target_kind(y), known_targets(y)
    if kind == "classes":
        return np.asarray(y, np.int64)
    groups = np.where(known, 0, -1)
    parts = min(_TENTHS, int(known.sum()) // _IN_EACH)
    if kind == "regression" and parts > 1:
        cuts = np.quantile(y[known], np.arange(1, parts) / parts, method="higher")
        groups[known] = np.searchsorted(cuts, y[known], side="right")
    return groups


def _is_float(y: Any) -> bool:
    return "float" in str(y.dtype)  # NumPy's and torch's
