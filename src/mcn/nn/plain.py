"""The operations of a layer in plain torch: for other devices, and as an independent check of the kernels.

Every function takes the arguments of its fused namesake and gives the same numbers. The dropout masks are
the same too, since they are a hash of (key, position).
"""

from __future__ import annotations

import torch

from mcn.matrices import Rows
from mcn.nn._rng import keep_at, keep_mask
from mcn.nn.attend import Attention
from mcn.nn.features import SparseFeatures


def _coordinates(rows: Rows, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    indptr = torch.from_numpy(rows.indptr).to(like.device)
    target = torch.repeat_interleave(torch.arange(len(indptr) - 1, device=like.device), indptr.diff())
    source = torch.from_numpy(rows.indices).to(like.device, torch.int64)
    return target, source, torch.from_numpy(rows.values).to(like.device, like.dtype)


def dropout(x: torch.Tensor, p: float, key: int) -> torch.Tensor:
    """`x` with its entries dropped by (key, position)."""
    return x if p == 0.0 else x * keep_mask(tuple(x.shape), p, key, x)


def linear(x: torch.Tensor, weight: torch.Tensor, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``dropout(x) @ weight``."""
    return dropout(x, p, key) @ weight


def sparse_linear(x: SparseFeatures, weight: torch.Tensor, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``dropout(X) @ weight`` for sparse X."""
    matrix = x.to_torch(weight.device)
    values = dropout(matrix.values().to(weight.dtype), p, key)
    row, column = matrix.indices()
    out = torch.zeros(x.shape[0], weight.shape[1], dtype=weight.dtype, device=weight.device)
    return out.index_add(0, row, values[:, None] * weight[column])


def add_bias(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """``x + bias``."""
    return x + bias


def head_logits(
    z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Per head ``z_j · att_src`` and ``z_i · att_dst``."""
    return (z * att_src).sum(-1), (z[:num_dst] * att_dst).sum(-1)


def propagate(z: torch.Tensor, rows: Rows, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``Σ_j rows_ij z_j``."""
    target, source, values = _coordinates(rows, z)
    values = dropout(values, p, key)
    out = torch.zeros(len(rows.indptr) - 1, z.shape[1], dtype=z.dtype, device=z.device)
    return out.index_add(0, target, values[:, None] * z[source])


def _softmax(logits: torch.Tensor, target: torch.Tensor, count: int) -> torch.Tensor:
    index = target[:, None].expand_as(logits)
    top = logits.new_full((count, logits.shape[1]), -torch.inf)
    top = top.scatter_reduce(0, index, logits.detach(), "amax").nan_to_num(neginf=0.0)
    powers = (logits - top[target]).exp()
    total = torch.zeros_like(top).index_add(0, target, powers)
    return powers / total[target]


def _dropped_coefficients(
    alpha: torch.Tensor, target: torch.Tensor, rows: Rows, how: Attention
) -> torch.Tensor:
    p, heads = how.coefficient_dropout, alpha.shape[1]
    if how.numbers is None or p == 0.0:
        return dropout(alpha, p, how.coefficient_key)
    entry = torch.arange(len(alpha), device=alpha.device)
    number = torch.from_numpy(how.numbers - rows.indptr[:-1]).to(alpha.device)[target] + entry
    positions = number[:, None] * heads + torch.arange(heads, device=alpha.device)
    return alpha * keep_at(positions, p, how.coefficient_key, alpha)


def attend(
    z: torch.Tensor, s_dst: torch.Tensor, s_src: torch.Tensor, rows: Rows, how: Attention
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Softmax over the chosen rows with Ã as the prior, dropout, aggregation."""
    target, source, values = _coordinates(rows, z)
    logits = torch.nn.functional.leaky_relu(s_dst[target] + s_src[source], how.slope)
    if how.prior == "softmax":
        logits = logits + values.log()[:, None]
    alpha = _softmax(logits, target, len(s_dst))
    if how.prior == "product":
        alpha = alpha * values[:, None]
    used = _dropped_coefficients(alpha, target, rows, how)
    z = dropout(z, how.feature_dropout, how.feature_key)
    out = torch.zeros(len(s_dst), *z.shape[1:], dtype=z.dtype, device=z.device)
    out = out.index_add(0, target, used[:, :, None] * z[source])
    return (out, alpha.detach()) if how.return_coefficients else out
