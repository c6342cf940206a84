"""GPR-GNN (Chien, Peng, Li and Milenkovic 2021): a perceptron, then a generalised PageRank that is learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._arrays import symmetric, with_loops
from mcn.baselines._fit import DECAY, DROPOUT, WholeGraph, fit_scores, seeded
from mcn.baselines._layers import FixedProduct, InputLinear, dropout
from mcn.baselines.registry import register
from mcn.baselines.task import Task

WIDTH, STEPS, MAX_EPOCHS, PATIENCE = 64, 10, 1000, 200
USUAL: dict[str, Any] = {"lr": 0.01, "alpha": 0.1, "decay": DECAY, "dropout": 0.5}
"""Learning rate, restart probability of the first weights, L2, and dropout before the propagation, where the
authors' program has no other ones for the data set."""


def pagerank_weights(alpha: float, steps: int) -> NDArray[np.float64]:
    """``γ_k = α (1 - α)^k`` with the rest in the last, so that they sum to one."""
    weights = alpha * (1 - alpha) ** np.arange(steps + 1.0)
    weights[-1] = (1 - alpha) ** steps
    return weights


class GprNetwork(WholeGraph):
    """``Σ_k γ_k Â^k MLP(X)`` with learnt γ, ``Â = D^-1/2 (A + I) D^-1/2``; by Horner's scheme."""

    def __init__(self, task: Task, alpha: float, propagation_dropout: float) -> None:
        super().__init__()
        self._step, self._dropout = FixedProduct(symmetric(with_loops(task))), propagation_dropout
        self.first = InputLinear(task.x, WIDTH, DROPOUT)
        self.bias = torch.nn.Parameter(torch.zeros(WIDTH))
        self.last = torch.nn.Linear(WIDTH, task.num_classes)
        self.gamma = torch.nn.Parameter(torch.from_numpy(pagerank_weights(alpha, STEPS)).float())

    def forward(self) -> torch.Tensor:
        """Logits of all nodes."""
        hidden = dropout(torch.relu(self.first() + self.bias), DROPOUT, self.training)
        z = dropout(self.last(hidden), self._dropout, self.training)
        out = self.gamma[STEPS] * z
        for k in range(STEPS - 1, -1, -1):
            out = self._step(out) + self.gamma[k] * z
        return out


@register("gpr-gnn")
def gpr_gnn(task: Task, seed: int) -> NDArray[np.float32]:
    """A perceptron of width 64 whose outputs are summed over 0 to 10 steps with learnt weights."""
    chosen = USUAL | task.published("gpr-gnn")
    with seeded(seed):
        network = GprNetwork(task, chosen["alpha"], chosen["dropout"])
        decayed = [p for name, p in network.named_parameters() if name != "gamma"]
        groups: list[dict[str, Any]] = [
            {"params": decayed, "weight_decay": chosen["decay"]},
            {"params": [network.gamma]},
        ]
        optimizer = torch.optim.Adam(groups, lr=chosen["lr"], fused=True)
        return fit_scores(network, task, optimizer, max_epochs=MAX_EPOCHS, patience=PATIENCE, stopping="loss")
