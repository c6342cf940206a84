from __future__ import annotations

import math

import numpy as np
import torch

from mcn.baselines._arrays import row_means, with_loops
from mcn.baselines._layers import FixedProduct
from mcn.baselines.acm_gcn import Mixing
from tests.baselines.graphs import path_task


def test_channels_and_weights_node_by_node() -> None:
    task = path_task()
    mixing = Mixing(FixedProduct(row_means(with_loops(task))), 2)
    z = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
    found = mixing(z).detach().numpy()
    near = [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3], [4]]  # of the path 0 - 1 - 2 - 3 and of 4, each with itself
    values, score, mix = (t.detach().numpy().astype(np.float64) for t in (z, mixing.score, mixing.mix))
    for i, around in enumerate(near):
        mean = values[around].mean(0)
        channels = [mean[:2], values[i, 2:4] - mean[2:4], values[i, 4:]]
        channels = [np.maximum(0, channel) for channel in channels]
        gates = [1 / (1 + math.exp(-channel @ own)) for channel, own in zip(channels, score, strict=True)]
        strength = np.exp(np.array(gates) @ mix / 3)
        weights = strength / strength.sum()
        expected = 3 * sum(w * channel for w, channel in zip(weights, channels, strict=True))
        np.testing.assert_allclose(found[i], expected, rtol=1e-5, atol=1e-6)


def test_a_node_without_neighbours_differs_from_nobody() -> None:
    mixing = Mixing(FixedProduct(row_means(with_loops(path_task()))), 1)
    z = torch.zeros(5, 3)
    z[4, 1] = 7.0  # the difference channel of node 4 alone
    assert mixing(z).abs().max() == 0
