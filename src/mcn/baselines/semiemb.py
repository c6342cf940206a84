"""Semi-supervised embedding (Weston, Ratle and Collobert 2008)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._fit import DROPOUT, fit_scores, gcn_optimizer, seeded
from mcn.baselines._layers import InputLinear
from mcn.baselines.registry import register
from mcn.baselines.task import Task

HIDDEN, MARGIN, WEIGHT = 64, 1.0, 100.0


class _Network(torch.nn.Module):
    def __init__(self, task: Task) -> None:
        super().__init__()
        self.first = InputLinear(task.x, HIDDEN, DROPOUT)
        self.bias = torch.nn.Parameter(torch.zeros(HIDDEN))
        self.last = torch.nn.Linear(HIDDEN, task.num_classes)
        self.hidden = torch.empty(0)

    def forward(self) -> torch.Tensor:
        self.hidden = torch.relu(self.first() + self.bias)
        dropped = torch.nn.functional.dropout(self.hidden, DROPOUT, self.training)
        out: torch.Tensor = self.last(dropped)
        return out


@register("semiemb")
def semiemb(task: Task, seed: int) -> NDArray[np.float32]:
    """A network on the features whose hidden layer also has to place neighbours close to each other.

    In every step as many random pairs are drawn as there are edges, and held a margin apart.
    """
    edges = torch.from_numpy(task.edge_index[:, task.edge_index[0] < task.edge_index[1]])
    with seeded(seed):
        network = _Network(task)

        def penalty() -> torch.Tensor:
            others = torch.randint(task.num_nodes, edges.shape)
            return WEIGHT * embedding_loss(network.hidden, edges, others)

        return fit_scores(network, task, gcn_optimizer(network, network.first), penalty=penalty)


def embedding_loss(hidden: torch.Tensor, near: torch.Tensor, far: torch.Tensor) -> torch.Tensor:
    """Mean of ``‖h_i - h_j‖²`` over near pairs plus mean of ``max(0, margin - ‖h_i - h_j‖)²`` over far ones.

    Pairs are the columns of [2, P] tensors.
    """
    if not near.shape[1]:
        return hidden.new_zeros(())
    together = (hidden[near[0]] - hidden[near[1]]).pow(2).sum(1)
    # The root has no gradient at 0: two equal rows, a pair (i, i) for instance.
    apart = ((hidden[far[0]] - hidden[far[1]]).pow(2).sum(1) + 1e-12).sqrt()
    return together.mean() + (MARGIN - apart).clamp_min(0).pow(2).mean()
