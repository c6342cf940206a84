"""GraphSAGE (Hamilton, Ying and Leskovec 2017) with the mean of all neighbours, on the whole graph."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._arrays import adjacency, row_means
from mcn.baselines._fit import DECAY, DROPOUT, LR, WholeGraph, fit_scores, seeded
from mcn.baselines._layers import FixedProduct, InputLinear, dropout
from mcn.baselines.registry import register
from mcn.baselines.task import Task

WIDTH = 64


class SageNetwork(WholeGraph):
    """Two layers ``W_own h_i + W_mean mean_j h_j + b``: PyG's `SAGEConv`.

    Weights come before the mean, so that the few columns of ``h W`` go through the graph.
    """

    def __init__(self, task: Task) -> None:
        super().__init__()
        self._mean = FixedProduct(row_means(adjacency(task)))
        self.first = InputLinear(task.x, 2 * WIDTH, DROPOUT)
        self.bias = torch.nn.Parameter(torch.zeros(WIDTH))
        self.own = torch.nn.Linear(WIDTH, task.num_classes)
        self.mean = torch.nn.Linear(WIDTH, task.num_classes, bias=False)

    def forward(self) -> torch.Tensor:
        """Logits of all nodes."""
        own, around = self.first().chunk(2, dim=1)
        hidden = torch.relu(own + self._mean(around.contiguous()) + self.bias)
        hidden = dropout(hidden, DROPOUT, self.training)
        out: torch.Tensor = self.own(hidden) + self._mean(self.mean(hidden))
        return out


@register("graphsage")
def graphsage(task: Task, seed: int) -> NDArray[np.float32]:
    """Two layers with weights for the node itself and others for the mean of its neighbours; width 64."""
    with seeded(seed):
        network = SageNetwork(task)
        optimizer = torch.optim.Adam(network.parameters(), lr=LR, weight_decay=DECAY, fused=True)
        return fit_scores(network, task, optimizer)
