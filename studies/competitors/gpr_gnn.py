"""GPR-GNN (Chien, Peng, Li and Milenkovic 2021): a perceptron, then a generalised PageRank that is learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.experiments import register
from mcn.paper.baselines import FixedProduct, InputLinear, Network, symmetric, train_scores
from mcn.train import Problem
from studies.competitors.matrices import with_self

WIDTH, STEPS, MAX_EPOCHS, PATIENCE, DROPOUT = 64, 10, 1000, 200, 0.5
USUAL: dict[str, Any] = {"lr": 0.01, "alpha": 0.1, "decay": 5e-4, "dropout": 0.5}
"""Learning rate, restart probability of the first weights, L2, and dropout before the propagation, where the
authors' program has no other ones for the data set."""
OF_DATASET: dict[str, dict[str, Any]] = {
    "pubmed": {"lr": 0.05, "alpha": 0.2},
    "amazon-photo": {"alpha": 0.5, "decay": 0.0},
    "chameleon-filtered": {"lr": 0.05, "alpha": 1.0, "decay": 0.0, "dropout": 0.7},
    "actor": {"alpha": 0.9, "decay": 0.0},
    "texas": {"lr": 0.05, "alpha": 1.0},
}
"""From the authors' script for their table 2; chameleon and film are called otherwise here."""


def pagerank_weights(alpha: float, steps: int) -> NDArray[np.float64]:
    """``γ_k = α (1 - α)^k`` with the rest in the last, so that they sum to one."""
    weights = alpha * (1 - alpha) ** np.arange(steps + 1.0)
    weights[-1] = (1 - alpha) ** steps
    return weights


class GprNetwork(Network):
    """``Σ_k γ_k Â^k MLP(X)`` with learnt γ, ``Â = D^-1/2 (A + I) D^-1/2``; by Horner's scheme."""

    def __init__(self, problem: Problem, alpha: float, propagation_dropout: float) -> None:
        super().__init__()
        self._step, self._dropout = FixedProduct(symmetric(with_self(problem))), propagation_dropout
        self.first = InputLinear(problem.inputs.x, WIDTH, DROPOUT)
        self.bias = torch.nn.Parameter(torch.zeros(WIDTH))
        self.last = torch.nn.Linear(WIDTH, problem.num_classes)
        self.gamma = torch.nn.Parameter(torch.from_numpy(pagerank_weights(alpha, STEPS)).float())

    def forward(self) -> torch.Tensor:
        """Logits of all nodes."""
        drop = torch.nn.functional.dropout
        hidden = drop(torch.relu(self.first() + self.bias), DROPOUT, self.training)
        z = drop(self.last(hidden), self._dropout, self.training)
        out = self.gamma[STEPS] * z
        for k in range(STEPS - 1, -1, -1):
            out = self._step(out) + self.gamma[k] * z
        return out


@register("gpr-gnn")
def gpr_gnn(problem: Problem, seed: int) -> NDArray[np.float32]:
    """A perceptron of width 64 whose outputs are summed over 0 to 10 steps with learnt weights."""
    chosen = USUAL | OF_DATASET.get(problem.inputs.dataset or "", {})

    def optimizer(network: GprNetwork) -> torch.optim.Optimizer:
        decayed = [p for name, p in network.named_parameters() if name != "gamma"]
        groups: list[dict[str, Any]] = [
            {"params": decayed, "weight_decay": chosen["decay"]},
            {"params": [network.gamma]},
        ]
        return torch.optim.Adam(groups, lr=chosen["lr"], fused=True)

    return train_scores(
        lambda: GprNetwork(problem, chosen["alpha"], chosen["dropout"]),
        problem,
        seed,
        optimizer=optimizer,
        max_epochs=MAX_EPOCHS,
        patience=PATIENCE,
        stopping="loss",
    )
