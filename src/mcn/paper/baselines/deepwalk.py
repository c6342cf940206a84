"""DeepWalk (Perozzi, Al-Rfou and Skiena 2014): skip-gram over random walks, then logistic regression.

Skip-gram with negative sampling (Mikolov et al. 2013) is a kernel of our own; Planetoid begins with it too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._jit import kernel, unordered_kernel
from mcn.experiments.engine.methods import register
from mcn.nn._rng import derive, hash32
from mcn.paper.baselines.matrices import STRENGTHS, adjacency, best_scores, logistic
from mcn.train import Problem

DIMENSIONS, WINDOW = 128, 5
WALKS, LENGTH, NEGATIVES = 10, 40, 5
FAST, SLOW = 0.025, 0.0001
"""Learning rate at the beginning and at the end; it falls with every node that is read."""
_POWER, _SLOTS = 0.75, 1 << 20
_LANES = 32  # columns are filled up to a multiple with zeros, which stay zero: sums are then made by vectors
_REACH, _CELLS = 6.0, 1024  # of the table of σ: beyond ±6 a pair is taken as learnt


@register("deepwalk", probabilities=False)
def deepwalk(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Classes from the position in the graph alone, no features; regularisation chosen on validation."""
    vectors = skip_gram(problem, seed, DIMENSIONS, WINDOW)[0].astype(np.float64)
    z = (vectors - vectors.mean(0)) / np.maximum(vectors.std(0), 1e-12)
    fitted = (logistic(z, problem, strength) for strength in STRENGTHS)
    return best_scores((z @ weights + intercepts for weights, intercepts in fitted), problem)


def step(graph: Any, nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A neighbour of each node in a CSR graph, drawn uniformly; a node without neighbours stays put."""
    degree = graph.indptr[nodes + 1] - graph.indptr[nodes]
    if not len(graph.indices):
        return nodes
    slot = graph.indptr[nodes] + (rng.random(len(nodes)) * degree).astype(np.int64)
    return np.where(degree > 0, graph.indices[np.minimum(slot, len(graph.indices) - 1)], nodes)


def walks(graph: Any, start: NDArray[np.int64], steps: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """One walk from every node of `start`: ids [len(start), steps + 1]."""
    path = [start]
    for _ in range(steps):
        path.append(step(graph, path[-1], rng))
    return np.stack(path, axis=1)


def skip_gram(
    problem: Problem, seed: int, dimensions: int, window: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Vectors of the nodes and of the nodes as contexts, [N, dimensions] each.

    From 10 walks of 40 nodes from every node, read once.
    """
    rng, graph, nodes = np.random.default_rng(seed), adjacency(problem), problem.inputs.num_nodes
    starts = (rng.permutation(np.arange(nodes)) for _ in range(WALKS))
    paths = np.concatenate([walks(graph, start, LENGTH - 1, rng) for start in starts])
    vectors, contexts, change = (
        np.zeros((rows, -(-dimensions // _LANES) * _LANES), np.float32) for rows in (nodes, nodes, 1)
    )
    vectors[:, :dimensions] = (rng.random((nodes, dimensions)) - 0.5) / dimensions
    middle = (np.arange(_CELLS) + 0.5) * (2 * _REACH / _CELLS) - _REACH
    sigma = np.array([1.0 / (1.0 + math.exp(-z)) for z in middle], np.float32)
    key = np.uint64(derive(seed, 0))
    read_walks(paths, window, negative_slots(paths), sigma, key, vectors, contexts, change)
    return vectors[:, :dimensions].copy(), contexts[:, :dimensions].copy()


def negative_slots(paths: NDArray[np.int64]) -> NDArray[np.int64]:
    """A node in each of 2²⁰ slots, in proportion to the power 3/4 of how often it is walked over."""
    weight = np.cumsum(np.bincount(paths.reshape(-1)).astype(np.float64) ** _POWER)
    return np.asarray(np.searchsorted(weight, (np.arange(_SLOTS) + 0.5) / _SLOTS * weight[-1]), np.int64)


@unordered_kernel
def dot(a: Any, i: int, b: Any, j: int) -> np.float32:
    """``a[i] · b[j]`` in float32."""
    total = np.float32(0.0)
    for c in range(a.shape[1]):
        total += a[i, c] * b[j, c]
    return total


@unordered_kernel
def add(a: Any, i: int, b: Any, j: int, times: np.float32) -> None:
    """``a[i] += times · b[j]``; the two rows are different ones."""
    target, source = a[i], b[j]
    for c in range(target.shape[0]):
        target[c] += times * source[c]


@unordered_kernel
def _exchange(change: Any, a: Any, i: int, b: Any, j: int, times: np.float32) -> None:
    """``change += times · b[j]`` and ``b[j] += times · a[i]`` in one pass; three different rows."""
    for c in range(a.shape[1]):
        before = b[j, c]
        change[c] += times * before
        b[j, c] = before + times * a[i, c]


@kernel
def read_walks(
    paths: Any, window: int, slots: Any, sigma: Any, key: Any, vectors: Any, contexts: Any, change: Any
) -> None:
    """One pass over the walks: every node predicts the nodes around it, up to `window` steps away.

    How far is drawn for every node, and so are the negatives, which all its pairs share: their rows stay in
    the cache, which makes most of the difference to a pass with negatives of its own for every pair.
    """
    steps, counter = paths.size, 0
    far = np.empty(NEGATIVES + 1, np.int64)
    for walk in range(paths.shape[0]):
        for t in range(paths.shape[1]):
            done = (walk * paths.shape[1] + t) / steps
            rate = np.float32(max(FAST * (1.0 - done), SLOW))
            far[0] = paths[walk, t]
            for s in range(1, NEGATIVES + 1):
                far[s] = slots[hash32(counter, key) & np.uint32(_SLOTS - 1)]
                counter += 1
            reach = 1 + int(hash32(counter, key) % np.uint32(window))
            counter += 1
            for at in range(max(0, t - reach), min(paths.shape[1], t + reach + 1)):
                if at == t:
                    continue
                i = paths[walk, at]
                change[:] = np.float32(0.0)
                for s in range(NEGATIVES + 1):
                    j = far[s]
                    if s > 0 and j == far[0]:
                        continue
                    product = dot(vectors, i, contexts, j)
                    if abs(product) >= _REACH:
                        continue
                    expected = sigma[int((product + _REACH) * (_CELLS / (2 * _REACH)))]
                    slope = ((np.float32(1.0) if s == 0 else np.float32(0.0)) - expected) * rate
                    _exchange(change[0], vectors, i, contexts, j, slope)
                add(vectors, i, change, 0, np.float32(1.0))
