"""The check that a CSR structure can be trusted, before compiled code follows its ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._arguments import as_array


def check_csr(
    indptr: Any, indices: Any, shape: Sequence[int], name: str = "matrix", *, values: Any = None
) -> None:
    """Check that a CSR structure stays inside its own arrays and columns, before a kernel trusts it.

    SciPy and torch build CSR matrices without looking at the ids, and compiled code reads and writes wherever
    they point. The check is one pass over each array, NumPy's or torch's. Order and repeats within a row are
    not looked at. Of `values`, the number is checked. The message calls the matrix `name`.

    >>> check_csr([0, 1, 2], [1, 5], (2, 3), "x")
    Traceback (most recent call last):
        ...
    ValueError: x: entry 1 (in row 1) is in column 5; expected columns in 0..2
    """
    starts, columns = flat_integers(indptr, f"{name}: indptr"), flat_integers(indices, f"{name}: indices")
    rows, width = int(shape[0]), int(shape[1])
    if rows < 0 or width < 0 or len(starts) != rows + 1:
        raise ValueError(f"{name}: {len(starts)} row pointers for a matrix of shape {[rows, width]}")
    if int(starts[0]) != 0 or int(starts[-1]) != len(columns):
        raise ValueError(
            f"{name}: row pointers from {int(starts[0])} to {int(starts[-1])}; expected 0 to {len(columns)}, "
            "the number of entries"
        )
    back = starts[1:] < starts[:-1]
    if back.any():
        row = int(np.argmax(back))
        raise ValueError(
            f"{name}: row {row} runs from entry {int(starts[row])} to {int(starts[row + 1])}; "
            "expected row pointers that do not go back"
        )
    if values is not None and len(values) != len(columns):
        raise ValueError(f"{name}: {len(values)} values for {len(columns)} columns")
    # Seen as unsigned, a negative id is larger than any that is not: the maximum alone decides.
    most = 2 ** (8 * columns.itemsize - (columns.dtype.kind == "i"))
    if len(columns) and int(columns.view(f"u{columns.itemsize}").max()) >= min(width, most):
        entry = int(np.argmax((columns < 0) | (columns >= width)))
        row = int(np.searchsorted(starts, entry, side="right")) - 1
        raise ValueError(
            f"{name}: entry {entry} (in row {row}) is in column {int(columns[entry])}; "
            f"expected columns in 0..{width - 1}"
        )


def flat_integers(array: Any, name: str) -> NDArray[Any]:
    """Return a one-dimensional array of integers in the machine's byte order."""
    flat = as_array(array, name, "[entries]")
    if flat.size == 0 and flat.dtype.kind == "f":  # an empty list
        flat = flat.astype(np.int64)
    if flat.ndim != 1 or flat.dtype.kind not in "iu":
        raise ValueError(f"{name} has shape {list(flat.shape)}, dtype {flat.dtype}; expected integers")
    return flat if flat.dtype.isnative else flat.astype(flat.dtype.newbyteorder("="))
