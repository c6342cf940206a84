from __future__ import annotations

import numpy as np
import pytest
import torch

from mcn.baselines.gpr_gnn import STEPS, GprNetwork, gpr_gnn, pagerank_weights
from mcn.baselines.task import Task
from tests.baselines.graphs import block_task, path_task


def test_first_weights() -> None:
    np.testing.assert_allclose(pagerank_weights(0.5, 3), [0.5, 0.25, 0.125, 0.125])
    np.testing.assert_array_equal(pagerank_weights(1.0, 3), [1, 0, 0, 0])
    assert pagerank_weights(0.1, STEPS).sum() == pytest.approx(1)


def test_the_sum_over_powers() -> None:
    network = GprNetwork(path_task(), 0.1, 0.5).eval()
    torch.nn.init.normal_(network.gamma)
    # 0 - 1 - 2 - 3 and 4 alone, with loops: degrees 2, 3, 3, 2, 1.
    a = torch.eye(5, dtype=torch.float64)
    for i, j in ((0, 1), (1, 2), (2, 3)):
        a[i, j] = a[j, i] = 1
    root = torch.tensor([2, 3, 3, 2, 1], dtype=torch.float64).rsqrt()
    a = root[:, None] * a * root
    z = network.last(torch.relu(network.first.weight + network.bias)).double()  # x is the identity
    expected = sum(network.gamma[k] * (torch.linalg.matrix_power(a, k) @ z) for k in range(STEPS + 1))
    torch.testing.assert_close(network().double(), expected, rtol=1e-4, atol=1e-5)


def test_settings_of_a_known_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcn.baselines.gpr_gnn.MAX_EPOCHS", 3)
    task = block_task()
    named = [
        Task(task.x, task.edge_index, task.labels, task.train, task.val, 3, d) for d in ("texas", "mine")
    ]
    own, other = (gpr_gnn(t, 0) for t in named)
    assert not np.array_equal(own, other)
