"""Sparse matrices: node features as CSR torch tensors, and the check that a CSR structure can be trusted."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mcn.data.arrays import as_array
from mcn.data.limits import brief

if TYPE_CHECKING:
    from torch import Tensor

_SPARSE_BELOW = 0.1  # share of features that are not zero


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


def checked_csr(matrix: Any, name: str) -> sparse.csr_array[Any]:
    """Return a real matrix of any kind as CSR, after a look at whatever its structure points to."""
    if str(getattr(matrix, "layout", "")) == "torch.sparse_csr":
        return feature_csr(matrix, name)
    if not sparse.issparse(matrix):
        dense = as_array(matrix, name, "[rows, columns]")
        _check_real(dense, name)
        return sparse.csr_array(dense if dense.dtype != np.float16 else dense.astype(np.float32))
    _check_real(matrix, name)
    whole = check_structure(matrix, name)
    if whole.format == "csr" and whole.indices.dtype.kind + whole.indptr.dtype.kind != "ii":
        parts = (whole.data, whole.indices.astype(np.int64), whole.indptr.astype(np.int64))
        return sparse.csr_array(parts, shape=whole.shape)  # SciPy warns of unsigned ids
    return sparse.csr_array(whole)


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


def _check_real(matrix: Any, name: str) -> None:
    if len(matrix.shape) != 2:
        raise ValueError(f"{name} has shape {list(matrix.shape)}; expected a matrix [rows, columns]")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds {matrix.dtype}; expected real numbers")


def feature_tensor(matrix: Any, *, dense: bool = False) -> Tensor:
    """Return a SciPy sparse matrix as a float32 torch tensor, in CSR layout unless `dense`.

    Column indices are sorted within each row, and repeated entries are summed.
    """
    import torch

    csr: Any = checked_csr(matrix, "the matrix").astype(np.float32)
    csr.sum_duplicates()
    if dense:
        return torch.from_numpy(csr.toarray())
    with warnings.catch_warnings():
        # torch announces once per process that CSR is in beta; we use only what it documents as stable.
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
        return torch.sparse_csr_tensor(
            torch.from_numpy(csr.indptr.astype(np.int64)),
            torch.from_numpy(csr.indices.astype(np.int64)),
            torch.from_numpy(csr.data),
            size=csr.shape,
            check_invariants=True,
        )


def thin_or_dense(values: NDArray[np.float32], dense: bool) -> NDArray[np.float32] | sparse.csr_array[Any]:
    """Return features as they are, or as a CSR matrix if that may be and few of them are not zero."""
    few = np.count_nonzero(values) < _SPARSE_BELOW * values.size
    return sparse.csr_array(values) if few and not dense else values


def as_tensor(values: NDArray[Any] | sparse.csr_array[Any]) -> Tensor:
    """Return an array as a dense tensor, and a matrix in CSR layout."""
    import torch

    return torch.from_numpy(values) if isinstance(values, np.ndarray) else feature_tensor(values)


def csr_parts(x: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """Return where the rows of a CSR tensor begin, and its columns."""
    try:
        return x.crow_indices(), x.col_indices()
    except RuntimeError as error:
        raise ValueError(f"{name}: row pointers or columns are no plain tensors ({brief(error)})") from None


def feature_csr(x: Tensor, name: str = "x") -> sparse.csr_array[Any]:
    """Return any 2-D torch tensor, dense or CSR, as a SciPy CSR array: the inverse of `feature_tensor`."""
    import torch

    if x.layout != torch.sparse_csr:
        return sparse.csr_array(as_array(x, name, "[N, F]"))
    if x.dim() != 2 or x.values().dim() != 1:
        raise ValueError(
            f"{name} has shape {list(x.shape)} with {x.values().dim()}-D values; expected [N, F]"
        )
    starts, columns = csr_parts(x, name)
    check_csr(starts, columns, x.shape, name, values=x.values())
    values = as_array(x.values(), name, "[entries]")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds {values.dtype}; expected real numbers")
    parts = (values, columns.cpu().numpy(), starts.cpu().numpy())
    return sparse.csr_array(parts, shape=(x.shape[0], x.shape[1]))
