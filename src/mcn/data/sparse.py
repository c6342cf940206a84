"""Sparse matrices: node features as CSR torch tensors."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphmotifs._arguments import as_array
from graphmotifs._messages import brief
from graphmotifs._sparse import check_csr, flat_integers

if TYPE_CHECKING:
    from torch import Tensor

_SPARSE_BELOW = 0.1  # share of features that are not zero


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
                places = tuple(flat_integers(part, f"{name}: coordinates") for part in matrix.coords)
                return sparse.coo_array((matrix.data, places), shape=matrix.shape)
            offsets = flat_integers(matrix.offsets, f"{name}: offsets")
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
