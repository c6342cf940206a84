"""Sorting inside kernels. numba's own sort takes seconds to compile for every type of array."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmotifs._jit import kernel

_SHORT = np.uint64(24)
_ONE = np.uint64(1)


@kernel
def sort_part(keys: Any, first: Any, last: Any) -> None:
    """Sort ``keys[first:last]`` ascending, in place: quicksort, and insertion sort where few are left."""
    first, last = np.uint64(first), np.uint64(last)
    if last > first + _SHORT:
        _leave_short_parts(keys, np.int64(first), np.int64(last))
    for p in range(first + _ONE, max(last, first + _ONE)):
        key = keys[p]
        q: Any = p
        while q > first and keys[q - _ONE] > key:
            keys[q] = keys[q - _ONE]
            q -= _ONE
        keys[q] = key


@kernel
def _leave_short_parts(keys: Any, start: Any, stop: Any) -> None:
    """Part the keys into short stretches; all keys of a stretch are above those of the stretch before it."""
    waiting = np.empty(128, np.int64)  # the longer parts; each is at most half of the one before it
    top = 0
    while True:
        while stop - start > np.int64(_SHORT):
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
        if top == 0:
            return
        top -= 2
        start, stop = waiting[top], waiting[top + 1]
