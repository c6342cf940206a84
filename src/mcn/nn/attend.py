"""Self-attention over the chosen rows, with Ψ as its prior: one differentiable operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import Rows
from mcn.nn import _attend_kernels as kernels
from mcn.nn._apply import run
from mcn.nn._csr import transpose
from mcn.nn._rng import threshold
from mcn.nn._work import spread
from mcn.nn.linear import dropped

PRIORS = ("softmax", "product")


@dataclass(frozen=True)
class Attention:
    """What `attend` does beside its arrays.

    prior: "softmax" adds log Ã to the logits; "product" multiplies Ã onto the finished softmax.
    slope: of the LeakyReLU below zero. coefficient_dropout, feature_dropout: probabilities, with the
    keys of their masks.
    """

    prior: str = "softmax"
    slope: float = 0.2
    coefficient_dropout: float = 0.0
    feature_dropout: float = 0.0
    coefficient_key: int = 0
    feature_key: int = 0

    def scalars(self, dtype: Any) -> tuple[int, Any, np.uint64]:
        """The kernels' view of the coefficient dropout: limit, scale of the kept, key."""
        p = self.coefficient_dropout
        return threshold(p), dtype.type(1.0 / (1.0 - p)), np.uint64(self.coefficient_key)


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        z: torch.Tensor,
        s_dst: torch.Tensor,
        s_src: torch.Tensor,
        rows: Rows,
        how: Attention,
        alpha: NDArray[Any],
    ) -> torch.Tensor:
        """Write the softmax to `alpha` and return the sums."""
        zn, dst, src = (t.detach().contiguous().numpy() for t in (z, s_dst, s_src))
        zn = dropped(zn, how.feature_dropout, how.feature_key)
        prior = rows.values.astype(zn.dtype, copy=False)
        out = np.zeros((len(dst), *zn.shape[1:]), zn.dtype)
        how_much = (zn.dtype.type(how.slope), *how.scalars(zn.dtype))
        common: list[Any] = [*rows[:2], prior, how.prior == "product", dst, src, zn, *how_much, alpha]
        if len(zn):
            spread(
                lambda a, b: kernels.forward(a, b, *[*common, out]),
                len(dst),
                alpha.size * (zn.shape[2] + 8),
                rows.indptr,
            )
        ctx.common, ctx.rows, ctx.how = common, rows, how
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().numpy()
        _, _, prior, product, dst, src, zn, _, limit, scale, key, alpha = ctx.common
        d_logit, d_dst = np.empty_like(alpha), np.zeros_like(dst)
        d_src, d_z = np.zeros_like(src), np.zeros_like(zn)
        cost = alpha.size * (zn.shape[2] + 4)
        if len(zn):
            spread(
                lambda a, b: kernels.backward_rows(a, b, *[*ctx.common, g, d_logit, d_dst]),
                len(dst),
                cost,
                ctx.rows.indptr,
            )
        turned = transpose(ctx.rows.indptr, ctx.rows.indices, len(zn))
        rest = (*turned, prior, product, limit, scale, key, alpha, g, d_logit, d_src, d_z)
        spread(lambda a, b: kernels.backward_sources(a, b, *rest), len(zn), cost, turned.indptr)
        d_z = dropped(d_z, ctx.how.feature_dropout, ctx.how.feature_key)
        return torch.from_numpy(d_z), torch.from_numpy(d_dst), torch.from_numpy(d_src), None, None, None


def attend(
    z: torch.Tensor,
    s_dst: torch.Tensor,
    s_src: torch.Tensor,
    rows: Rows,
    how: Attention,
    return_coefficients: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Gather the chosen rows, softmax with prior, drop out, aggregate (eq:gat-integrate, eq:att_matrix).

    ``α_ij ∝ Ã_ij · exp(LeakyReLU(s_dst_i + s_src_j))`` under the prior "softmax", or
    ``α_ij = Ã_ij · softmax_j(LeakyReLU(s_dst_i + s_src_j))`` under "product". Gradients reach z, s_dst and
    s_src.

    Shapes:
        z: [num_src, H, D]. s_dst: [num_dst, H]. s_src: [num_src, H].
        result: [num_dst, H, D]; with `return_coefficients` also α before its dropout, [entries, H], which
        carries no gradient.
    """
    alpha = np.empty((len(rows.indices), z.shape[1]), z.detach().numpy().dtype)
    out: torch.Tensor = run(_Attend, z, s_dst, s_src, rows, how, alpha)
    if not return_coefficients:
        return out
    return out, torch.from_numpy(alpha if how.prior == "softmax" else alpha * rows.values[:, None])
