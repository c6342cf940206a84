"""Planetoid (Yang, Cohen and Salakhutdinov 2016), transductive (-T) and inductive (-I)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._fit import fit_scores, seeded
from mcn.baselines._layers import InputLinear, dropout
from mcn.baselines._logistic import best_scores
from mcn.baselines._pair_losses import context_loss
from mcn.baselines._skipgram import skip_gram
from mcn.baselines._walks import Neighbours
from mcn.baselines.registry import register
from mcn.baselines.task import Task

DIMENSIONS, WINDOW, NEGATIVES = 50, 3, 5
LR, DECAY, DROPOUT = 0.01, 5e-4, 0.5
LR_OF_VECTORS = 1e-4
"""Of -T's embeddings: faster, and those of the training nodes run away from all others."""
MOST_WALKS = 4000
"""Nodes that a step draws contexts for, in graphs that have more. (The reference draws 200 pairs a step.)"""
STEPS_BEFORE = 100
"""Steps in which -I learns to predict contexts before it sees a label; -T starts from skip-gram vectors."""

Vectors = tuple[NDArray[np.float32], NDArray[np.float32]]


class _Table(torch.nn.Module):
    """A vector of its own for every node."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.from_numpy(vectors.copy()))

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the vectors of these nodes."""
        rows = None if nodes is None else torch.from_numpy(nodes)
        return lambda: self.weight if rows is None else torch.nn.functional.embedding(rows, self.weight)

    def indexed(self, nodes: NDArray[np.int64]) -> tuple[torch.Tensor, NDArray[np.int64]]:
        """Return vectors, and which of them is that of each of the nodes."""
        return self.weight, nodes


class _FromFeatures(InputLinear):
    """A vector for every node, computed from its features."""

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the vectors of these nodes."""
        x = self.rows(nodes)
        return lambda: torch.nn.functional.softsign(self(x))

    def indexed(self, nodes: NDArray[np.int64]) -> tuple[torch.Tensor, NDArray[np.int64]]:
        """Return vectors, and which of them is that of each of the nodes."""
        different, place = np.unique(nodes, return_inverse=True)
        return self.at(different)(), place


class _Network(torch.nn.Module):
    """Classes from the features and from an embedding, which predicts the contexts of a node as well."""

    def __init__(self, task: Task, vectors: Vectors, inductive: bool) -> None:
        super().__init__()
        self.features = InputLinear(task.x, DIMENSIONS, DROPOUT)
        self.embedding = _FromFeatures(task.x, DIMENSIONS) if inductive else _Table(vectors[0])
        self.contexts = _Table(vectors[1])
        self.classify = torch.nn.Linear(2 * DIMENSIONS, task.num_classes)

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes."""
        x, embedded = self.features.rows(nodes), self.embedding.at(nodes)

        def logits() -> torch.Tensor:
            both = torch.cat([torch.relu(self.features(x)), embedded()], dim=1)
            out: torch.Tensor = self.classify(dropout(both, DROPOUT, self.training))
            return out

        return logits


def contexts(
    task: Task, graph: Neighbours, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (node, context): from every node a random walk of 1, 2 or 3 steps, and for every training
    node one of its class. Of a graph with more than `MOST_WALKS` nodes, so many are drawn in each step."""
    node = np.flatnonzero(np.diff(graph.indptr) > 0)
    if len(node) > MOST_WALKS:
        node = np.sort(rng.choice(node, MOST_WALKS, replace=False))
    length, at = rng.integers(1, WINDOW + 1, len(node)), node
    for step in range(WINDOW):
        at = np.where(step < length, graph.step(at, rng), at)
    one, other = (_by_class(task, nodes) for nodes in (task.train, rng.permutation(task.train)))
    return np.append(node, one), np.append(at, other)


def _by_class(task: Task, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return nodes[np.argsort(task.labels.numpy()[nodes], kind="stable")]


def _planetoid(task: Task, seed: int, vectors: Vectors, inductive: bool) -> NDArray[np.float32]:
    rng, graph = np.random.default_rng(seed), Neighbours.of(task)
    with seeded(seed):
        network = _Network(task, vectors, inductive)

        def penalty() -> torch.Tensor:
            node, near = contexts(task, graph, rng)
            far = torch.randint(task.num_nodes, (len(node), NEGATIVES))
            embedded, place = network.embedding.indexed(node)
            pairs = torch.from_numpy(place), torch.from_numpy(near)
            return context_loss(embedded, network.contexts.weight, *pairs, far)

        shared = [*network.embedding.parameters(), *network.contexts.parameters()]
        before = torch.optim.Adam(shared, lr=LR, fused=True)
        for _ in range(STEPS_BEFORE if inductive else 0):
            before.zero_grad(set_to_none=True)
            penalty().backward()  # type: ignore[no-untyped-call]
            before.step()
        rest = [*network.features.parameters(), *network.classify.parameters()]
        groups = [
            {"params": shared, "lr": LR if inductive else LR_OF_VECTORS},
            {"params": rest, "weight_decay": DECAY},
        ]
        optimizer = torch.optim.Adam(groups, lr=LR, fused=True)
        return fit_scores(network, task, optimizer, penalty=penalty)


def _vectors(task: Task, seed: int) -> Vectors:
    return skip_gram(task, seed, DIMENSIONS, WINDOW)


@register("planetoid-t")
def planetoid_t(task: Task, seed: int) -> NDArray[np.float32]:
    """Planetoid-T: every node has an embedding of its own."""
    return _planetoid(task, seed, _vectors(task, seed), inductive=False)


@register("planetoid-i")
def planetoid_i(task: Task, seed: int) -> NDArray[np.float32]:
    """Planetoid-I: the embedding is computed from the features."""
    return _planetoid(task, seed, _vectors(task, seed), inductive=True)


@register("planetoid")
def planetoid(task: Task, seed: int) -> NDArray[np.float32]:
    """Planetoid-T or -I, whichever is better on validation."""
    vectors = _vectors(task, seed)
    return best_scores([_planetoid(task, seed, vectors, inductive) for inductive in (False, True)], task)
