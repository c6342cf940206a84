"""The alternative that the paper dismisses for its cost: one GCN per motif matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._arrays import symmetric
from mcn.baselines._fit import (
    DECAY,
    DROPOUT,
    HIDDEN,
    MAX_EPOCHS,
    PATIENCE,
    fit_scores,
    gcn_optimizer,
    seeded,
)
from mcn.baselines._layers import FixedProduct, InputLinear, dropout, reaching
from mcn.baselines.registry import register
from mcn.baselines.task import Task
from mcn.matrices import MotifStack
from mcn.motifs import count_motifs

USUAL: dict[str, Any] = {"motifs": ["edge", "triangle"], "steps": 1}
"""Motifs and steps, where the paper's best MCN has no other ones on the data set."""
PLAIN: dict[str, Any] = {"hidden": HIDDEN, "dropout": DROPOUT, "decay": DECAY}
"""Width of each GCN, dropout and L2, on data sets for which no others were found on validation nodes."""
_FIVE = ["edge", "2-star", "triangle", "3-star", "4-clique"]
LARGER: dict[str, tuple[list[str], int]] = {
    "gcn-ensemble-6": (["edge", "triangle"], 3),
    "gcn-ensemble-10": (_FIVE, 2),
    "gcn-ensemble-15": (_FIVE, 3),
}
"""Ensembles of more networks, with motifs and steps of the paper's search: its remark is about large K·T."""


class _Network(torch.nn.Module):
    def __init__(self, task: Task, products: list[FixedProduct], hidden: int, dropout: float) -> None:
        super().__init__()
        self._products, self._dropout = products, dropout
        self.first = InputLinear(task.x, hidden * len(products), dropout)  # every GCN's own W, side by side
        self.second = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in products)
        self.bias = torch.nn.Parameter(torch.zeros(hidden * len(products)))
        self.classify = torch.nn.Linear(hidden * len(products), task.num_classes)

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes."""
        outer, near = reaching(self._products, nodes)
        inner, far = reaching(self._products, near)
        x = self.first.rows(far)

        def logits() -> torch.Tensor:
            outputs = []
            inputs, biases = (part.chunk(len(outer), dim=-1) for part in (self.first(x), self.bias))
            layers = zip(inner, outer, inputs, biases, self.second, strict=True)
            for before, after, z, bias, second in layers:
                hidden = dropout(torch.relu(before(z.contiguous()) + bias), self._dropout, self.training)
                outputs.append(after(second(hidden)))
            joined = dropout(torch.cat(outputs, dim=1), self._dropout, self.training)
            out: torch.Tensor = self.classify(joined)
            return out

        return logits


@register("gcn-ensemble")
def gcn_ensemble(task: Task, seed: int) -> NDArray[np.float32]:
    """K·T independent two-layer GCNs, one per motif and step size, their outputs concatenated."""
    setting = USUAL | PLAIN | task.published("gcn-ensemble")
    products = motif_products(task, setting.pop("motifs"), setting.pop("steps"))
    return ensemble_scores(task, seed, products, **setting)


def motif_products(task: Task, motifs: list[str], steps: int) -> list[FixedProduct]:
    """Return one GCN's matrix for every motif and step size; for all runs on a task the same."""
    stack = MotifStack.from_counts(count_motifs(task.edge_index, task.num_nodes), motifs, steps, "unweighted")
    return [FixedProduct(symmetric(stack.matrix(motif, k))) for motif in motifs for k in range(1, steps + 1)]


def ensemble_scores(
    task: Task,
    seed: int,
    products: list[FixedProduct],
    hidden: int,
    dropout: float,
    decay: float,
    max_epochs: int = MAX_EPOCHS,
    patience: int = PATIENCE,
) -> NDArray[np.float32]:
    """Train one GCN for each of these matrices, and what classifies their outputs."""
    with seeded(seed):
        network = _Network(task, products, hidden, dropout)
        optimizer = gcn_optimizer(network, network.first, decay)
        return fit_scores(network, task, optimizer, max_epochs=max_epochs, patience=patience)


def _register_larger(name: str, motifs: list[str], steps: int) -> None:
    def larger(task: Task, seed: int) -> NDArray[np.float32]:
        return ensemble_scores(
            task, seed, motif_products(task, motifs, steps), **(PLAIN | task.published(name))
        )

    larger.__doc__ = f"As gcn-ensemble, with {', '.join(motifs)} and up to {steps} steps."
    register(name)(larger)


for _name, _what in LARGER.items():
    _register_larger(_name, *_what)
