from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.nn import ChebConv

from mcn.baselines._arrays import adjacency, symmetric
from mcn.baselines._layers import FixedProduct
from mcn.baselines.chebyshev import chebyshev, chebyshev_sum
from mcn.baselines.task import Task
from tests.baselines.graphs import block_task


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_the_same_as_pyg(order: int) -> None:
    task = block_task(sparse=False)
    conv = ChebConv(30, 4, order + 1, bias=False)
    weights = torch.cat([lin.weight.T for lin in conv.lins], dim=1)
    own = chebyshev_sum(task.x @ weights, FixedProduct(-symmetric(adjacency(task))), order)
    expected = conv(task.x, torch.from_numpy(task.edge_index))
    torch.testing.assert_close(own, expected, rtol=1e-5, atol=1e-6)


def test_cora_has_an_order_of_its_own() -> None:
    task = block_task()
    named = [Task(task.x, task.edge_index, task.labels, task.train, task.val, 3, d) for d in ("cora", "mine")]
    own, other = (chebyshev(t, 0) for t in named)
    assert not np.array_equal(own, other)
    np.testing.assert_array_equal(other, chebyshev(task, 0))
