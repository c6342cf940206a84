"""The operations of a layer in plain torch: for other devices, and as an independent check of the kernels.

Every function takes the arguments of its fused namesake and gives the same numbers. The dropout masks are
the same too, since they are a hash of (key, position).
"""

from __future__ import annotations

from typing import Any

import torch

from mcn.matrices import Rows
from mcn.nn._rng import keep_at, keep_mask
from mcn.nn.attend import Attention
from mcn.nn.features import SparseFeatures
from mcn.nn.on_device import Entries, as_entries


def dropout(x: torch.Tensor, p: float, key: int) -> torch.Tensor:
    """`x` with its entries dropped by (key, position)."""
    return x if p == 0.0 else x * keep_mask(tuple(x.shape), p, key, x)


def linear(x: torch.Tensor, weight: torch.Tensor, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``dropout(x) @ weight``."""
    return dropout(x, p, key) @ weight


def sparse_linear(x: SparseFeatures, weight: torch.Tensor, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``dropout(X) @ weight`` for sparse X."""
    entries = as_entries(Rows(x.indptr, x.indices, x.values), weight)
    values = dropout(entries.values, p, key)
    out = torch.zeros(x.shape[0], weight.shape[1], dtype=weight.dtype, device=weight.device)
    return out.index_add(0, entries.target, values[:, None] * weight[entries.source])


def add_bias(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """``x + bias``."""
    return x + bias


def head_logits(
    z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Per head ``z_j · att_src`` and ``z_i · att_dst``."""
    return (z * att_src).sum(-1), (z[:num_dst] * att_dst).sum(-1)


def propagate(z: torch.Tensor, rows: Rows | Entries, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``Σ_j rows_ij z_j``."""
    own = as_entries(rows, z)
    values = own.values if own.active is None else own.values * own.active
    if p > 0.0:
        values = values * keep_at(own.number, p, key, values)
    out = torch.zeros(own.num_dst, z.shape[1], dtype=z.dtype, device=z.device)
    return out.index_add(0, own.target, values[:, None] * z[own.source])


def _softmax(logits: torch.Tensor, target: torch.Tensor, count: int) -> torch.Tensor:
    index = target[:, None].expand_as(logits)
    top = logits.new_full((count, logits.shape[1]), -torch.inf)
    top = top.scatter_reduce(0, index, logits.detach(), "amax").nan_to_num(neginf=0.0)
    powers = (logits - top[target]).exp()
    total = torch.zeros_like(top).index_add(0, target, powers)
    return powers / total[target]


def _dropped_coefficients(alpha: torch.Tensor, own: Entries, rows: Any, how: Attention) -> torch.Tensor:
    p, heads = how.coefficient_dropout, alpha.shape[1]
    if p == 0.0:
        return alpha
    number = own.number
    if how.numbers is not None:
        first = torch.from_numpy(how.numbers - rows.indptr[:-1]).to(alpha.device)
        number = number + first[own.target]
    positions = number[:, None] * heads + torch.arange(heads, device=alpha.device)
    return alpha * keep_at(positions, p, how.coefficient_key, alpha)


def attend(
    z: torch.Tensor, s_dst: torch.Tensor, s_src: torch.Tensor, rows: Rows | Entries, how: Attention
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Softmax over the chosen rows with Ã as the prior, dropout, aggregation."""
    own = as_entries(rows, z)
    logits = torch.nn.functional.leaky_relu(s_dst[own.target] + s_src[own.source], how.slope)
    if how.prior == "softmax":
        logits = logits + own.values.log()[:, None]
    if own.active is not None:
        logits = torch.where(own.active[:, None] > 0, logits, -torch.inf)
    alpha = _softmax(logits, own.target, len(s_dst))
    if how.prior == "product":
        alpha = alpha * own.values[:, None]
    used = _dropped_coefficients(alpha, own, rows, how)
    z = dropout(z, how.feature_dropout, how.feature_key)
    out = torch.zeros(len(s_dst), *z.shape[1:], dtype=z.dtype, device=z.device)
    out = out.index_add(0, own.target, used[:, :, None] * z[own.source])
    return (out, alpha.detach()) if how.return_coefficients else out
