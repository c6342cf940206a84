"""Losses over pairs of rows, each with its gradient in one pass: no rows are gathered, none scattered."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from mcn._jit import kernel
from mcn.baselines._vectors import add, dot, squared_gap


@kernel
def _push(h: Any, i: int, j: int, slope: Any, grad: Any) -> None:
    """Add the gradient of ``slope / 2 · ‖h_i - h_j‖²``."""
    for c in range(h.shape[1]):
        part = slope * (h[i, c] - h[j, c])
        grad[i, c] += part
        grad[j, c] -= part


@kernel
def _squares(h: Any, near: Any, far: Any, margin: Any, grad: Any) -> float:
    """Mean squared distance of near pairs plus mean squared lack of a margin of far ones."""
    total, share = 0.0, np.float32(1.0 / near.shape[1])
    for p in range(near.shape[1]):
        i, j = near[0, p], near[1, p]
        total += float(squared_gap(h, i, j) * share)
        _push(h, i, j, np.float32(2.0) * share, grad)
    share = np.float32(1.0 / far.shape[1])
    for p in range(far.shape[1]):
        i, j = far[0, p], far[1, p]
        # The root has no gradient at 0: two equal rows, a pair (i, i) for instance.
        distance = np.float32(math.sqrt(squared_gap(h, i, j) + np.float32(1e-12)))
        lack = np.float32(margin) - distance
        if lack > 0:
            total += float(lack * lack * share)
            _push(h, i, j, np.float32(-2.0) * share * lack / distance, grad)
    return total


@kernel
def _contexts(e: Any, c: Any, node: Any, near: Any, far: Any, grad_e: Any, grad_c: Any) -> float:
    """Skip-gram with negative sampling: mean over the pairs of ``-log σ(e·c) - Σ log σ(-e·c')``."""
    total, share = 0.0, np.float32(1.0 / node.shape[0])
    for p in range(node.shape[0]):
        i = node[p]
        for s in range(far.shape[1] + 1):
            j = near[p] if s == 0 else far[p, s - 1]
            product = dot(e, i, c, j)
            z = product if s == 0 else -product
            small = math.exp(-abs(z))
            total += float((max(-z, np.float32(0.0)) + math.log1p(small)) * share)
            wrong = np.float32((small if z > 0 else 1.0) / (1.0 + small)) * share
            slope = -wrong if s == 0 else wrong
            add(grad_e, i, c, j, slope)
            add(grad_c, j, e, i, slope)
    return total


class _PairLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, near: torch.Tensor, far: torch.Tensor, margin: float
    ) -> torch.Tensor:
        h = hidden.detach().contiguous().numpy()
        grad = np.zeros_like(h)
        value = _squares(h, near.numpy(), far.numpy(), margin, grad)
        ctx.grad = torch.from_numpy(grad)
        return hidden.new_tensor(value)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return ctx.grad * grads[0], None, None, None


class _ContextLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        embedded: torch.Tensor,
        context: torch.Tensor,
        node: torch.Tensor,
        near: torch.Tensor,
        far: torch.Tensor,
    ) -> torch.Tensor:
        e, c = (t.detach().contiguous().numpy() for t in (embedded, context))
        found = np.zeros_like(e), np.zeros_like(c)
        value = _contexts(e, c, node.numpy(), near.numpy(), far.numpy(), *found)
        ctx.found = [torch.from_numpy(grad) for grad in found]
        return embedded.new_tensor(value)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return ctx.found[0] * grads[0], ctx.found[1] * grads[0], None, None, None


def pair_loss(hidden: torch.Tensor, near: torch.Tensor, far: torch.Tensor, margin: float) -> torch.Tensor:
    """Mean of ``‖h_i - h_j‖²`` over near pairs plus mean of ``max(0, margin - ‖h_i - h_j‖)²`` over far ones.

    Pairs are the columns of int64 [2, P] tensors; hidden is float32 [N, C].
    """
    out: torch.Tensor = _PairLoss.apply(hidden, near, far, margin)  # type: ignore[no-untyped-call]
    return out


def context_loss(
    embedded: torch.Tensor, context: torch.Tensor, node: torch.Tensor, near: torch.Tensor, far: torch.Tensor
) -> torch.Tensor:
    """Skip-gram with negative sampling: ``-log σ(e·c)`` for near contexts, ``-log σ(-e·c)`` for far ones.

    Args:
        embedded, context: float32 [M, D] and [N, D].
        node: int64 [P], rows of `embedded`.
        near, far: int64 [P] and [P, S], rows of `context`.
    """
    out: torch.Tensor = _ContextLoss.apply(embedded, context, node, near, far)  # type: ignore[no-untyped-call]
    return out
