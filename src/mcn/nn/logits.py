"""The two halves of the attention logit a[h_i W, h_j W] (eq:gat-integrate), per node and head."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from mcn._jit import kernel
from mcn.nn._apply import run
from mcn.nn._work import spread

# Sums over nodes are made in blocks of this many rows, then over the blocks: fixed, whatever the threads.
_BLOCK = 8192


@kernel
def _forward(start: int, stop: int, z: Any, att: Any, out: Any) -> None:
    _, heads, width = z.shape
    for n in range(start, stop):
        for h in range(heads):
            total = z.dtype.type(0)
            for d in range(width):
                total += z[n, h, d] * att[h, d]
            out[n, h] = total


@kernel
def _backward_z(
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
def _backward_att(start: int, stop: int, block: int, rows: int, z: Any, g: Any, out: Any) -> None:
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
    spread(lambda a, b: _backward_att(a, b, _BLOCK, len(g), z, g, partial), blocks, g.size * z.shape[2])
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
        spread(lambda a, b: _forward(a, b, zn, a_src, src), len(src), zn.size)
        spread(lambda a, b: _forward(a, b, zn, a_dst, dst), num_dst, num_dst * zn[0].size if num_dst else 0)
        return torch.from_numpy(src), torch.from_numpy(dst)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        z, a_src, a_dst = (t.detach().contiguous().numpy() for t in ctx.saved_tensors)
        g_src, g_dst = (g.contiguous().numpy() for g in grads)
        out = np.empty_like(z)
        spread(
            lambda a, b: _backward_z(a, b, len(g_dst), g_src, g_dst, a_src, a_dst, out), len(z), 2 * z.size
        )
        return torch.from_numpy(out), _att_gradient(z, g_src), _att_gradient(z, g_dst), None


def head_logits(
    z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Per head ``z_j · att_src`` for all sources and ``z_i · att_dst`` for the first `num_dst` of them."""
    out: tuple[torch.Tensor, torch.Tensor] = run(_Logits, z, att_src, att_dst, num_dst)
    return out
