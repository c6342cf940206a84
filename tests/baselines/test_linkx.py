from __future__ import annotations

import torch
from torch_geometric.nn.models import LINKX

from mcn.baselines.linkx import WIDTH, LinkxNetwork
from tests.baselines.graphs import block_task


def test_the_same_as_pyg() -> None:
    task = block_task(sparse=False)
    network, reference = LinkxNetwork(task).eval(), LINKX(150, 30, WIDTH, 3, num_layers=2).eval()
    generator = torch.Generator().manual_seed(0)
    for part in [*network.bias, network.norm.weight, network.norm.running_mean]:
        part.data = torch.randn(WIDTH, generator=generator)
    with torch.no_grad():
        reference.edge_lin.weight.copy_(network.edges.weight)
        reference.edge_lin.bias.copy_(network.bias[0])
        reference.node_mlp.lins[0].weight.copy_(network.nodes.weight.T)
        reference.node_mlp.lins[0].bias.copy_(network.bias[1])
    for own, theirs in (
        (network.join[0], reference.cat_lin1),
        (network.join[1], reference.cat_lin2),
        (network.hidden, reference.final_mlp.lins[0]),
        (network.last, reference.final_mlp.lins[1]),
        (network.norm, reference.final_mlp.norms[0].module),
    ):
        theirs.load_state_dict(own.state_dict())
    expected = reference(network.features(task), torch.from_numpy(task.edge_index))
    torch.testing.assert_close(network(), expected, rtol=1e-4, atol=1e-5)
