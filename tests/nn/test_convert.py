"""GCN and GAT as special cases (tab:gen), against PyG itself."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv

from mcn.nn import MCNConv
from tests.nn.graphs import edge_index, grads, random_stack

CASES = [
    (GCNConv, {}),
    (GCNConv, {"bias": False}),
    (GATConv, {}),
    (GATConv, {"heads": 4}),
    (GATConv, {"heads": 4, "concat": False, "negative_slope": 0.05}),
    (GATConv, {"heads": 2, "bias": False}),
]


@pytest.mark.parametrize(("layer", "options"), CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_outputs_and_gradients_equal_pyg(layer: Any, options: dict[str, Any], seed: int) -> None:
    torch.manual_seed(seed)
    stack = random_stack(n=50, seed=seed, motifs=1)
    edges = edge_index(stack)
    theirs = layer(12, 5, **options).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_(std=0.5)
    ours = MCNConv.from_pyg(theirs)
    assert not ours.training
    x = torch.randn(50, 12, requires_grad=True)
    expected, found = theirs(x, edges), ours(x, stack)
    assert torch.allclose(found, expected, atol=1e-5)
    pairs = {"weight": theirs.lin.weight, "bias": theirs.bias}
    if layer is GATConv:
        pairs |= {"att_src": theirs.att_src, "att_dst": theirs.att_dst}
    pairs = {name: parameter for name, parameter in pairs.items() if parameter is not None}
    mine = grads(found, x, *(getattr(ours, name) for name in pairs))
    reference = grads(expected, x, *pairs.values())
    assert torch.allclose(mine[0], reference[0], atol=1e-5)
    for (name, _), a, b in zip(pairs.items(), mine[1:], reference[1:], strict=True):
        assert torch.allclose(a, b.T if name == "weight" else b.view_as(a), atol=1e-4, rtol=1e-5)


def test_first_motif_of_a_larger_stack_is_used() -> None:
    theirs = GATConv(6, 3).eval()
    x = torch.randn(24, 6)
    small, large = random_stack(motifs=1), random_stack(motifs=3, steps=2)
    ours = MCNConv.from_pyg(theirs)
    assert torch.equal(ours(x, small), ours(x, large))


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (lambda: GCNConv(3, 2, improved=True), "improved=True"),
        (lambda: GCNConv(3, 2, normalize=False), "normalize=False"),
        (lambda: GCNConv(3, 2, add_self_loops=False), "add_self_loops=False"),
        (lambda: GATConv(3, 2, edge_dim=4), "edge_dim=4"),
        (lambda: GATConv(3, 2, residual=True), "residual=True"),
        (lambda: GATConv(3, 2, add_self_loops=False), "add_self_loops=False"),
        (lambda: GATConv((3, 3), 2), "bipartite"),
        (lambda: GATv2Conv(3, 2), "expected a torch_geometric GCNConv or GATConv, got GATv2Conv"),
    ],
)
def test_refuses_what_it_cannot_represent(layer: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MCNConv.from_pyg(layer())
