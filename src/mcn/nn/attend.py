"""Self-attention over the chosen rows, with Ψ as its prior: the logits, the softmax and the sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.matrices import Rows
from mcn.nn import _attend_kernels as kernels
from mcn.nn._parallel import run, spread
from mcn.nn._rng import threshold
from mcn.nn.linear import dropped

PRIORS = ("softmax", "product")


@dataclass(frozen=True)
class Attention:
    """Settings of one call of `attend`.

    Attributes:
        prior: "softmax" adds log Ã to the logits; "product" multiplies the finished softmax by Ã.
        slope: slope of the LeakyReLU below zero.
        coefficient_dropout, feature_dropout: probability of dropping a coefficient, an entry of z.
        coefficient_key, feature_key: decide which ones are dropped.
        numbers: the first entry of each row counts as number ``numbers[i]`` where that is decided; None if
            entries are numbered as they lie.
        return_coefficients: also return α.
    """

    prior: str = "softmax"
    slope: float = 0.2
    coefficient_dropout: float = 0.0
    feature_dropout: float = 0.0
    coefficient_key: int = 0
    feature_key: int = 0
    numbers: NDArray[np.int64] | None = None
    return_coefficients: bool = False

    def scalars(self, dtype: Any) -> tuple[int, Any, np.uint64]:
        """Return the coefficient dropout as the kernels take it: threshold, scale of what is kept, key."""
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
        slope, (limit, scale, key) = zn.dtype.type(how.slope), how.scalars(zn.dtype)
        multiply = how.prior == "product"
        numbers = rows.indptr if how.numbers is None else how.numbers
        job = kernels.Job(*rows[:2], prior, multiply, dst, src, zn, slope, limit, scale, key, numbers, alpha)
        if len(zn):
            spread(
                lambda a, b: kernels.forward(a, b, job, out),
                len(dst),
                alpha.size * (zn.shape[2] + 8),
                rows.indptr,
            )
        ctx.job, ctx.how = job, how
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].contiguous().numpy()
        job: kernels.Job = ctx.job
        d_logit, d_dst = np.empty_like(job.alpha), np.zeros_like(job.s_dst)
        d_src, d_z = np.zeros_like(job.s_src), np.zeros_like(job.z)
        cost = job.alpha.size * (d_z.shape[2] + 4)
        if len(d_z):
            spread(
                lambda a, b: kernels.backward_rows(a, b, job, g, d_logit, d_dst),
                len(d_dst),
                cost,
                job.indptr,
            )
        turned = Rows(job.indptr, job.indices, job.prior).transpose(len(d_z))
        rest = (*turned, job, g, d_logit, d_src, d_z)
        spread(lambda a, b: kernels.backward_sources(a, b, *rest), len(d_z), cost, turned.indptr)
        d_z = dropped(d_z, ctx.how.feature_dropout, ctx.how.feature_key)
        return torch.from_numpy(d_z), torch.from_numpy(d_dst), torch.from_numpy(d_src), None, None, None


def attend(
    z: torch.Tensor, s_dst: torch.Tensor, s_src: torch.Tensor, rows: Rows, how: Attention
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Gather the chosen rows, softmax with prior, drop out, aggregate (eq:gat-integrate, eq:att_matrix).

    ``α_ij ∝ Ã_ij · exp(LeakyReLU(s_dst_i + s_src_j))`` under the prior "softmax", or
    ``α_ij = Ã_ij · softmax_j(LeakyReLU(s_dst_i + s_src_j))`` under "product". Gradients reach z, s_dst and
    s_src.

    Shapes:
        z: [num_src, H, D]. s_dst: [num_dst, H]. s_src: [num_src, H].
        result: [num_dst, H, D]; with `how.return_coefficients` also α before its dropout, [entries, H],
        without gradient.
    """
    alpha = np.empty((len(rows.indices), z.shape[1]), z.detach().numpy().dtype)
    out: torch.Tensor = run(_Attend, z, s_dst, s_src, rows, how, alpha)
    if not how.return_coefficients:
        return out
    return out, torch.from_numpy(alpha if how.prior == "softmax" else alpha * rows.values[:, None])


# Sums over nodes are made in blocks of this many rows, then over the blocks: fixed, whatever the threads.
_BLOCK = 8192


@kernel
def _half(start: int, stop: int, z: Any, att: Any, out: Any) -> None:
    _, heads, width = z.shape
    for n in range(start, stop):
        for h in range(heads):
            total = z.dtype.type(0)
            for d in range(width):
                total += z[n, h, d] * att[h, d]
            out[n, h] = total


@kernel
def _half_gradient(
    start: int, stop: int, count: int, g_src: Any, g_dst: Any, a_src: Any, a_dst: Any, out: Any
) -> None:
    _, heads, width = out.shape
    for n in range(start, stop):
        for h in range(heads):
            for d in range(width):
                out[n, h, d] = g_src[n, h] * a_src[h, d]
            if n < count:
                for d in range(width):
                    out[n, h, d] += g_dst[n, h] * a_dst[h, d]


@kernel
def _att_sums(start: int, stop: int, block: int, rows: int, z: Any, g: Any, out: Any) -> None:
    _, heads, width = z.shape
    for b in range(start, stop):
        for n in range(b * block, min(rows, (b + 1) * block)):
            for h in range(heads):
                v = g[n, h]
                for d in range(width):
                    out[b, h, d] += v * z[n, h, d]


def _att_gradient(z: Any, g: Any) -> torch.Tensor:
    blocks = -(-max(len(g), 1) // _BLOCK)
    partial = np.zeros((blocks, *z.shape[1:]), z.dtype)
    spread(lambda a, b: _att_sums(a, b, _BLOCK, len(g), z, g, partial), blocks, g.size * z.shape[2])
    return torch.from_numpy(np.add.reduce(partial, axis=0))


class _Logits(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.save_for_backward(z, att_src, att_dst)
        zn, a_src, a_dst = (t.detach().contiguous().numpy() for t in (z, att_src, att_dst))
        src = np.empty(zn.shape[:2], zn.dtype)
        dst = np.empty((num_dst, zn.shape[1]), zn.dtype)
        spread(lambda a, b: _half(a, b, zn, a_src, src), len(src), zn.size)
        spread(lambda a, b: _half(a, b, zn, a_dst, dst), num_dst, num_dst * zn[0].size if num_dst else 0)
        return torch.from_numpy(src), torch.from_numpy(dst)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        z, a_src, a_dst = (t.detach().contiguous().numpy() for t in ctx.saved_tensors)
        g_src, g_dst = (g.contiguous().numpy() for g in grads)
        out = np.empty_like(z)
        spread(
            lambda a, b: _half_gradient(a, b, len(g_dst), g_src, g_dst, a_src, a_dst, out), len(z), 2 * z.size
        )
        return torch.from_numpy(out), _att_gradient(z, g_src), _att_gradient(z, g_dst), None


def head_logits(
    z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the two halves of the logit a[h_i W, h_j W] (eq:gat-integrate), per node and head.

    Shapes:
        z: [num_src, H, D]. att_src, att_dst: [H, D].
        result: ``z_j · att_src`` for all sources, [num_src, H], and ``z_i · att_dst`` for the first `num_dst`
        of them, [num_dst, H].
    """
    out: tuple[torch.Tensor, torch.Tensor] = run(_Logits, z, att_src, att_dst, num_dst)
    return out
