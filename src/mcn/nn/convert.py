"""Layers of PyG taken over as `MCNConv` (tab:gen)."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric.nn import GATConv, GCNConv

from mcn.nn.conv import MCNConv


def from_pyg(conv: torch.nn.Module) -> MCNConv:
    """Make the layer of `MCNConv.from_pyg`."""
    if not isinstance(conv, GCNConv | GATConv):
        raise ValueError(f"conv: expected a torch_geometric GCNConv or GATConv, got {type(conv).__name__}")
    out = _from_gcn(conv) if isinstance(conv, GCNConv) else _from_gat(conv)
    parameter = next(conv.parameters())
    return out.to(parameter.device, parameter.dtype).train(conv.training)


def _refuse(conv: Any, reason: str) -> ValueError:
    return ValueError(f"{conv} cannot be taken over: {reason}")


def _copy(target: torch.nn.Parameter | None, source: torch.Tensor | None) -> None:
    if target is not None and source is not None:
        with torch.no_grad():
            target.copy_(source)


def _from_gcn(conv: Any) -> MCNConv:
    if conv.improved or not conv.normalize or not conv.add_self_loops:
        raise _refuse(
            conv,
            "expected GCNConv(improved=False, normalize=True, add_self_loops=True), got "
            f"improved={conv.improved}, normalize={conv.normalize}, add_self_loops={conv.add_self_loops}",
        )
    bias = conv.bias is not None
    out = MCNConv(conv.in_channels, conv.out_channels, self_attention=False, motif_attention=False, bias=bias)
    _copy(out.weight, conv.lin.weight.T)
    _copy(out.bias, conv.bias)
    return out


def _from_gat(conv: Any) -> MCNConv:
    if not isinstance(conv.in_channels, int):
        raise _refuse(conv, f"in_channels={conv.in_channels} is bipartite; expected a single int")
    if conv.edge_dim is not None:
        raise _refuse(conv, f"edge features (edge_dim={conv.edge_dim}) have no place in a motif stack")
    if getattr(conv, "residual", False):
        raise _refuse(conv, "residual=True is not supported; add the residual outside the layer")
    if not conv.add_self_loops:
        raise _refuse(conv, "add_self_loops=False, but every row of Ψ(A) contains the node itself")
    out = MCNConv(
        conv.in_channels,
        conv.out_channels,
        heads=conv.heads,
        concat=conv.concat,
        motif_attention=False,
        negative_slope=conv.negative_slope,
        dropout=conv.dropout,
        bias=conv.bias is not None,
    )
    _copy(out.weight, conv.lin.weight.T)
    _copy(out.att_src, conv.att_src[0])
    _copy(out.att_dst, conv.att_dst[0])
    _copy(out.bias, conv.bias)
    return out
