"""The operations of a layer: by the fused kernels on the CPU, by plain torch on every other device."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch

from mcn.matrices import Rows
from mcn.nn import attend as _attend
from mcn.nn import linear as _linear
from mcn.nn import plain
from mcn.nn import sparse_linear as _sparse_linear
from mcn.nn.attend import Attention
from mcn.nn.features import DenseRows, SparseFeatures
from mcn.nn.wide_linear import is_wide, wide_linear


def _fused(x: torch.Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def _path(x: torch.Tensor, fused: ModuleType) -> ModuleType:
    return fused if _fused(x) else plain


def transform(
    x: torch.Tensor | SparseFeatures | DenseRows, weight: torch.Tensor, p: float, key: int
) -> torch.Tensor:
    """``dropout(H) @ W`` for dense or sparse H."""
    if isinstance(x, SparseFeatures):
        path = _path(weight, _sparse_linear)
        out: torch.Tensor = path.sparse_linear(x, weight, p, key)
        return out
    whole, rows = (x.whole, x.rows) if isinstance(x, DenseRows) else (x, None)
    if _fused(weight) and is_wide(whole, weight):
        return wide_linear(whole, weight, p, key, rows)
    taken = x.tensor() if isinstance(x, DenseRows) else x
    out = _path(weight, _linear).linear(taken, weight, p, key)
    return out


def dropout(x: torch.Tensor, p: float, key: int) -> torch.Tensor:
    """`x` with its entries dropped by (key, position)."""
    out: torch.Tensor = _path(x, _linear).dropout(x, p, key)
    return out


def add_bias(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """``x + bias``, row by row."""
    out: torch.Tensor = _path(x, _linear).add_bias(x, bias)
    return out


def head_logits(
    z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sources' and the targets' halves of the attention logits."""
    out: tuple[torch.Tensor, torch.Tensor] = _path(z, _attend).head_logits(z, att_src, att_dst, num_dst)
    return out


def propagate(z: torch.Tensor, rows: Rows, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``Σ_j rows_ij z_j``."""
    out: torch.Tensor = _path(z, _sparse_linear).propagate(z, rows, p, key)
    return out


def attend(z: torch.Tensor, s_dst: torch.Tensor, s_src: torch.Tensor, rows: Rows, how: Attention) -> Any:
    """Softmax over the chosen rows with Ã as the prior, dropout, aggregation; see `mcn.nn.attend.attend`."""
    return _path(z, _attend).attend(z, s_dst, s_src, rows, how)
