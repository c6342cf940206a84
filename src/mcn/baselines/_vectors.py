"""Sums over two rows of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcn._jit import unordered_kernel


@unordered_kernel
def dot(a: Any, i: int, b: Any, j: int) -> np.float32:
    """``a[i] · b[j]`` in float32."""
    total = np.float32(0.0)
    for c in range(a.shape[1]):
        total += a[i, c] * b[j, c]
    return total


@unordered_kernel
def add(a: Any, i: int, b: Any, j: int, times: np.float32) -> None:
    """``a[i] += times · b[j]``; the two rows are different ones."""
    to, of = a[i], b[j]
    for c in range(to.shape[0]):
        to[c] += times * of[c]


@unordered_kernel
def exchange(change: Any, a: Any, i: int, b: Any, j: int, times: np.float32) -> None:
    """``change += times · b[j]`` and ``b[j] += times · a[i]`` in one pass; three different rows."""
    for c in range(a.shape[1]):
        before = b[j, c]
        change[c] += times * before
        b[j, c] = before + times * a[i, c]


@unordered_kernel
def squared_gap(a: Any, i: int, j: int) -> np.float32:
    """``‖a[i] - a[j]‖²`` in float32."""
    total = np.float32(0.0)
    for c in range(a.shape[1]):
        gap = a[i, c] - a[j, c]
        total += gap * gap
    return total
