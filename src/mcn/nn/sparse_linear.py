"""Sparse matrix times dense matrix: X W of the input layer, and the sums over rows of Â.

Entry e of the sparse matrix is dropped when the hash of (key, e) says so, forward and backward alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.matrices import Rows
from mcn.matrices.rows import transpose
from mcn.nn._rng import hash32, threshold
from mcn.nn._work import run, spread
from mcn.nn.features import SparseFeatures


@kernel
def _product(
    start: int,
    stop: int,
    indptr: Any,
    others: Any,
    entries: Any,
    values: Any,
    dense: Any,
    limit: int,
    scale: Any,
    key: Any,
    out: Any,
) -> None:
    """Add rows start … stop of ``sparse @ dense`` to `out`, or of ``sparse.T @ dense`` given the transpose.

    Place p of the pattern holds entry ``entries[p]`` of the sparse matrix; without `entries`, entry p.
    """
    for i in range(start, stop):
        for p in range(indptr[i], indptr[i + 1]):
            e = p if entries is None else entries[p]
            if limit > 0 and hash32(e, key) < limit:
                continue
            v = values[e] * scale
            to, of = out[i], dense[others[p]]
            for k in range(of.shape[0]):
                to[k] += v * of[k]


class _Product(torch.autograd.Function):
    """``dropout(matrix) @ dense``, differentiable in `dense`."""

    @staticmethod
    def forward(
        ctx: Any, dense: torch.Tensor, matrix: Rows | SparseFeatures, p: float, key: int
    ) -> torch.Tensor:
        d = dense.detach().contiguous().numpy()
        values = matrix.values.astype(d.dtype, copy=False)
        out = np.zeros((len(matrix.indptr) - 1, d.shape[1]), d.dtype)
        dropout = (threshold(p), d.dtype.type(1.0 / (1.0 - p)), np.uint64(key))
        spread(
            lambda a, b: _product(a, b, matrix.indptr, matrix.indices, None, values, d, *dropout, out),
            len(out),
            len(values) * d.shape[1],
            matrix.indptr,
        )
        ctx.matrix, ctx.values, ctx.dropout, ctx.size = matrix, values, dropout, len(d)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().numpy()
        matrix = ctx.matrix
        turned = (
            matrix.by_column
            if isinstance(matrix, SparseFeatures)
            else transpose(matrix.indptr, matrix.indices, ctx.size)
        )
        out = np.zeros((ctx.size, g.shape[1]), g.dtype)
        rest: list[Any] = [*turned, ctx.values, g, *ctx.dropout, out]
        spread(lambda a, b: _product(a, b, *rest), ctx.size, len(ctx.values) * g.shape[1], turned.indptr)
        return torch.from_numpy(out), None, None, None


def sparse_linear(x: SparseFeatures, weight: torch.Tensor, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``dropout(X) @ weight`` on the CPU; differentiable in `weight` alone."""
    out: torch.Tensor = run(_Product, weight, x, p, key)
    return out


def propagate(z: torch.Tensor, rows: Rows, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``Σ_j rows_ij z_j`` for z [num_src, C] on the CPU, entries of the rows dropped with probability p."""
    out: torch.Tensor = run(_Product, z, rows, p, key)
    return out


def symmetric_normalised(
    rows: Rows, degrees: NDArray[np.float64], own: NDArray[np.float64] | None = None
) -> Rows:
    """Scale the entries of the target rows to D^-1/2 Â D^-1/2 (eq:gcn).

    Args:
        rows: the rows of Â of the targets, which are the first of the sources.
        degrees: row sums of Â for all sources.
        own: row sums of the targets where they differ from `degrees`: the sum that target i uses for itself,
            while every other target goes on using ``degrees[i]`` for it.
    """
    if len(degrees) and not degrees.min() > 0:
        raise ValueError(f"row sums of Â must be positive, got {degrees.min()} at source {degrees.argmin()}")
    root, lengths = 1.0 / np.sqrt(degrees), np.diff(rows.indptr)
    target, source = np.repeat(root[: len(lengths)], lengths), root[rows.indices]
    if own is not None:
        target = np.repeat(1.0 / np.sqrt(own), lengths)
        source = np.where(rows.indices == np.repeat(np.arange(len(lengths)), lengths), target, source)
    values = rows.values * target * source
    return Rows(rows.indptr, rows.indices, values.astype(rows.values.dtype))
