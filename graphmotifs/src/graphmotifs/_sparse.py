"""Checks of sparse matrices that a caller made, before compiled code follows their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphmotifs._arguments import as_array
from graphmotifs._messages import brief


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
    starts, columns = _integers(indptr, f"{name}: indptr"), _integers(indices, f"{name}: indices")
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


def _integers(array: Any, name: str) -> NDArray[Any]:
    """A one-dimensional array of integers in the machine's byte order."""
    flat = as_array(array, name, "[entries]")
    if flat.size == 0 and flat.dtype.kind == "f":  # an empty list
        flat = flat.astype(np.int64)
    if flat.ndim != 1 or flat.dtype.kind not in "iu":
        raise ValueError(f"{name} has shape {list(flat.shape)}, dtype {flat.dtype}; expected integers")
    return flat if flat.dtype.isnative else flat.astype(flat.dtype.newbyteorder("="))


def check_structure(matrix: Any, name: str) -> Any:
    """Return a matrix of SciPy, or another format of it, whose conversions between formats are safe.

    They write wherever its ids point, so these are checked.
    """
    form = matrix.format
    if form in ("lil", "dok"):
        matrix, form = _from_lists(matrix, name) if form == "lil" else matrix.tocsr(), "csr"
    if form in ("csr", "csc", "bsr"):
        rows, columns = matrix.shape
        if form == "csc":
            rows, columns = columns, rows
        if form == "bsr":
            high, wide = matrix.data.shape[1:] if matrix.data.ndim == 3 else (0, 0)
            if high < 1 or wide < 1 or rows % high or columns % wide:
                raise ValueError(f"{name}: blocks of shape {[high, wide]} in a matrix of {[rows, columns]}")
            rows, columns = rows // high, columns // wide
        check_csr(matrix.indptr, matrix.indices, (rows, columns), name, values=matrix.data)
    elif form in ("coo", "dia"):
        try:  # SciPy looks when it makes one
            if form == "coo":
                places = tuple(_integers(part, f"{name}: coordinates") for part in matrix.coords)
                return sparse.coo_array((matrix.data, places), shape=matrix.shape)
            offsets = _integers(matrix.offsets, f"{name}: offsets")
            return sparse.dia_array((matrix.data, offsets), shape=matrix.shape)
        except ValueError as error:
            said = brief(error)
            raise ValueError(said if said.startswith(name) else f"{name}: {said}") from None
    return matrix


def _from_lists(matrix: Any, name: str) -> Any:
    """Return a matrix that is kept as a list per row as CSR."""
    sizes = [(len(columns), len(values)) for columns, values in zip(matrix.rows, matrix.data, strict=False)]
    odd = next((row for row, (columns, values) in enumerate(sizes) if columns != values), None)
    if odd is not None or len(sizes) != matrix.shape[0]:
        raise ValueError(f"{name}: its rows are not lists of as many columns as values, one for each row")
    try:
        return matrix.tocsr()
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: its rows hold what is no column or no value ({brief(error)})") from error
