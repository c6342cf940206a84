"""Semi-supervised embedding (Weston, Ratle and Collobert 2008)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._fit import DROPOUT, fit_scores, gcn_optimizer, seeded
from mcn.baselines._layers import InputLinear, dropout
from mcn.baselines._pair_losses import pair_loss
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

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes.

        In training `hidden` is computed of all nodes: the embedding loss needs them.
        """
        x, rows = self.first.rows(nodes), None if nodes is None else torch.from_numpy(nodes)

        def logits() -> torch.Tensor:
            if self.training:
                self.hidden = torch.relu(self.first() + self.bias)
                own = self.hidden if rows is None else self.hidden[rows]
            else:
                own = torch.relu(self.first(x) + self.bias)
            out: torch.Tensor = self.last(dropout(own, DROPOUT, self.training))
            return out

        return logits


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
    return pair_loss(hidden, near, far, MARGIN)
