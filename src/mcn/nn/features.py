"""Node features for the input layer: sparse or dense, of all nodes or of some at a time."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._sparse import check_csr
from mcn.data.sparse import csr_parts
from mcn.matrices import Rows

_KEPT_SUBSETS = 4
_KERNELS = (torch.float32, torch.float64)
_MOST_COLUMNS = 2**31 - 1  # which int32 holds
# Share of entries that are not zero up to which the sparse input layer is used. A training step and a
# validation pass with dense kernels took 1.3 times as long at 20 %, 1.0 times at 30 % (2,708 × 1,433), and
# 1.1 and 0.7 times (20,000 × 768); at 1 % they took 15 times as long.
_MOSTLY_ZERO = 0.2


class SparseFeatures:
    """A CSR feature matrix for the input layer: constant, about 1 % dense, never made dense.

    `take` cuts out rows (the receptive field of a batch) and remembers the last few cuts.
    """

    def __init__(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], values: NDArray[Any], columns: int
    ) -> None:
        self.rows = Rows(indptr, indices, values)
        self.indptr, self.indices, self.values = self.rows
        self.shape = (len(indptr) - 1, columns)
        self._subsets: list[tuple[NDArray[np.int64], SparseFeatures]] = []

    @cached_property
    def _by_column(self) -> Rows:
        return self.rows.transpose(self.shape[1])

    def transpose(self, columns: int) -> Rows:
        """Return the entries column by column (`Rows.transpose`), which the gradient of the weights needs."""
        assert columns == self.shape[1]
        return self._by_column

    def take(self, nodes: NDArray[np.int64]) -> SparseFeatures:
        """Cut out the rows of these nodes, in this order."""
        for known, subset in self._subsets:
            if known is nodes or np.array_equal(known, nodes):
                return subset
        subset = SparseFeatures(*self.rows.take(nodes), self.shape[1])
        self._subsets = [(nodes, subset), *self._subsets[: _KEPT_SUBSETS - 1]]
        return subset

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseFeatures:
        return self


def _compressed(x: torch.Tensor) -> SparseFeatures:
    """Check the structure of a tensor, where it comes in, and hold it as CSR."""
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
    return SparseFeatures(indptr.astype(np.int64), indices.astype(np.int32), values, int(x.shape[1]))


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


# What was found of each tensor, by its version: writing into a tensor makes it another matrix. One holder per
# tensor, so that the cuts and the transpose survive from one epoch to the next.
_known: dict[int, tuple[weakref.ref[torch.Tensor], int, SparseFeatures | None]] = {}


def _remembered(
    x: torch.Tensor, make: Callable[[torch.Tensor], SparseFeatures | None]
) -> SparseFeatures | None:
    """Return what `make` gives for a tensor; it is called once, as long as the tensor lives unchanged."""
    key, version = id(x), 0 if x.is_inference() else x._version
    known = _known.get(key)
    if known is None or known[0]() is not x or known[1] != version:
        known = (weakref.ref(x, lambda _: _known.pop(key, None)), version, make(x))
        _known[key] = known
    return known[2]


def sparse_features(x: torch.Tensor | SparseFeatures) -> SparseFeatures:
    """Return the `SparseFeatures` of a sparse tensor (CSR; COO is converted), with constant values."""
    if isinstance(x, SparseFeatures):
        return x
    if x.requires_grad:
        raise ValueError("x: sparse features with requires_grad=True are not differentiated; pass a dense x")
    if x.dtype not in _KERNELS or x.dim() != 2 or x.dense_dim():
        raise ValueError(
            f"x: expected a sparse matrix of float32 or float64, got {x.dtype} of shape {list(x.shape)}"
        )
    holder = _remembered(x, _compressed)
    assert holder is not None
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
        return self.whole[torch.from_numpy(self.rows).to(self.whole.device)]


def mostly_zero(x: torch.Tensor) -> bool:
    """Whether a dense matrix is better kept as CSR."""
    return x.numel() > 0 and int(torch.count_nonzero(x)) <= _MOSTLY_ZERO * x.numel()


def input_features(x: torch.Tensor | SparseFeatures) -> torch.Tensor | SparseFeatures:
    """Return features in the form that is quickest for an input layer: sparse, or dense as they are.

    Dense features that are constant, on the CPU and mostly zero are turned into CSR once per tensor; results
    are those of the same features in CSR, bit for bit. Writing into the tensor by torch is noticed, writing
    into its memory by other ways (``x.data``, a NumPy array that shares it) is not.
    """
    if is_sparse(x):
        return sparse_features(x)
    assert isinstance(x, torch.Tensor)
    known_kind = x.dtype in _KERNELS and x.device.type == "cpu" and x.dim() == 2
    if not known_kind or x.requires_grad or x.is_inference():
        return x
    holder = _remembered(x, lambda dense: _compressed(dense) if mostly_zero(dense) else None)
    return x if holder is None else holder


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


class FeatureRows:
    """A feature matrix that is asked for rows; nothing else of it need be in memory.

    `x` [N, F] is a tensor, a `SparseFeatures`, or an array, which may be memory-mapped. Rows are divided as
    `scaling` says (see `scaled_rows`), or dense ones standardised by the `scale` of the columns, [2, F].
    """

    def __init__(self, x: Any, scaling: str = "raw", scale: NDArray[np.float64] | None = None) -> None:
        self._x: Any = input_features(x) if isinstance(x, torch.Tensor) else x
        self.shape = (int(x.shape[0]), int(x.shape[1]))
        self._scaling, self._scale = scaling, None if scale is None else torch.from_numpy(scale)

    def __call__(self, nodes: NDArray[np.int64]) -> torch.Tensor | SparseFeatures:
        """Copy the rows of these nodes."""
        if isinstance(self._x, SparseFeatures):
            rows = self._x.rows.take(nodes)
            values = scaled_values(rows.indptr, rows.values, self._scaling)
            return SparseFeatures(rows.indptr, rows.indices, values, self.shape[1])
        if isinstance(self._x, torch.Tensor):
            taken = self._x[torch.from_numpy(nodes).to(self._x.device)]
        else:
            taken = torch.from_numpy(np.ascontiguousarray(self._x[nodes], np.float32))
        if self._scale is not None:
            return ((taken.to(torch.float64) - self._scale[0]) / self._scale[1]).to(torch.float32)
        return scaled_rows(taken, self._scaling)


def scaled_rows(dense: torch.Tensor, scaling: str) -> torch.Tensor:
    """Divide each row by the sum of its absolute values ("rows"), its length ("unit") or nothing ("raw")."""
    if scaling == "raw":
        return dense
    size = dense.norm(dim=1, keepdim=True) if scaling == "unit" else dense.abs().sum(1, keepdim=True)
    return dense / size.clamp_min(1e-12)


def scaled_values(indptr: NDArray[Any], values: NDArray[Any], scaling: str) -> NDArray[Any]:
    """Do the same to the values of a CSR; they come back as float32, and a row of zeros as it is."""
    if scaling == "raw":
        return values
    lengths = np.diff(indptr)
    row = np.repeat(np.arange(len(lengths)), lengths)
    exact = values.astype(np.float64)
    total = np.bincount(row, exact**2 if scaling == "unit" else np.abs(exact), minlength=len(lengths))
    size = np.sqrt(total) if scaling == "unit" else total.astype(np.float64)
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size != 0)
    scaled: NDArray[Any] = (exact * scale[row]).astype(np.float32)
    return scaled
