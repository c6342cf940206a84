"""GraphSAGE (Hamilton, Ying and Leskovec 2017) with the mean of all neighbours, on the whole graph."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.experiments import register
from mcn.paper.baselines import FixedProduct, InputLinear, Network, adjacency, train_scores
from mcn.train import Problem
from studies.competitors.matrices import row_means

WIDTH, LR, DECAY, DROPOUT = 64, 0.01, 5e-4, 0.5


class SageNetwork(Network):
    """Two layers ``W_own h_i + W_mean mean_j h_j + b``: PyG's `SAGEConv`.

    Weights come before the mean, so that the few columns of ``h W`` go through the graph.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self._mean = FixedProduct(row_means(adjacency(problem)))
        self.first = InputLinear(problem.inputs.x, 2 * WIDTH, DROPOUT)
        self.bias = torch.nn.Parameter(torch.zeros(WIDTH))
        self.own = torch.nn.Linear(WIDTH, problem.num_classes)
        self.mean = torch.nn.Linear(WIDTH, problem.num_classes, bias=False)

    def forward(self) -> torch.Tensor:
        """Logits of all nodes."""
        own, around = self.first().chunk(2, dim=1)
        hidden = torch.relu(own + self._mean(around.contiguous()) + self.bias)
        hidden = torch.nn.functional.dropout(hidden, DROPOUT, self.training)
        out: torch.Tensor = self.own(hidden) + self._mean(self.mean(hidden))
        return out


@register("graphsage")
def graphsage(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Two layers with weights for the node itself and others for the mean of its neighbours; width 64."""
    return train_scores(
        lambda: SageNetwork(problem),
        problem,
        seed,
        optimizer=lambda network: torch.optim.Adam(
            network.parameters(), lr=LR, weight_decay=DECAY, fused=True
        ),
    )
