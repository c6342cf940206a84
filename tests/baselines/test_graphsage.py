from __future__ import annotations

import torch
from torch_geometric.nn import SAGEConv

from mcn.baselines.graphsage import WIDTH, SageNetwork
from tests.baselines.graphs import block_task


def test_two_layers_are_those_of_pyg() -> None:
    task = block_task(sparse=False)
    network = SageNetwork(task).eval()
    torch.nn.init.normal_(network.bias)
    first, last = SAGEConv(30, WIDTH), SAGEConv(WIDTH, 3)
    own, around = network.first.weight.data.T.chunk(2)
    first.load_state_dict({"lin_r.weight": own, "lin_l.weight": around, "lin_l.bias": network.bias.data})
    last.load_state_dict(
        {
            "lin_r.weight": network.own.weight.data,
            "lin_l.weight": network.mean.weight.data,
            "lin_l.bias": network.own.bias.data,
        }
    )
    edges = torch.from_numpy(task.edge_index)
    expected = last(torch.relu(first(task.x, edges)), edges)
    torch.testing.assert_close(network(), expected, rtol=1e-4, atol=1e-5)
