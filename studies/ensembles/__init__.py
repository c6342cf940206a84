"""The alternative that the paper dismisses for its cost: one GCN per motif matrix, outputs concatenated.

Importing this registers the ensembles of `SIZES` by the hook that any user has (`mcn.experiments.register`).
``python -m studies.ensembles`` finds their settings and measures what an epoch costs; their accuracies are in
the study of controls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import mcn
from mcn.experiments import register
from mcn.paper.baselines import FixedProduct, InputLinear, Network, symmetric, train_scores
from mcn.train import Problem

PLAIN: dict[str, Any] = {"hidden": 16, "dropout": 0.5, "decay": 5e-4}
"""Width of each GCN, dropout and L2, on data sets for which no others were found on validation nodes."""
_FIVE = ["edge", "2-star", "triangle", "3-star", "4-clique"]
SIZES: dict[str, dict[str, Any]] = {
    "gcn-ensemble": {"motifs": ["edge", "triangle"], "steps": 1},
    "gcn-ensemble-6": {"motifs": ["edge", "triangle"], "steps": 3},
    "gcn-ensemble-10": {"motifs": _FIVE, "steps": 2},
    "gcn-ensemble-15": {"motifs": _FIVE, "steps": 3},
}
"""Motifs and steps of the paper's best MCN, and of its search: its remark is about large K·T."""
_WIDE = {"hidden": 64, "dropout": 0.8}
TUNED: dict[tuple[str, str], dict[str, Any]] = {
    ("gcn-ensemble", "cora"): _WIDE,
    ("gcn-ensemble", "citeseer"): {"motifs": ["edge"], "steps": 2},
    ("gcn-ensemble", "pubmed"): {"dropout": 0.8},
    ("gcn-ensemble-6", "cora"): _WIDE,
    ("gcn-ensemble-6", "citeseer"): _WIDE,
    ("gcn-ensemble-6", "pubmed"): {"dropout": 0.8},
    ("gcn-ensemble-10", "cora"): _WIDE,
    ("gcn-ensemble-10", "citeseer"): _WIDE,
    ("gcn-ensemble-10", "pubmed"): {"dropout": 0.8},
    ("gcn-ensemble-15", "cora"): _WIDE,
    ("gcn-ensemble-15", "citeseer"): {"dropout": 0.8},
    ("gcn-ensemble-15", "pubmed"): {"dropout": 0.8, "decay": 0.005},
}
"""By validation nodes (``python -m studies.ensembles``); the smallest on Citeseer as the paper's best MCN."""


def settings_of(name: str, dataset: str | None) -> dict[str, Any]:
    """Return motifs, steps, hidden, dropout and decay of an ensemble on a data set."""
    return SIZES[name] | PLAIN | TUNED.get((name, dataset or ""), {})


class EnsembleNetwork(Network):
    """One two-layer GCN per matrix, and a linear layer on all their outputs."""

    def __init__(self, problem: Problem, products: list[FixedProduct], hidden: int, dropout: float) -> None:
        super().__init__()
        self._products, self._dropout = products, dropout
        # Every GCN's own W, side by side.
        self.first = InputLinear(problem.inputs.x, hidden * len(products), dropout)
        self.second = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in products)
        self.bias = torch.nn.Parameter(torch.zeros(hidden * len(products)))
        self.classify = torch.nn.Linear(hidden * len(products), problem.num_classes)

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes."""
        outer, near = reaching(self._products, nodes)
        inner, far = reaching(self._products, near)
        x = self.first.rows(far)
        drop = torch.nn.functional.dropout

        def logits() -> torch.Tensor:
            outputs = []
            inputs, biases = (part.chunk(len(outer), dim=-1) for part in (self.first(x), self.bias))
            layers = zip(inner, outer, inputs, biases, self.second, strict=True)
            for before, after, z, bias, second in layers:
                hidden = drop(torch.relu(before(z.contiguous()) + bias), self._dropout, self.training)
                outputs.append(after(second(hidden)))
            joined = drop(torch.cat(outputs, dim=1), self._dropout, self.training)
            out: torch.Tensor = self.classify(joined)
            return out

        return logits


def reaching(
    products: Sequence[FixedProduct], rows: NDArray[np.int64] | None
) -> tuple[list[FixedProduct], NDArray[np.int64] | None]:
    """Some rows of every product, over the columns that any of them reaches; and these columns, ascending.

    With None for rows, all of both.
    """
    if rows is None:
        return list(products), None
    parts = [product.matrix[rows] for product in products]
    columns = np.unique(np.concatenate([part.indices for part in parts])).astype(np.int64)
    return [FixedProduct(part[:, columns]) for part in parts], columns


def motif_products(problem: Problem, motifs: list[str], steps: int) -> list[FixedProduct]:
    """Return one GCN's matrix for every motif and step size; for all runs on a graph the same."""
    counts = mcn.count_motifs(problem.inputs.edge_index, problem.inputs.num_nodes)
    stack = mcn.MotifStack.from_counts(counts, motifs, steps, "unweighted")
    return [FixedProduct(symmetric(stack.matrix(motif, k))) for motif in motifs for k in range(1, steps + 1)]


def ensemble_scores(
    problem: Problem,
    seed: int,
    products: list[FixedProduct],
    hidden: int,
    dropout: float,
    decay: float,
    **budget: Any,
) -> NDArray[np.float32]:
    """Train a GCN for each matrix, and what classifies their outputs; `budget`: max_epochs, patience."""

    def optimizer(network: EnsembleNetwork) -> torch.optim.Optimizer:
        first = list(network.first.parameters())
        rest = [p for name, p in network.named_parameters() if not name.startswith("first.")]
        groups: list[dict[str, Any]] = [{"params": first, "weight_decay": decay}, {"params": rest}]
        return torch.optim.Adam(groups, lr=0.01, fused=True)

    return train_scores(
        lambda: EnsembleNetwork(problem, products, hidden, dropout),
        problem,
        seed,
        optimizer=optimizer,
        **budget,
    )


def _register(name: str, motifs: list[str], steps: int) -> None:
    def ensemble(problem: Problem, seed: int) -> NDArray[np.float32]:
        settings = settings_of(name, problem.inputs.dataset)
        products = motif_products(problem, settings.pop("motifs"), settings.pop("steps"))
        return ensemble_scores(problem, seed, products, **settings)

    ensemble.__doc__ = f"K·T independent two-layer GCNs: {', '.join(motifs)}, up to {steps} steps."
    register(name)(ensemble)


for _name, _size in SIZES.items():
    _register(_name, **_size)
