"""GRAND's random propagation: rows of X dropped, then averaged powers of the normalised adjacency."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.baselines._add_rows import ROWS, add_rows
from mcn.baselines._arrays import adjacency, symmetric
from mcn.baselines.task import Task
from mcn.nn._rng import hash32, threshold


@kernel
def _mean_of_powers(indptr: Any, indices: Any, values: Any, order: int, x: Any, odd: Any, even: Any) -> Any:
    """Horner's scheme, ``y <- x + A y``: no third buffer for the sum. Overwrites all three, returns one."""
    share = np.float32(1.0) / np.float32(order + 1)
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            x[i, c] *= share
    of, to, width = x, odd, x.shape[1]
    whole = width - width % ROWS
    for hop in range(order):
        for i in range(x.shape[0]):
            row, own = to[i], x[i]
            for c in range(width):
                row[c] = own[c]
            for c in range(0, whole, ROWS):
                add_rows(values, indices, indptr[i], indptr[i + 1], of, c, width, row, c)
            if whole < width:
                for e in range(indptr[i], indptr[i + 1]):
                    v, there = values[e], of[indices[e]]
                    for c in range(whole, width):
                        row[c] += v * there[c]
        of, to = (odd, even) if hop % 2 == 0 else (even, odd)
    return of


@kernel
def _fill_mask(out: Any, limit: int, scale: Any, key: Any) -> None:
    for e in range(out.shape[0]):
        out[e] = scale if hash32(e, key) >= limit else np.float32(0.0)


def fill_keep(out: NDArray[np.float32], p: float, key: int) -> None:
    """Zero with probability p, else 1/(1-p), in every place of a contiguous `out`; decided by `key`."""
    _fill_mask(out.reshape(-1), threshold(p), np.float32(1.0 / (1.0 - p)), np.uint64(key))


def keep(shape: tuple[int, ...], p: float, key: int) -> NDArray[np.float32]:
    """A new array of this shape from `fill_keep`."""
    out = np.empty(shape, np.float32)
    fill_keep(out, p, key)
    return out


class Propagation:
    """``1/(K+1) Σ_k Â^k x`` with ``Â = D^-1/2 (A + I) D^-1/2`` and k from 0 to K; symmetric, like Â."""

    def __init__(self, task: Task, order: int) -> None:
        matrix = symmetric(adjacency(task) + sp.eye_array(task.num_nodes)).astype(np.float32)
        self._csr = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
        self._order = order
        self.num_nodes = task.num_nodes

    def __call__(self, x: NDArray[np.float32], buffers: Any = None) -> NDArray[np.float32]:
        """Of a C-contiguous x [N, C], which is overwritten; the result may be in one of two `buffers`."""
        odd, even = buffers if buffers is not None else (np.empty_like(x), np.empty_like(x))
        out: NDArray[np.float32] = _mean_of_powers(*self._csr, self._order, x, odd, even)
        return out


class _Views(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: torch.Tensor, kept: NDArray[np.float32], propagation: Any) -> torch.Tensor:
        ctx.kept, ctx.propagation = kept, propagation
        samples, nodes = kept.shape
        x = kept.T[:, :, None] * z.detach().numpy()[:, None, :]
        out = propagation(np.ascontiguousarray(x.reshape(nodes, -1))).reshape(nodes, samples, -1)
        return torch.from_numpy(np.ascontiguousarray(out.transpose(1, 0, 2)))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        samples, nodes = ctx.kept.shape
        g = grads[0].numpy().transpose(1, 0, 2).copy()  # torch's own gradient must not be overwritten
        back = ctx.propagation(g.reshape(nodes, -1)).reshape(nodes, samples, -1)
        return torch.from_numpy(np.einsum("nsc,sn->nc", back, ctx.kept)), None, None


def propagate_views(z: torch.Tensor, kept: NDArray[np.float32], propagation: Propagation) -> torch.Tensor:
    """Random propagation [S, N, C] of z [N, C], row i of view s times kept[s, i]; differentiable in z."""
    out: torch.Tensor = _Views.apply(z, kept, propagation)  # type: ignore[no-untyped-call]
    return out
