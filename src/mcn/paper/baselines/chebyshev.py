"""Chebyshev networks (Defferrard, Bresson and Vandergheynst 2016), as the GCN paper ran them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.experiments.engine.methods import register
from mcn.paper.baselines.matrices import adjacency, symmetric
from mcn.paper.baselines.networks import (
    DROPOUT,
    HIDDEN,
    FixedProduct,
    InputLinear,
    Network,
    dropout,
    train_scores,
)
from mcn.train import Problem

ORDERS, ORDER = {"cora": 2}, 3
"""The order K of the polynomials: what the paper has for single data sets, and elsewhere."""


def chebyshev_sum(terms: torch.Tensor, rescaled: FixedProduct, order: int) -> torch.Tensor:
    """``Σ_k T_k(L~) Z_k`` for Z = [Z_0 | … | Z_K], by Clenshaw's recurrence.

    The weights are applied before the polynomials, ``T_k(L~) (X W_k)``: the same sum as PyG's `ChebConv`,
    which carries all F columns of X through the graph instead of the few of X W.
    """
    z = terms.chunk(order + 1, dim=1)
    if not order:
        return z[0]
    after, later = z[order], torch.zeros(())
    for k in range(order - 1, 0, -1):
        after, later = z[k] + 2 * rescaled(after) - later, after
    return z[0] + rescaled(after) - later


class ChebyshevNetwork(Network):
    """Two layers of polynomials of the rescaled Laplacian."""

    def __init__(self, problem: Problem, order: int) -> None:
        super().__init__()
        # λ_max is taken as 2, as in PyG: L~ = L - I = -D^-1/2 A D^-1/2.
        self._rescaled, self._order = FixedProduct(-symmetric(adjacency(problem))), order
        self.first = InputLinear(problem.inputs.x, HIDDEN * (order + 1), DROPOUT)
        self.last = torch.nn.Linear(HIDDEN, problem.num_classes * (order + 1), bias=False)
        torch.nn.init.xavier_uniform_(self.last.weight)
        self.bias = torch.nn.ParameterList(
            torch.nn.Parameter(torch.zeros(width)) for width in (HIDDEN, problem.num_classes)
        )

    def forward(self) -> torch.Tensor:
        """Logits of all nodes."""
        hidden = torch.relu(chebyshev_sum(self.first(), self._rescaled, self._order) + self.bias[0])
        terms = self.last(dropout(hidden, DROPOUT, self.training))
        out: torch.Tensor = chebyshev_sum(terms, self._rescaled, self._order) + self.bias[1]
        return out


@register("chebyshev")
def chebyshev(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Two layers of polynomials of the Laplacian: K = 2 on Cora, 3 elsewhere; width 16."""
    order = ORDERS.get(problem.inputs.dataset or "", ORDER)
    return train_scores(lambda: ChebyshevNetwork(problem, order), problem, seed)
