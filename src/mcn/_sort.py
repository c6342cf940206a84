"""Sorting inside kernels. numba's own sort takes seconds to compile for every type of array."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcn._jit import kernel

_SHORT = 24


@kernel
def sort_part(keys: Any, first: Any, last: Any) -> None:
    """Sort ``keys[first:last]`` ascending, in place: quicksort, and insertion sort where few are left."""
    start, stop = np.int64(first), np.int64(last)
    waiting = np.empty(128, np.int64)  # the longer parts; each is at most half of the one before it
    top = 0
    while True:
        while stop - start > _SHORT:
            a, b, c = keys[start], keys[start + (stop - start) // 2], keys[stop - 1]
            pivot = max(min(a, b), min(max(a, b), c))
            i, j = start, stop - 1
            while i <= j:
                while keys[i] < pivot:
                    i += 1
                while pivot < keys[j]:
                    j -= 1
                if i <= j:
                    keys[i], keys[j] = keys[j], keys[i]
                    i += 1
                    j -= 1
            if j + 1 - start > stop - i:
                waiting[top], waiting[top + 1] = start, j + 1
                start = i
            else:
                waiting[top], waiting[top + 1] = i, stop
                stop = j + 1
            top += 2
        for p in range(start + 1, stop):
            key, q = keys[p], p
            while q > start and keys[q - 1] > key:
                keys[q] = keys[q - 1]
                q -= 1
            keys[q] = key
        if top == 0:
            return
        top -= 2
        start, stop = waiting[top], waiting[top + 1]
