"""MoNet (Monti et al. 2017): mixtures of Gaussians over pairs of degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._fit import DROPOUT, HIDDEN, fit_scores, gcn_optimizer, seeded
from mcn.baselines._layers import InputLinear
from mcn.baselines.registry import register
from mcn.baselines.task import Task

KERNELS = 3


def pseudo_coordinates(task: Task) -> tuple[torch.Tensor, torch.Tensor]:
    """Edges with self-loops [2, E], and for each ``(deg_i^-1/2, deg_j^-1/2)``, self-loops counted."""
    loops = np.tile(np.arange(task.num_nodes), (2, 1))
    edges = np.concatenate([task.edge_index, loops], axis=1)
    root = 1 / np.sqrt(np.bincount(edges[0], minlength=task.num_nodes))
    return torch.from_numpy(edges), torch.from_numpy(root[edges].T.astype(np.float32))


class _Network(torch.nn.Module):
    def __init__(self, task: Task) -> None:
        from torch_geometric.nn import GMMConv

        super().__init__()
        self._edges, self._coordinates = pseudo_coordinates(task)
        # The first product is made by the layer for sparse features; the Gaussians are PyG's, over the
        # columns of that product, one block per kernel.
        self.first = InputLinear(task.x, HIDDEN * KERNELS, DROPOUT)
        self.mix: Any = GMMConv(1, HIDDEN, 2, KERNELS, root_weight=False, aggr="mean")
        self.mix.g.requires_grad_(False)
        self.last: Any = GMMConv(HIDDEN, task.num_classes, 2, KERNELS, root_weight=False, aggr="mean")
        for conv in (self.mix, self.last):
            torch.nn.init.uniform_(conv.mu, 0, 1)
            torch.nn.init.ones_(conv.sigma)

    def forward(self) -> torch.Tensor:
        mixed = self.mix.propagate(self._edges, x=(self.first(), None), edge_attr=self._coordinates)
        hidden = torch.relu(mixed + self.mix.bias)
        hidden = torch.nn.functional.dropout(hidden, DROPOUT, self.training)
        out: torch.Tensor = self.last((hidden, None), self._edges, self._coordinates)
        return out


@register("monet")
def monet(task: Task, seed: int) -> NDArray[np.float32]:
    """Two layers of 3 Gaussians over the degrees of both ends; width 16."""
    with seeded(seed):
        network = _Network(task)
        return fit_scores(network, task, gcn_optimizer(network, network.first))
