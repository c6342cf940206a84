"""LINKX (Lim et al. 2021): one layer on the rows of the adjacency matrix, one on the features, then both."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from mcn.data import feature_csr, feature_tensor
from mcn.experiments import register
from mcn.paper.baselines import InputLinear, Network, adjacency, train_scores
from mcn.train import Problem

WIDTH, LR, DECAY, DROPOUT, MAX_EPOCHS = 64, 0.01, 1e-3, 0.5, 500


class LinkxNetwork(Network):
    """``MLP(ReLU(W [h_A, h_X] + h_A + h_X))`` with ``h_A = A W_A + b_A`` and ``h_X = X W_X + b_X``.

    That is PyG's `LINKX` with two layers after the join and one before it; here A and X are sparse.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.edges = InputLinear(feature_tensor(adjacency(problem)), WIDTH)
        self.nodes = InputLinear(self.features(problem), WIDTH)
        self.bias = torch.nn.ParameterList(torch.nn.Parameter(torch.zeros(WIDTH)) for _ in range(2))
        self.join = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.hidden = torch.nn.Linear(WIDTH, WIDTH)
        self.norm = torch.nn.BatchNorm1d(WIDTH)
        self.last = torch.nn.Linear(WIDTH, problem.num_classes)

    @staticmethod
    def features(problem: Problem) -> torch.Tensor:
        """Return X with rows whose largest value is 1, as the entries of A are: both are added."""
        x: Any = feature_csr(problem.inputs.x)
        largest = abs(x).max(axis=1).toarray().ravel()
        return feature_tensor(
            sp.diags_array(1 / np.where(largest > 0, largest, 1)) @ x,
            dense=problem.inputs.x.layout == torch.strided,
        )

    def forward(self) -> torch.Tensor:
        """Logits of all nodes."""
        edges, nodes = self.edges() + self.bias[0], self.nodes() + self.bias[1]
        joined = torch.relu(self.join[0](edges) + self.join[1](nodes) + edges + nodes)
        hidden = self.norm(torch.relu(self.hidden(joined)))
        out: torch.Tensor = self.last(torch.nn.functional.dropout(hidden, DROPOUT, self.training))
        return out


@register("linkx")
def linkx(problem: Problem, seed: int) -> NDArray[np.float32]:
    """A perceptron on a node's row of the adjacency matrix and one on its features, joined; width 64."""
    return train_scores(
        lambda: LinkxNetwork(problem),
        problem,
        seed,
        optimizer=lambda network: torch.optim.AdamW(
            network.parameters(), lr=LR, weight_decay=DECAY, fused=True
        ),
        max_epochs=MAX_EPOCHS,
        stopping="accuracy",
    )
