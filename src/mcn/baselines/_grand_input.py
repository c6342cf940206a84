"""GRAND's first layer, ``dropout(norm(random propagation of X)) W``, in the cheaper of two orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.baselines._random_propagation import Propagation, fill_keep, propagate_views
from mcn.baselines.task import Task
from mcn.data import feature_csr, feature_tensor
from mcn.nn._parallel import spread
from mcn.nn._rng import derive
from mcn.nn.features import sparse_features
from mcn.nn.sparse_linear import sparse_linear

# Columns that go through the graph together. The buffers of one pass should stay in a core's own cache, yet
# narrow rows do not fill its vectors: 64 was fastest on Cora (0.7 MB a buffer), 32 on Pubmed (2.5 MB).
_WIDE, _NARROW, _SMALL_GRAPH = 64, 32, 5000


class ProjectFirst:
    """Applies W before the propagation: the same numbers, as no dropout and no norm lie between them."""

    def __init__(self, task: Task, propagation: Propagation) -> None:
        self._x = sparse_features(feature_tensor(feature_csr(task.x)))
        self._propagation = propagation

    def views(self, weight: torch.Tensor, kept: NDArray[np.float32], key: int) -> torch.Tensor:
        """One view for each row of `kept` [S, N]: [S, N, C]. `key` decides nothing here."""
        return propagate_views(sparse_linear(self._x, weight), kept, self._propagation)

    def exact(self, weight: torch.Tensor, rows: slice | torch.Tensor) -> torch.Tensor:
        """The chosen rows, with nothing dropped."""
        everything = np.ones((1, self._propagation.num_nodes), np.float32)
        return self.views(weight, everything, 0)[0, rows]


@kernel
def _fill(indptr: Any, rows: Any, values: Any, first: int, kept: Any, out: Any) -> None:
    """Columns ``first …`` of diag(kept) X as a dense block."""
    out[:] = 0
    for c in range(out.shape[1]):
        for e in range(indptr[first + c], indptr[first + c + 1]):
            out[rows[e], c] = values[e] * kept[rows[e]]


@kernel
def _moments(x: Any, mean: Any, variance: Any) -> None:
    """By column, in float64; the variance divides by N."""
    mean[:] = 0
    variance[:] = 0
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            mean[c] += x[i, c]
    mean /= x.shape[0]
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            variance[c] += (x[i, c] - mean[c]) ** 2
    variance /= x.shape[0]


@kernel
def _standardise(x: Any, mean: Any, scale: Any) -> None:
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            x[i, c] = (x[i, c] - mean[c]) * scale[c]


class _BlockProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, blocks: list[torch.Tensor]) -> torch.Tensor:
        ctx.blocks = blocks
        samples, nodes, _ = blocks[0].shape
        out = torch.zeros(samples * nodes, weight.shape[1])
        first = 0
        for block in blocks:
            out.addmm_(block.flatten(0, 1), weight[first : first + block.shape[2]])
            first += block.shape[2]
        return out.view(samples, nodes, -1)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().flatten(0, 1)
        return torch.cat([block.flatten(0, 1).T @ g for block in ctx.blocks]), None


class PropagateFirst:
    """The general order: all columns of X go through the graph, S times per step.

    Only W needs a gradient, so the propagation is outside autograd. What W is multiplied with is held in
    blocks of columns [S, N, width] that every step overwrites. Batch norm's own γ and β are pulled into W,
    ``(m ∘ (γ x̂ + β)) W = (m ∘ x̂)(γ W) + m (β W)`` with m the dropout's mask; m is then held as well.
    """

    def __init__(
        self,
        task: Task,
        propagation: Propagation,
        samples: int,
        dropout: float,
        norm: torch.nn.BatchNorm1d | None,
    ) -> None:
        csc = sp.csc_array(feature_csr(task.x))
        self._csc = (csc.indptr.astype(np.int64), csc.indices, csc.data.astype(np.float32))
        self._propagation, self._dropout, self._norm = propagation, dropout, norm
        nodes, columns = csc.shape
        self._width = _WIDE if nodes <= _SMALL_GRAPH else _NARROW
        self._starts = range(0, columns, self._width)
        widths = [min(self._width, columns - start) for start in self._starts]
        count = len(widths) * (1 if norm is None else 2)
        self._blocks = [np.empty((samples, nodes, w), np.float32) for w in (widths * 2)[:count]]
        self._moments = np.empty((2, samples, columns))
        self._exact = torch.from_numpy(self._without_loss(widths))

    def _without_loss(self, widths: list[int]) -> NDArray[np.float32]:
        ones = np.ones(self._propagation.num_nodes, np.float32)
        parts = []
        for start, width in zip(self._starts, widths, strict=True):
            block = np.empty((len(ones), width), np.float32)
            _fill(*self._csc, start, ones, block)
            parts.append(self._propagation(block))
        return np.concatenate(parts, axis=1)

    def _draw(self, kept: NDArray[np.float32], key: int) -> None:
        """Propagate, normalise and drop out; views do not depend on each other, so threads may share them."""

        def work(first: int, last: int) -> None:
            scratch = np.empty((4, kept.shape[1] * self._width), np.float32)
            for s in range(first, last):
                for i, start in enumerate(self._starts):
                    out = self._blocks[i][s]
                    x, odd, even, mask = (part[: out.size].reshape(out.shape) for part in scratch)
                    _fill(*self._csc, start, kept[s], x)
                    mixed = self._propagation(x, (odd, even))
                    if self._norm is not None:
                        mask = self._blocks[len(self._starts) + i][s]
                        mean, variance = self._moments[:, s, start : start + out.shape[1]]
                        _moments(mixed, mean, variance)
                        _standardise(mixed, mean, 1.0 / np.sqrt(variance + self._norm.eps))
                    fill_keep(mask, self._dropout, derive(key, s, i))
                    np.multiply(mixed, mask, out=out)

        spread(work, len(kept), kept.size * self._exact.shape[1])

    def _remember_moments(self, norm: torch.nn.BatchNorm1d) -> None:
        """Move the running moments towards those of each view, as torch's layer does."""
        assert norm.running_mean is not None
        assert norm.running_var is not None
        assert norm.momentum is not None
        nodes = self._propagation.num_nodes
        for mean, variance in torch.from_numpy(self._moments).float().unbind(1):
            norm.running_mean.lerp_(mean, norm.momentum)
            norm.running_var.lerp_(variance * (nodes / max(1, nodes - 1)), norm.momentum)

    def views(self, weight: torch.Tensor, kept: NDArray[np.float32], key: int) -> torch.Tensor:
        """One view for each row of `kept` [S, N]: [S, N, C]. `key` decides the dropout."""
        self._draw(kept, key)
        if self._norm is not None:
            self._remember_moments(self._norm)
            weight = torch.cat([self._norm.weight[:, None] * weight, self._norm.bias[:, None] * weight])
        blocks = [torch.from_numpy(block) for block in self._blocks]
        out: torch.Tensor = _BlockProduct.apply(weight, blocks)  # type: ignore[no-untyped-call]
        return out

    def exact(self, weight: torch.Tensor, rows: slice | torch.Tensor) -> torch.Tensor:
        """The chosen rows, with nothing dropped and the running moments."""
        x = self._exact[rows]
        return (x if self._norm is None else self._norm(x)) @ weight
