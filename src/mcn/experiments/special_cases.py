"""Table 1 (tab:gen) in numbers: MCN with the settings of GCN and GAT beside PyG's own layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch_geometric.data import Data

from mcn.nn import MCN
from mcn.train import Config, build_model, configure, prepare

TOLERANCE = 1e-5


@dataclass(frozen=True)
class SpecialCase:
    """A row of tab:gen and how far its two-layer network is from PyG's with the same weights.

    layer: largest absolute difference of the first layer's outputs; None where only the whole is compared.
    network: largest absolute difference of the class scores.
    """

    method: str
    motifs: str
    psi: str
    steps: str
    self_attention: bool
    motif_attention: bool
    against: str
    layer: float | None
    network: float

    @property
    def holds(self) -> bool:
        """Whether all differences are at most `TOLERANCE`."""
        return max(self.layer or 0.0, self.network) <= TOLERANCE


def special_cases(data: Data, seed: int = 0) -> list[SpecialCase]:
    """The rows of tab:gen on a graph, all nodes, no dropout, random weights from `seed`.

    GCN and GAT are MCN with the edge motif, eq:k1, K = 1 and no motif attention. The last row is a network
    with two motifs, two steps and motif attention in which every node is told to choose the edge and one
    step: GAT is inside it.
    """
    base = Config(seed=seed)
    gcn, gat = configure("gcn", base), configure("gat", base)
    general = base.but(motifs=("edge", "triangle"), steps=2, attention="paper")
    return [
        _case("GCN", data, gcn, _gcn_layer, "GCNConv"),
        _case("GAT", data, gat, _gat_layer, "GATConv"),
        _case("MCN-*, all choose the edge", data, general, _gat_layer, "GATConv", choice=0),
    ]


def _case(
    name: str,
    data: Data,
    config: Config,
    layer: Callable[[Any], torch.nn.Module],
    against: str,
    choice: int | None = None,
) -> SpecialCase:
    problem = prepare(data, config)
    model = build_model(problem, config).eval()
    with torch.no_grad():
        _no_zeros(model, config.seed)
        x = problem.x.to_dense() if problem.x.layout != torch.strided else problem.x
        first, last = (layer(conv).eval() for conv in model.convs)
        hidden = first(x, data.edge_index)
        expected = last(torch.nn.functional.elu(hidden), data.edge_index)
        found = model(problem.x, problem.stack, choice=choice)
        gap = None
        if choice is None:
            gap = _largest(model.convs[0](problem.x, problem.stack), hidden)
    return SpecialCase(
        name,
        " + ".join(config.motifs),
        "eq:k1" if config.psi == "unweighted" else config.psi,
        f"K = {config.steps}",
        config.self_attention,
        config.chooses,
        f"PyG {against}",
        gap,
        _largest(found, expected),
    )


def _largest(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).abs().max())


def _no_zeros(model: MCN, seed: int) -> None:
    """Give the biases, which start at zero, values: an error in them would not be seen otherwise."""
    generator = torch.Generator().manual_seed(seed)
    for conv in model.convs:
        bias = conv.bias
        assert isinstance(bias, torch.Tensor)
        bias.copy_(torch.randn(bias.shape, generator=generator))


def _gcn_layer(conv: Any) -> torch.nn.Module:
    from torch_geometric.nn import GCNConv

    theirs: torch.nn.Module = GCNConv(conv.in_channels, conv.out_channels)
    return _with_weights(theirs, conv)


def _gat_layer(conv: Any) -> torch.nn.Module:
    from torch_geometric.nn import GATConv

    theirs: torch.nn.Module = GATConv(
        conv.in_channels, conv.out_channels, heads=conv.heads, concat=conv.concat, dropout=conv.dropout
    )
    theirs.att_src[0].copy_(conv.att_src)  # type: ignore[index]
    theirs.att_dst[0].copy_(conv.att_dst)  # type: ignore[index]
    return _with_weights(theirs, conv)


def _with_weights(theirs: Any, conv: Any) -> torch.nn.Module:
    theirs.lin.weight.copy_(conv.weight.T)
    theirs.bias.copy_(conv.bias)
    layer: torch.nn.Module = theirs
    return layer
