"""Table 1 (tab:gen) in numbers: MCN with the settings of GCN and GAT beside PyG's own layers; its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch_geometric
from torch_geometric.data import Data

from mcn.experiments.engine.methods import METHODS
from mcn.experiments.engine.results import escape_markdown, markdown_table
from mcn.train import prepare
from mcn.train.recipes import work_of

TOLERANCE = 1e-5
_HEADER = [
    *("method", "motif", "adj.", "K", "self-attention", "motif-attention"),
    *("beside", "layer 1", "network", "equal"),
]


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


def compare_special_cases(data: Data, seed: int = 0) -> list[SpecialCase]:
    """The rows of tab:gen on a graph, all nodes, no dropout, random weights from `seed`.

    GCN and GAT are MCN with the edge motif, eq:k1, K = 1 and no motif attention. The last row is a network
    with two motifs, two steps and motif attention in which every node is told to choose the edge and one
    step: GAT is inside it.
    """
    gcn, gat = (METHODS[name].configure(None, {}, {"seed": seed}) for name in ("gcn", "gat"))
    every = {"motifs": ("edge", "triangle"), "steps": 2, "attention": "paper", "seed": seed}
    general = METHODS["mcn"].configure(None, every, {})
    return [
        _case("GCN", data, gcn),
        _case("GAT", data, gat),
        _case("MCN-*, all choose the edge", data, general, choice=0),
    ]


@torch.no_grad()
def _case(name: str, data: Data, config: Any, choice: int | None = None) -> SpecialCase:
    problem = prepare(data, config)
    model: Any = work_of(config).trainer(problem, config).model.eval()
    features, stack = problem.inputs.x, problem.inputs.stack
    generator = torch.Generator().manual_seed(config.seed)
    for conv in model.convs:  # the biases start at zero, where an error in them would not be seen
        conv.bias.copy_(torch.randn(conv.bias.shape, generator=generator))
    x = features.to_dense() if features.layout != torch.strided else features
    first, last = (_pyg_layer(conv, config.self_attention).eval() for conv in model.convs)
    hidden = first(x, data.edge_index)
    expected = last(torch.nn.functional.elu(hidden), data.edge_index)
    return SpecialCase(
        name,
        " + ".join(config.motifs),
        "eq:k1" if config.psi == "unweighted" else config.psi,
        f"K = {config.steps}",
        config.self_attention,
        config.chooses,
        f"PyG {type(first).__name__}",
        _largest(model.convs[0](features, stack), hidden) if choice is None else None,
        _largest(model(features, stack, choice=choice), expected),
    )


def _largest(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).abs().max())


def _pyg_layer(conv: Any, attention: bool) -> Any:
    """PyG's layer with the weights of ours: GATConv with self-attention, GCNConv without."""
    from torch_geometric.nn import GATConv, GCNConv

    layer: Any = GCNConv(conv.in_channels, conv.out_channels)
    if attention:
        heads = {"heads": conv.heads, "concat": conv.concat, "dropout": conv.dropout}
        layer = GATConv(conv.in_channels, conv.out_channels, **heads)
        layer.att_src[0].copy_(conv.att_src)
        layer.att_dst[0].copy_(conv.att_dst)
    layer.lin.weight.copy_(conv.weight.T)
    layer.bias.copy_(conv.bias)
    return layer


def special_report(cases: Mapping[str, Sequence[SpecialCase]], command: str) -> str:
    """The report on tab:gen as a page of Markdown, one table per data set."""
    parts = [
        "# Table 1: GCN and GAT as special cases (tab:gen)",
        "MCN with the settings of each row beside PyG's layers with the same weights: the largest absolute "
        f"difference over all nodes and outputs, and whether it is at most {TOLERANCE:.0e}.",
    ]
    for dataset, rows in cases.items():
        parts += [f"## {dataset}", markdown_table(_HEADER, [_cells(case) for case in rows])]
    parts += [
        "## How to read this",
        "- layer 1: outputs of the first layer; network: class scores of two layers with ELU between them. "
        "Random weights and biases, no dropout, float32.\n"
        "- MCN-\\* in the paper is any motif, Ψ and K with both attentions. The row here is one such network "
        "in which every node is told to choose the edge and one step: it contains GAT.",
        "## To repeat it",
        f"```\n{command}\n```",
        f"With torch {torch.__version__} and PyG {torch_geometric.__version__}.",
    ]
    return "\n\n".join(parts) + "\n"


def _cells(case: SpecialCase) -> list[str]:
    attentions = ["yes" if on else "no" for on in (case.self_attention, case.motif_attention)]
    gaps = ["–" if gap is None else f"{gap:.1e}" for gap in (case.layer, case.network)]
    what = [escape_markdown(case.method), case.motifs, case.psi, case.steps, *attentions, case.against]
    return [*what, *gaps, "yes" if case.holds else "no"]
