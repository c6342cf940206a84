"""Turning a CSR pattern round, so that sums over sources are made in a fixed order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel


class Transposed(NamedTuple):
    """The pattern by columns: column c holds entries ``indptr[c] … indptr[c+1]``."""

    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    entries: NDArray[np.int64]


@kernel
def _transpose(indptr: Any, indices: Any, out_indptr: Any, rows: Any, entries: Any) -> None:
    for e in range(indices.shape[0]):
        out_indptr[indices[e] + 1] += 1
    for c in range(out_indptr.shape[0] - 1):
        out_indptr[c + 1] += out_indptr[c]
    cursor = out_indptr[:-1].copy()
    for r in range(indptr.shape[0] - 1):
        for e in range(indptr[r], indptr[r + 1]):
            slot = cursor[indices[e]]
            rows[slot] = r
            entries[slot] = e
            cursor[indices[e]] += 1


def transpose(indptr: NDArray[np.int64], indices: NDArray[np.int32], columns: int) -> Transposed:
    """For every column the rows that hold it, ascending, and where in the CSR each entry stands."""
    out = Transposed(
        np.zeros(columns + 1, np.int64), np.empty(len(indices), np.int32), np.empty(len(indices), np.int64)
    )
    _transpose(indptr, indices, *out)
    return out
