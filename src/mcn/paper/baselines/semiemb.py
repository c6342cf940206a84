"""Semi-supervised embedding (Weston, Ratle and Collobert 2008)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._jit import kernel, unordered_kernel
from mcn.experiments.engine.methods import register
from mcn.paper.baselines.networks import DROPOUT, InputLinear, KernelLoss, Network, dropout, train_scores
from mcn.train import Problem

HIDDEN, MARGIN, WEIGHT = 64, 1.0, 100.0


@register("semiemb")
def semiemb(problem: Problem, seed: int) -> NDArray[np.float32]:
    """A network on the features whose hidden layer also has to place neighbours close to each other.

    In every step as many random pairs are drawn as there are edges, and held a margin apart.
    """
    return train_scores(lambda: EmbeddingNetwork(problem), problem, seed)


class EmbeddingNetwork(Network):
    """Two layers on the features; in training the hidden layer is computed of all nodes, for its loss."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        edges = problem.inputs.edge_index
        self._edges = torch.from_numpy(edges[:, edges[0] < edges[1]])
        self._num_nodes = problem.inputs.num_nodes
        self.first = InputLinear(problem.inputs.x, HIDDEN, DROPOUT)
        self.bias = torch.nn.Parameter(torch.zeros(HIDDEN))
        self.last = torch.nn.Linear(HIDDEN, problem.num_classes)
        self.hidden = torch.empty(0)

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes."""
        x, rows = self.first.rows(nodes), None if nodes is None else torch.from_numpy(nodes)

        def logits() -> torch.Tensor:
            if self.training:
                self.hidden = torch.relu(self.first() + self.bias)
                hidden = self.hidden if rows is None else self.hidden[rows]
            else:
                hidden = torch.relu(self.first(x) + self.bias)
            out: torch.Tensor = self.last(dropout(hidden, DROPOUT, self.training))
            return out

        return logits

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Add the loss of the embedding, over the edges and as many random pairs."""
        strangers = torch.randint(self._num_nodes, self._edges.shape)
        return super().loss(logits, labels) + WEIGHT * embedding_loss(self.hidden, self._edges, strangers)


def embedding_loss(hidden: torch.Tensor, near: torch.Tensor, far: torch.Tensor) -> torch.Tensor:
    """Mean of ``‖h_i - h_j‖²`` over near pairs plus mean of ``max(0, margin - ‖h_i - h_j‖)²`` over far ones.

    Pairs are the columns of int64 [2, P] tensors; hidden is float32 [N, C].
    """
    if not near.shape[1]:
        return hidden.new_zeros(())
    out: torch.Tensor = KernelLoss.apply(_squares, (near, far), hidden)  # type: ignore[no-untyped-call]
    return out


@kernel
def _squares(h: Any, near: Any, far: Any, grad: Any) -> float:
    """Mean squared distance of near pairs plus mean squared lack of a margin of far ones."""
    total, share = 0.0, np.float32(1.0 / near.shape[1])
    for p in range(near.shape[1]):
        i, j = near[0, p], near[1, p]
        total += float(_squared_gap(h, i, j) * share)
        _push(h, i, j, np.float32(2.0) * share, grad)
    share = np.float32(1.0 / far.shape[1])
    for p in range(far.shape[1]):
        i, j = far[0, p], far[1, p]
        # The root has no gradient at 0: two equal rows, a pair (i, i) for instance.
        distance = np.float32(math.sqrt(_squared_gap(h, i, j) + np.float32(1e-12)))
        lack = np.float32(MARGIN) - distance
        if lack > 0:
            total += float(lack * lack * share)
            _push(h, i, j, np.float32(-2.0) * share * lack / distance, grad)
    return total


@unordered_kernel
def _squared_gap(a: Any, i: int, j: int) -> np.float32:
    """``‖a[i] - a[j]‖²`` in float32."""
    total = np.float32(0.0)
    for c in range(a.shape[1]):
        gap = a[i, c] - a[j, c]
        total += gap * gap
    return total


@kernel
def _push(h: Any, i: int, j: int, slope: Any, grad: Any) -> None:
    """Add the gradient of ``slope / 2 · ‖h_i - h_j‖²``."""
    for c in range(h.shape[1]):
        part = slope * (h[i, c] - h[j, c])
        grad[i, c] += part
        grad[j, c] -= part
