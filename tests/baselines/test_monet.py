from __future__ import annotations

import numpy as np
import torch
from torch_geometric.nn import GMMConv

from mcn.baselines.monet import KERNELS, Gaussians, Neighbourhoods, pseudo_coordinates
from tests.baselines.graphs import block_task, path_task


def test_coordinates_by_hand() -> None:
    """With self-loops the degrees on 0-1-2-3 and 4 are 2, 3, 3, 2, 1."""
    edges, u = pseudo_coordinates(path_task())
    root = 1 / np.sqrt([2, 3, 3, 2, 1])
    expected = {(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), *((i, i) for i in range(5))}
    assert set(map(tuple, edges.T.tolist())) == expected
    np.testing.assert_allclose(u, [[root[i], root[j]] for i, j in edges.T.tolist()], rtol=1e-6)


def test_the_same_as_pyg_in_values_and_gradients() -> None:
    task = block_task(sparse=False)
    edges, coordinates = (torch.from_numpy(part) for part in pseudo_coordinates(task))
    theirs = GMMConv(30, 4, 2, KERNELS, root_weight=False, aggr="mean")
    torch.nn.init.uniform_(theirs.sigma, 0.5, 1.5)
    graph = Neighbourhoods(task)
    ours = Gaussians(graph.pairs, 4)
    with torch.no_grad():
        for name in ("mu", "sigma", "bias"):
            getattr(theirs, name).uniform_(0.3, 0.9, generator=torch.Generator().manual_seed(len(name)))
            getattr(ours, name).copy_(getattr(theirs, name))
    g = theirs.g.detach().clone().requires_grad_()
    expected = theirs((task.x, None), edges, coordinates)
    found = ours(task.x @ g, graph.reaching(None)[0])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    for out in (found, expected):
        (out.sin()).sum().backward()
    torch.testing.assert_close(g.grad, theirs.g.grad, rtol=1e-4, atol=1e-6)
    for name in ("mu", "sigma", "bias"):
        own, other = getattr(ours, name).grad, getattr(theirs, name).grad
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-6)


def test_some_rows_need_no_more_than_they_reach() -> None:
    task = block_task()
    graph, rows = Neighbourhoods(task), np.array([7, 3, 140])
    mix = Gaussians(graph.pairs, 4)
    z = torch.randn(task.num_nodes, 4 * KERNELS)
    pattern, columns = graph.reaching(rows)
    assert columns is not None
    assert len(columns) < task.num_nodes
    torch.testing.assert_close(
        mix(z[torch.from_numpy(columns)], pattern), mix(z, graph.reaching(None)[0])[rows]
    )
