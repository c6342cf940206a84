from __future__ import annotations

import numpy as np
import torch
from torch_geometric.nn import GCNConv

from mcn.baselines._arrays import symmetric
from mcn.baselines._layers import FixedProduct
from mcn.baselines.gcn_ensemble import _Network
from mcn.matrices import MotifStack
from mcn.motifs import count_motifs
from tests.baselines.graphs import block_task


def test_with_the_edge_motif_alone_it_is_a_gcn() -> None:
    task = block_task(sparse=False)
    counts = count_motifs(task.edge_index, task.num_nodes)
    matrix = MotifStack.from_counts(counts, ["edge"], 1, "unweighted").matrix("edge", 1)
    network = _Network(task, [FixedProduct(symmetric(matrix))], 16, 0.5).eval()
    first, second = GCNConv(30, 16), GCNConv(16, 16, bias=False)
    first.lin.weight.data = network.first.weight.data.T
    second.lin.weight.data = network.second[0].weight.data
    edges = torch.from_numpy(task.edge_index)
    hidden = torch.relu(first(task.x, edges))
    network.second[0].bias.data.zero_()
    expected = network.classify(second(hidden, edges))
    torch.testing.assert_close(network.at(None)(), expected, rtol=1e-4, atol=1e-5)


def test_one_network_per_motif_and_step() -> None:
    task = block_task()
    products = [FixedProduct(np.eye(150))] * 4
    assert _Network(task, products, 24, 0.5).classify.in_features == 4 * 24
