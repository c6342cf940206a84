"""Planetoid (Yang, Cohen and Salakhutdinov 2016), transductive (-T) and inductive (-I)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from mcn.experiments.engine.methods import register
from mcn.paper.baselines.deepwalk import add, dot, skip_gram, step
from mcn.paper.baselines.matrices import adjacency, best_scores
from mcn.paper.baselines.networks import InputLinear, KernelLoss, Network, dropout, train_scores
from mcn.train import Problem

DIMENSIONS, WINDOW, NEGATIVES = 50, 3, 5
LR, DECAY, DROPOUT = 0.01, 5e-4, 0.5
LR_OF_VECTORS = 1e-4
"""Of -T's embeddings: faster, and those of the training nodes run away from all others."""
MOST_WALKS = 4000
"""Nodes that a step draws contexts for, in graphs that have more. (The reference draws 200 pairs a step.)"""
STEPS_BEFORE = 100
"""Steps in which -I learns to predict contexts before it sees a label; -T starts from skip-gram vectors."""

Vectors = tuple[NDArray[np.float32], NDArray[np.float32]]


@register("planetoid-t")
def planetoid_t(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Planetoid-T: every node has an embedding of its own."""
    return _planetoid(problem, seed, inductive=False)


@register("planetoid-i")
def planetoid_i(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Planetoid-I: the embedding is computed from the features."""
    return _planetoid(problem, seed, inductive=True)


@register("planetoid")
def planetoid(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Planetoid-T or -I, whichever is better on validation."""
    vectors = skip_gram(problem, seed, DIMENSIONS, WINDOW)
    return best_scores(
        [_planetoid(problem, seed, inductive, vectors) for inductive in (False, True)], problem
    )


def _planetoid(
    problem: Problem, seed: int, inductive: bool, vectors: Vectors | None = None
) -> NDArray[np.float32]:
    start = vectors or skip_gram(problem, seed, DIMENSIONS, WINDOW)

    def make() -> PlanetoidNetwork:
        network = PlanetoidNetwork(problem, start, inductive, np.random.default_rng(seed))
        if inductive:
            network.learn_contexts()
        return network

    def optimizer(network: PlanetoidNetwork) -> torch.optim.Optimizer:
        rest = [*network.features.parameters(), *network.classify.parameters()]
        groups = [
            {"params": network.shared(), "lr": LR if inductive else LR_OF_VECTORS},
            {"params": rest, "weight_decay": DECAY},
        ]
        return torch.optim.Adam(groups, lr=LR, fused=True)

    return train_scores(make, problem, seed, optimizer=optimizer)


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


class PlanetoidNetwork(Network):
    """Classes from the features and from an embedding, which predicts the contexts of a node as well."""

    def __init__(self, problem: Problem, vectors: Vectors, inductive: bool, rng: np.random.Generator) -> None:
        super().__init__()
        self._problem, self._graph, self._rng = problem, adjacency(problem), rng
        x = problem.inputs.x
        self.features = InputLinear(x, DIMENSIONS, DROPOUT)
        self.embedding = _FromFeatures(x, DIMENSIONS) if inductive else _Table(vectors[0])
        self.contexts = _Table(vectors[1])
        self.classify = torch.nn.Linear(2 * DIMENSIONS, problem.num_classes)

    def shared(self) -> list[torch.nn.Parameter]:
        """The parameters that predict contexts."""
        return [*self.embedding.parameters(), *self.contexts.parameters()]

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes."""
        x, embedded = self.features.rows(nodes), self.embedding.at(nodes)

        def logits() -> torch.Tensor:
            both = torch.cat([torch.relu(self.features(x)), embedded()], dim=1)
            out: torch.Tensor = self.classify(dropout(both, DROPOUT, self.training))
            return out

        return logits

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Add the loss of predicting contexts, drawn anew in every step."""
        return super().loss(logits, labels) + self.loss_of_contexts()

    def loss_of_contexts(self) -> torch.Tensor:
        """Skip-gram's loss on contexts that are drawn now."""
        node, near = draw_contexts(self._problem, self._graph, self._rng)
        far = torch.randint(self._problem.inputs.num_nodes, (len(node), NEGATIVES))
        embedded, place = self.embedding.indexed(node)
        pairs = torch.from_numpy(place), torch.from_numpy(near)
        return context_loss(embedded, self.contexts.weight, *pairs, far)

    def learn_contexts(self) -> None:
        """Learn to predict contexts, before any label is seen."""
        before = torch.optim.Adam(self.shared(), lr=LR, fused=True)
        for _ in range(STEPS_BEFORE):
            before.zero_grad(set_to_none=True)
            self.loss_of_contexts().backward()  # type: ignore[no-untyped-call]
            before.step()


def draw_contexts(
    problem: Problem, graph: Any, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (node, context): from every node a random walk of 1, 2 or 3 steps, and for every training
    node one of its class. Of a graph with more than `MOST_WALKS` nodes, so many are drawn in each step."""
    node = np.flatnonzero(np.diff(graph.indptr) > 0)
    if len(node) > MOST_WALKS:
        node = np.sort(rng.choice(node, MOST_WALKS, replace=False))
    length, at = rng.integers(1, WINDOW + 1, len(node)), node
    for number in range(WINDOW):
        at = np.where(number < length, step(graph, at, rng), at)
    one, other = (_by_class(problem, nodes) for nodes in (problem.train, rng.permutation(problem.train)))
    return np.append(node, one), np.append(at, other)


def _by_class(problem: Problem, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return nodes[np.argsort(problem.labels.numpy()[nodes], kind="stable")]


def context_loss(
    embedded: torch.Tensor, context: torch.Tensor, node: torch.Tensor, near: torch.Tensor, far: torch.Tensor
) -> torch.Tensor:
    """Skip-gram with negative sampling: ``-log σ(e·c)`` for near contexts, ``-log σ(-e·c)`` for far ones.

    `node` [P] are rows of `embedded` [M, D]; `near` [P] and `far` [P, S] are rows of `context` [N, D].
    """
    out: torch.Tensor = KernelLoss.apply(_contexts, (node, near, far), embedded, context)  # type: ignore[no-untyped-call]
    return out


@kernel
def _contexts(e: Any, c: Any, node: Any, near: Any, far: Any, grad_e: Any, grad_c: Any) -> float:
    """Mean over the pairs of ``-log σ(e·c) - Σ log σ(-e·c')``; gradients are added up in the same pass."""
    total, share = 0.0, np.float32(1.0 / node.shape[0])
    for p in range(node.shape[0]):
        i = node[p]
        for s in range(far.shape[1] + 1):
            j = near[p] if s == 0 else far[p, s - 1]
            product = dot(e, i, c, j)
            z = product if s == 0 else -product
            small = math.exp(-abs(z))
            total += float((max(-z, np.float32(0.0)) + math.log1p(small)) * share)
            wrong = np.float32((small if z > 0 else 1.0) / (1.0 + small)) * share
            slope = -wrong if s == 0 else wrong
            add(grad_e, i, c, j, slope)
            add(grad_c, j, e, i, slope)
    return total
