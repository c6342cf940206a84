"""Planetoid (Yang, Cohen and Salakhutdinov 2016), transductive (-T) and inductive (-I)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._fit import fit_scores, seeded
from mcn.baselines._layers import InputLinear
from mcn.baselines._logistic import best_scores
from mcn.baselines._skipgram import skip_gram
from mcn.baselines._walks import Neighbours
from mcn.baselines.registry import register
from mcn.baselines.task import Task

DIMENSIONS, WINDOW, NEGATIVES = 50, 3, 5
LR, DECAY, DROPOUT = 0.01, 5e-4, 0.5
LR_OF_VECTORS = 1e-4
"""Of -T's embeddings: faster, and those of the training nodes run away from all others."""
STEPS_BEFORE = 100
"""Steps in which -I learns to predict contexts before it sees a label; -T starts from skip-gram vectors."""


class _Table(torch.nn.Module):
    """A vector of its own for every node."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.from_numpy(vectors))

    def forward(self) -> torch.Tensor:
        return self.weight


class _FromFeatures(InputLinear):
    """A vector for every node, computed from its features."""

    def forward(self) -> torch.Tensor:
        return torch.nn.functional.softsign(super().forward())


class _Network(torch.nn.Module):
    """Classes from the features and from an embedding, which predicts the contexts of a node as well."""

    def __init__(self, task: Task, seed: int, inductive: bool) -> None:
        super().__init__()
        self.features = InputLinear(task.x, DIMENSIONS, DROPOUT)
        vectors, contexts = skip_gram(task, seed, DIMENSIONS, WINDOW)
        self.embedding = _FromFeatures(task.x, DIMENSIONS) if inductive else _Table(vectors)
        self.contexts = _Table(contexts)
        self.classify = torch.nn.Linear(2 * DIMENSIONS, task.num_classes)

    def forward(self) -> torch.Tensor:
        both = torch.cat([torch.relu(self.features()), self.embedding()], dim=1)
        out: torch.Tensor = self.classify(torch.nn.functional.dropout(both, DROPOUT, self.training))
        return out


def contexts(
    task: Task, graph: Neighbours, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (node, context): from every node a random walk of 1, 2 or 3 steps, and for every training
    node one of its class."""
    node = np.flatnonzero(np.diff(graph.indptr) > 0)
    length, at = rng.integers(1, WINDOW + 1, len(node)), node
    for step in range(WINDOW):
        at = np.where(step < length, graph.step(at, rng), at)
    one, other = (_by_class(task, nodes) for nodes in (task.train, rng.permutation(task.train)))
    return np.append(node, one), np.append(at, other)


def _by_class(task: Task, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return nodes[np.argsort(task.labels.numpy()[nodes], kind="stable")]


def context_loss(
    embedded: torch.Tensor, context: torch.Tensor, node: torch.Tensor, near: torch.Tensor, far: torch.Tensor
) -> torch.Tensor:
    """Skip-gram with negative sampling: ``-log σ(e·c)`` for near contexts, ``-log σ(-e·c)`` for far ones."""
    e = embedded[node]
    positive = torch.nn.functional.logsigmoid((e * context[near]).sum(1))
    negative = torch.nn.functional.logsigmoid(-(e[:, None] * context[far]).sum(2)).sum(1)
    return -(positive + negative).mean()


def _planetoid(task: Task, seed: int, inductive: bool) -> NDArray[np.float32]:
    rng, graph = np.random.default_rng(seed), Neighbours.of(task)
    with seeded(seed):
        network = _Network(task, seed, inductive)

        def penalty() -> torch.Tensor:
            node, near = (torch.from_numpy(ids) for ids in contexts(task, graph, rng))
            far = torch.randint(task.num_nodes, (len(node), NEGATIVES))
            return context_loss(network.embedding(), network.contexts(), node, near, far)

        shared = [*network.embedding.parameters(), *network.contexts.parameters()]
        before = torch.optim.Adam(shared, lr=LR)
        for _ in range(STEPS_BEFORE if inductive else 0):
            before.zero_grad(set_to_none=True)
            penalty().backward()  # type: ignore[no-untyped-call]
            before.step()
        rest = [*network.features.parameters(), *network.classify.parameters()]
        groups = [
            {"params": shared, "lr": LR if inductive else LR_OF_VECTORS},
            {"params": rest, "weight_decay": DECAY},
        ]
        optimizer = torch.optim.Adam(groups, lr=LR)
        return fit_scores(network, task, optimizer, penalty=penalty)


@register("planetoid-t", needs=("gensim",))
def planetoid_t(task: Task, seed: int) -> NDArray[np.float32]:
    """Planetoid-T: every node has an embedding of its own."""
    return _planetoid(task, seed, inductive=False)


@register("planetoid-i", needs=("gensim",))
def planetoid_i(task: Task, seed: int) -> NDArray[np.float32]:
    """Planetoid-I: the embedding is computed from the features."""
    return _planetoid(task, seed, inductive=True)


@register("planetoid", needs=("gensim",))
def planetoid(task: Task, seed: int) -> NDArray[np.float32]:
    """Planetoid-T or -I, whichever is better on validation."""
    return best_scores([planetoid_t(task, seed), planetoid_i(task, seed)], task)
