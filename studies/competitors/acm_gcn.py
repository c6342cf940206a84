"""ACM-GCN (Luan et al. 2022): nodes mix the mean around them, their difference to it, and themselves."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.experiments import register
from mcn.paper.baselines import FixedProduct, InputLinear, Network, train_scores
from mcn.train import Problem
from studies.competitors.matrices import row_means, with_self

WIDTH, LR, DECAY, DROPOUT, MAX_EPOCHS, PATIENCE = 64, 0.05, 1e-3, 0.5, 1000, 100
CHANNELS = 3


class Mixing(torch.nn.Module):
    """``3 Σ_c α_ic H_c`` over three channels, weighted by each node.

    ``H_low = ReLU(P Z_low)``, ``H_high = ReLU(Z_high - P Z_high)``, ``H_own = ReLU(Z_own)``. P averages over
    the neighbours and the node itself. A node's weights are a softmax of
    ``σ([h_low · v_low, h_high · v_high, h_own · v_own]) W / 3``.
    """

    def __init__(self, mean: FixedProduct, width: int) -> None:
        super().__init__()
        self._mean = mean
        self.score = torch.nn.Parameter(torch.empty(CHANNELS, width).uniform_(-1, 1))
        bound = CHANNELS**-0.5
        self.mix = torch.nn.Parameter(torch.empty(CHANNELS, CHANNELS).uniform_(-bound, bound))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Mix Z = [Z_low | Z_high | Z_own]."""
        low, high, own = z.chunk(CHANNELS, dim=1)
        shared = self._mean(torch.cat([low, high], dim=1))
        low, mean = shared.chunk(2, dim=1)
        channels = torch.relu(torch.stack([low, high - mean, own], dim=1))  # [N, 3, width]
        scores = torch.sigmoid((channels * self.score).sum(2))
        weights = torch.softmax(scores @ self.mix / CHANNELS, dim=1)
        return CHANNELS * (weights[:, :, None] * channels).sum(1)


class AcmNetwork(Network):
    """Two such layers."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        mean = FixedProduct(row_means(with_self(problem)))
        self.first = InputLinear(problem.inputs.x, CHANNELS * WIDTH, DROPOUT)
        self.last = torch.nn.Linear(WIDTH, CHANNELS * problem.num_classes, bias=False)
        self.mixings = torch.nn.ModuleList(Mixing(mean, width) for width in (WIDTH, problem.num_classes))
        for weight, width in ((self.first.weight, WIDTH), (self.last.weight, problem.num_classes)):
            torch.nn.init.uniform_(weight, -(width**-0.5), width**-0.5)

    def forward(self) -> torch.Tensor:
        """Logits of all nodes."""
        hidden = torch.nn.functional.dropout(self.mixings[0](self.first()), DROPOUT, self.training)
        out: torch.Tensor = self.mixings[1](self.last(hidden))
        return out


@register("acm-gcn")
def acm_gcn(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Two layers whose nodes weigh an average, a difference and an identity channel; width 64."""
    return train_scores(
        lambda: AcmNetwork(problem),
        problem,
        seed,
        optimizer=lambda network: torch.optim.Adam(
            network.parameters(), lr=LR, weight_decay=DECAY, fused=True
        ),
        max_epochs=MAX_EPOCHS,
        patience=PATIENCE,
    )
