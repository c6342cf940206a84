"""Node features for the input layer: sparse ones, rows of dense ones, and which a matrix should be."""

from __future__ import annotations

import weakref
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.data.sparse import check_csr, csr_parts
from mcn.matrices.rows import Rows, Transposed, gather_rows, transpose

_KEPT_SUBSETS = 4
_KERNELS = (torch.float32, torch.float64)
_MOST_COLUMNS = 2**31 - 1  # which int32 holds
# Share of entries that are not zero up to which the sparse input layer is used. A training step and a
# validation pass with dense kernels took, in units of the sparse ones (64 columns out, dropout 0.6):
#
#     density            1 %    5 %   10 %   20 %   25 %   30 %   50 %
#     2,708 × 1,433     15.0    5.3    2.9    1.3    1.2    1.0    0.5
#     20,000 × 768      16.4    4.7    2.6    1.1    0.9    0.7    0.4
_MOSTLY_ZERO = 0.2


class SparseFeatures:
    """A CSR feature matrix for the input layer: constant, about 1 % dense, never made dense.

    `take` cuts out rows (the receptive field of a batch) and remembers the last few cuts; `by_column`
    is the transpose that the gradient of the weights needs.
    """

    def __init__(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], values: NDArray[Any], columns: int
    ) -> None:
        self.indptr = indptr
        self.indices = indices
        self.values = values
        self.shape = (len(indptr) - 1, columns)
        self._subsets: list[tuple[NDArray[np.int64], SparseFeatures]] = []

    @cached_property
    def by_column(self) -> Transposed:
        """The transposed pattern."""
        return transpose(self.indptr, self.indices, self.shape[1])

    def take(self, rows: NDArray[np.int64]) -> SparseFeatures:
        """Cut out these rows, in this order."""
        for known, subset in self._subsets:
            if known is rows or np.array_equal(known, rows):
                return subset
        cut = gather_rows(Rows(self.indptr, self.indices, self.values), rows, 1)
        subset = SparseFeatures(*cut, self.shape[1])
        self._subsets = [(rows, subset), *self._subsets[: _KEPT_SUBSETS - 1]]
        return subset

    def to_torch(self, device: torch.device) -> torch.Tensor:
        """A COO tensor on `device`, for the plain path."""
        row = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        index = torch.from_numpy(np.stack([row, self.indices.astype(np.int64)]))
        return torch.sparse_coo_tensor(
            index, torch.from_numpy(self.values), self.shape, is_coalesced=True, check_invariants=False
        ).to(device)

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseFeatures:
        return self


def _compressed(x: torch.Tensor) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    if x.layout == torch.sparse_csr:
        starts, columns = csr_parts(x, "x")
        check_csr(starts, columns, x.shape, "x", values=x.values())
        parts = (starts, columns, x.values())
    else:
        _check_coordinates(x)
        coo = x.to_sparse_coo().coalesce()  # type: ignore[no-untyped-call]
        row, column = coo.indices()
        sizes = torch.bincount(row, minlength=x.shape[0])
        parts = (torch.cat([sizes.new_zeros(1), sizes.cumsum(0)]), column, coo.values())
    if x.shape[1] > _MOST_COLUMNS:
        raise ValueError(f"x has {x.shape[1]} columns; at most {_MOST_COLUMNS} are supported")
    indptr, indices, values = (part.detach().cpu().contiguous().numpy() for part in parts)
    return indptr.astype(np.int64), indices.astype(np.int32), values


def _check_coordinates(x: torch.Tensor) -> None:
    """Refuse layouts that torch turns round without a look, and coordinates outside the tensor."""
    if x.layout == torch.strided:
        return
    if x.layout != torch.sparse_coo:
        raise ValueError(
            f"x has the layout {x.layout}; expected dense, CSR or COO, such as x.to_sparse_csr()"
        )
    for axis, part in enumerate(x._indices()):
        if len(part) and not (int(part.min()) >= 0 and int(part.max()) < x.shape[axis]):
            ids = f"{int(part.min())} to {int(part.max())}"
            raise ValueError(f"x: entries from {ids} on an axis of {x.shape[axis]}")


# One holder per tensor, so that the cuts and the transpose survive from one epoch to the next.
_known: dict[int, tuple[weakref.ref[torch.Tensor], SparseFeatures]] = {}


def sparse_features(x: torch.Tensor | SparseFeatures) -> SparseFeatures:
    """Return the `SparseFeatures` of a sparse tensor (CSR; COO is converted), with constant values."""
    if isinstance(x, SparseFeatures):
        return x
    found = _known.get(id(x))
    if found is not None and found[0]() is x:
        return found[1]
    if x.requires_grad:
        raise ValueError("x: sparse features with requires_grad=True are not differentiated; pass a dense x")
    if x.dtype not in _KERNELS or x.dim() != 2 or x.dense_dim():
        raise ValueError(
            f"x: expected a sparse matrix of float32 or float64, got {x.dtype} of shape {list(x.shape)}"
        )
    indptr, indices, values = _compressed(x)
    holder = SparseFeatures(indptr, indices, values, int(x.shape[1]))
    key = id(x)
    _known[key] = (weakref.ref(x, lambda _: _known.pop(key, None)), holder)
    return holder


class DenseRows(NamedTuple):
    """Rows of a constant dense matrix, which the input layer takes as it goes instead of copying them."""

    whole: torch.Tensor
    rows: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows taken, and of columns."""
        return len(self.rows), int(self.whole.shape[1])

    def tensor(self) -> torch.Tensor:
        """Copy the rows."""
        from mcn.nn.on_device import resident

        return self.whole[resident(self.rows, self.whole.device, torch.int64)]


def mostly_zero(x: torch.Tensor) -> bool:
    """Whether a dense matrix is better kept as CSR."""
    return x.numel() > 0 and int(torch.count_nonzero(x)) <= _MOSTLY_ZERO * x.numel()


# What was found of each dense tensor, by its version: writing into a tensor makes it another matrix.
_looked_at: dict[int, tuple[weakref.ref[torch.Tensor], int, SparseFeatures | None]] = {}


def input_features(x: torch.Tensor | SparseFeatures) -> torch.Tensor | SparseFeatures:
    """Return features in the form that is quickest for an input layer: sparse, or dense as they are.

    Dense features that are constant, on the CPU and mostly zero are turned into CSR once per tensor; results
    are those of the same features in CSR, bit for bit. Writing into the tensor by torch is noticed, writing
    into its memory by other ways (``x.data``, a NumPy array that shares it) is not.
    """
    if is_sparse(x):
        return sparse_features(x)
    assert isinstance(x, torch.Tensor)
    known_kind = x.dtype in (torch.float32, torch.float64) and x.device.type == "cpu" and x.dim() == 2
    if not known_kind or x.requires_grad or x.is_inference():
        return x
    found = _looked_at.get(id(x))
    if found is None or found[0]() is not x or found[1] != x._version:
        holder = SparseFeatures(*_compressed(x), int(x.shape[1])) if mostly_zero(x) else None
        key = id(x)
        found = (weakref.ref(x, lambda _: _looked_at.pop(key, None)), x._version, holder)
        _looked_at[key] = found
    return x if found[2] is None else found[2]


def is_sparse(x: object) -> TypeGuard[torch.Tensor | SparseFeatures]:
    """Whether `x` goes through the sparse input layer."""
    return isinstance(x, SparseFeatures) or (isinstance(x, torch.Tensor) and x.layout != torch.strided)


def check_kind(x: Any, weight: torch.Tensor) -> None:
    """Refuse dense features that are no tensor, or do not go with the weights of a layer."""
    if is_sparse(x):
        return
    whole = x.whole if isinstance(x, DenseRows) else x
    if not isinstance(whole, torch.Tensor):
        raise ValueError(f"x is a {type(x).__name__}; expected a tensor, such as torch.from_numpy(x)")
    if whole.device != weight.device:
        raise ValueError(
            f"x is on the device {whole.device}, but the layer's weights are on {weight.device}; expected "
            f"the same: x.to({str(weight.device)!r})"
        )
    if whole.dtype != weight.dtype and not (whole.dtype in _KERNELS and weight.dtype in _KERNELS):
        raise ValueError(
            f"x holds {whole.dtype}, but the layer's weights are {weight.dtype}; expected the same: "
            f"x.to({weight.dtype})"
        )
