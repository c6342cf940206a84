"""The alternative that the paper dismisses for its cost: one GCN per motif matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._arrays import symmetric
from mcn.baselines._fit import DROPOUT, HIDDEN, fit_scores, gcn_optimizer, seeded
from mcn.baselines._layers import FixedProduct, InputLinear
from mcn.baselines.registry import register
from mcn.baselines.task import Task
from mcn.matrices import MotifStack
from mcn.motifs import count_motifs

USUAL: dict[str, Any] = {"motifs": ["edge", "triangle"], "steps": 1}
"""Motifs and steps, where the paper's best MCN has no other ones on the data set."""


class _Network(torch.nn.Module):
    def __init__(self, task: Task, products: list[FixedProduct]) -> None:
        super().__init__()
        self._products = products
        self.first = InputLinear(task.x, HIDDEN * len(products), DROPOUT)  # every GCN's own W, side by side
        self.second = torch.nn.ModuleList(torch.nn.Linear(HIDDEN, HIDDEN) for _ in products)
        self.bias = torch.nn.Parameter(torch.zeros(HIDDEN * len(products)))
        self.classify = torch.nn.Linear(HIDDEN * len(products), task.num_classes)

    def forward(self) -> torch.Tensor:
        inputs = self.first().chunk(len(self._products), dim=1)
        biases = self.bias.chunk(len(self._products))
        outputs = []
        for product, z, bias, second in zip(self._products, inputs, biases, self.second, strict=True):
            hidden = torch.relu(product(z) + bias)
            hidden = torch.nn.functional.dropout(hidden, DROPOUT, self.training)
            outputs.append(product(second(hidden)))
        out: torch.Tensor = self.classify(torch.cat(outputs, dim=1))
        return out


@register("gcn-ensemble")
def gcn_ensemble(task: Task, seed: int) -> NDArray[np.float32]:
    """K·T independent two-layer GCNs, one per motif and step size, their outputs concatenated."""
    chosen = USUAL | task.published("gcn-ensemble")
    motifs, steps = chosen["motifs"], chosen["steps"]
    stack = MotifStack.from_counts(count_motifs(task.edge_index, task.num_nodes), motifs, steps, "unweighted")
    products = [
        FixedProduct(symmetric(stack.matrix(motif, k))) for motif in motifs for k in range(1, steps + 1)
    ]
    with seeded(seed):
        network = _Network(task, products)
        return fit_scores(network, task, gcn_optimizer(network, network.first))
