"""LINKX (Lim et al. 2021): one layer on the rows of the adjacency matrix, one on the features, then both."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from mcn.baselines._arrays import adjacency
from mcn.baselines._fit import DROPOUT, LR, WholeGraph, fit_scores, seeded
from mcn.baselines._layers import InputLinear, dropout
from mcn.baselines.registry import register
from mcn.baselines.task import Task
from mcn.data import feature_csr, feature_tensor
from mcn.nn.features import is_sparse

WIDTH, DECAY, MAX_EPOCHS = 64, 1e-3, 500


class LinkxNetwork(WholeGraph):
    """``MLP(ReLU(W [h_A, h_X] + h_A + h_X))`` with ``h_A = A W_A + b_A`` and ``h_X = X W_X + b_X``.

    That is PyG's `LINKX` with two layers after the join and one before it; here A and X are sparse.
    """

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.edges = InputLinear(feature_tensor(adjacency(task)), WIDTH)
        self.nodes = InputLinear(self.features(task), WIDTH)
        self.bias = torch.nn.ParameterList(torch.nn.Parameter(torch.zeros(WIDTH)) for _ in range(2))
        self.join = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.hidden = torch.nn.Linear(WIDTH, WIDTH)
        self.norm = torch.nn.BatchNorm1d(WIDTH)
        self.last = torch.nn.Linear(WIDTH, task.num_classes)

    @staticmethod
    def features(task: Task) -> torch.Tensor:
        """Return X with rows whose largest value is 1, as the entries of A are: both are added."""
        x: Any = feature_csr(task.x)
        largest = abs(x).max(axis=1).toarray().ravel()
        return feature_tensor(
            sp.diags_array(1 / np.where(largest > 0, largest, 1)) @ x, dense=not is_sparse(task.x)
        )

    def forward(self) -> torch.Tensor:
        """Logits of all nodes."""
        edges, nodes = self.edges() + self.bias[0], self.nodes() + self.bias[1]
        joined = torch.relu(self.join[0](edges) + self.join[1](nodes) + edges + nodes)
        hidden = self.norm(torch.relu(self.hidden(joined)))
        out: torch.Tensor = self.last(dropout(hidden, DROPOUT, self.training))
        return out


@register("linkx")
def linkx(task: Task, seed: int) -> NDArray[np.float32]:
    """A perceptron on a node's row of the adjacency matrix and one on its features, joined; width 64."""
    with seeded(seed):
        network = LinkxNetwork(task)
        optimizer = torch.optim.AdamW(network.parameters(), lr=LR, weight_decay=DECAY, fused=True)
        return fit_scores(network, task, optimizer, max_epochs=MAX_EPOCHS, stopping="accuracy")
