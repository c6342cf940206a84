"""The operations of a layer: by the fused kernels on the CPU, by plain torch on every other device."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import PinnedBlock, Rows, RowSource
from mcn.nn import attend as _attend
from mcn.nn import linear as _linear
from mcn.nn import plain
from mcn.nn import sparse_linear as _sparse_linear
from mcn.nn.attend import Attention
from mcn.nn.features import DenseRows, SparseFeatures
from mcn.nn.plain import Entries, as_entries, chosen_entries, resident

Nodes = NDArray[np.int64] | None
F = TypeVar("F", bound=Callable[..., Any])


def uncompiled(function: F) -> F:
    """Let `torch.compile` call a function as it is: its kernels are compiled already, and not torch's."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        # Asked here: decorating at import would load the compiler, which takes a second.
        if torch.compiler.is_compiling():
            return torch.compiler.disable(function)(*args, **kwargs)  # type: ignore[no-untyped-call]
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def fused(x: torch.Tensor) -> bool:
    """Whether the kernels do the work for a tensor: the one place that decides."""
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def transform(
    x: torch.Tensor | SparseFeatures | DenseRows,
    weight: torch.Tensor,
    p: float,
    key: int,
    nodes: Nodes = None,
) -> torch.Tensor:
    """``dropout(H) @ W`` for dense or sparse H; see `dropout`."""
    if isinstance(x, SparseFeatures):
        if nodes is not None and p > 0.0:
            values = _linear.dropped_rows(x.indptr, x.values, nodes, p, key)
            x, p = SparseFeatures(x.indptr, x.indices, values, x.shape[1]), 0.0
        return propagate(weight, x, p, key)
    if nodes is not None and p > 0.0:
        x, p = dropout(x.tensor() if isinstance(x, DenseRows) else x, p, key, nodes), 0.0
    whole, rows = (x.whole, x.rows) if isinstance(x, DenseRows) else (x, None)
    if fused(weight):
        return _linear.linear(whole, weight, p, key, rows)
    return plain.dropout(x.tensor() if isinstance(x, DenseRows) else x, p, key) @ weight


def dropout(x: torch.Tensor, p: float, key: int, nodes: Nodes = None) -> torch.Tensor:
    """`x` with its entries dropped by (key, position), the others scaled.

    With `nodes`, the ids of the rows' nodes, by (key, id, place in the row): a node is then treated alike in
    every batch.
    """
    return _linear.dropout(x, p, key, nodes) if fused(x) else plain.dropout(x, p, key, nodes)


def add_bias(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """``x + bias``, row by row."""
    return _linear.add_bias(x, bias) if fused(x) else x + bias


def head_logits(
    z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sources' and the targets' halves of the attention logits."""
    halves = _attend.head_logits if fused(z) else plain.head_logits
    return halves(z, att_src, att_dst, num_dst)


def propagate(z: torch.Tensor, rows: Any, p: float = 0.0, key: int = 0) -> torch.Tensor:
    """``Σ_j rows_ij z_j`` for `Rows`, `SparseFeatures` or `Entries`."""
    return _sparse_linear.propagate(z, rows, p, key) if fused(z) else plain.propagate(z, rows, p, key)


def attend(z: torch.Tensor, s_dst: torch.Tensor, s_src: torch.Tensor, rows: Any, how: Attention) -> Any:
    """Softmax over the chosen rows with Ã as the prior, dropout, aggregation; see `mcn.nn.attend.attend`."""
    return (_attend.attend if fused(z) else plain.attend)(z, s_dst, s_src, rows, how)


def select(stack: RowSource, number: Any, like: torch.Tensor) -> Rows | Entries:
    """Return the rows that targets chose; `number` is an array, None, or a tensor on the device of `like`."""
    if isinstance(number, torch.Tensor):
        return chosen_entries(stack, number, like)
    return stack.select(number)


def node_counts(stack: RowSource, like: torch.Tensor) -> torch.Tensor:
    """Return C of eq:state for the targets."""
    if fused(like):
        return torch.from_numpy(stack.node_counts).to(like.dtype)
    return resident(stack.node_counts, like.device, like.dtype)


def normalised(stack: RowSource, rows: Rows | Entries, degrees: Any, like: torch.Tensor) -> Rows | Entries:
    """Scale the rows of Â to D^-1/2 Â D^-1/2 (eq:gcn).

    `degrees` are the row sums of Â for all sources; those of `rows` if not given, which must cover all.
    """
    given = None if degrees is None and stack.num_src == stack.num_dst else source_degrees(stack, degrees)
    if isinstance(rows, Rows) and fused(like):
        if isinstance(stack, PinnedBlock) and given is not None and given is stack.degrees:
            return stack.normalised
        sums = rows.sums() if given is None else given
        return rows.normalised(sums, sums[: stack.num_dst])
    entries = as_entries(rows, like)
    return entries.scaled(entries.sums() if given is None else resident(given, like.device, like.dtype))


def source_degrees(stack: RowSource, degrees: Any) -> NDArray[np.float64]:
    """Check the row sums of Â for all sources."""
    if degrees is None:
        raise ValueError(
            f"without self-attention D^-1/2 Â D^-1/2 needs the row sums for all {stack.num_src} sources, "
            f"but only {stack.num_dst} of them choose in this block; pass degrees=… or the full stack"
        )
    given = np.asarray(degrees, np.float64)
    if given.shape != (stack.num_src,):
        raise ValueError(f"degrees: expected {stack.num_src} row sums, got shape {given.shape}")
    return given
