"""X W for wide dense X: the input layer on features such as text embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.nn._tiles import product, weight_gradient
from mcn.nn._work import run
from mcn.nn.linear import dropped

# Columns of X from which `_tiles` is used. For 20,000 × 768 × 64, forward and backward on one thread, it took
# 1.08 times as long as torch.mm, 1.37 times on a processor with vectors of 64 bytes, and 0.24 times as long
# as `mcn.nn.linear`; with dropout 0.6, 0.2 to 0.3 times as long as torch's dropout and torch.mm. Narrower
# matrices stay with the older kernels, so that trained networks, whose hidden layers mostly have 64 columns,
# keep their bits.
_WIDE = 256


def is_wide(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether ``x @ weight`` is made here."""
    kinds = (torch.float32, torch.float64)
    return x.shape[1] >= _WIDE and x.dtype == weight.dtype and x.dtype in kinds and x.device.type == "cpu"


class _WideLinear(torch.autograd.Function):
    """Neither the rows that are taken nor the dropped features are ever stored: kernels make them anew."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, p: float, key: int, rows: NDArray[np.int64] | None
    ) -> torch.Tensor:
        x = x.detach().contiguous()
        ctx.save_for_backward(x, weight)
        ctx.p, ctx.key, ctx.rows = p, key, rows
        return torch.from_numpy(product(x.numpy(), weight.detach().contiguous().numpy(), rows, p, key))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().numpy()
        x, weight = (t.detach().numpy() for t in ctx.saved_tensors)
        grad_x = grad_w = None
        if ctx.needs_input_grad[0]:
            grad = product(g, np.ascontiguousarray(weight.T), None, 0.0, 0)
            grad_x = torch.from_numpy(dropped(grad, ctx.p, ctx.key))
        if ctx.needs_input_grad[1]:
            grad_w = torch.from_numpy(weight_gradient(x, g, ctx.rows, ctx.p, ctx.key))
        return grad_x, grad_w, None, None, None


def wide_linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    p: float = 0.0,
    key: int = 0,
    rows: NDArray[np.int64] | None = None,
) -> torch.Tensor:
    """``dropout(x[rows]) @ weight`` on the CPU; `weight` is [in, out]. With `rows`, x is a constant."""
    out: torch.Tensor = run(_WideLinear, x if rows is None else x.detach(), weight, p, key, rows)
    return out
