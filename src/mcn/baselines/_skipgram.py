"""Skip-gram with negative sampling over random walks (Mikolov et al. 2013), by a kernel of our own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.baselines._vectors import add, dot, exchange
from mcn.baselines._walks import Neighbours, walks
from mcn.baselines.task import Task
from mcn.nn._rng import derive, hash32

WALKS, LENGTH, NEGATIVES = 10, 40, 5
FAST, SLOW = 0.025, 0.0001
"""Learning rate at the beginning and at the end; it falls with every node that is read."""
_POWER, _SLOTS = 0.75, 1 << 20
_LANES = 32  # columns are filled up to a multiple with zeros, which stay zero: sums are then made by vectors
_REACH, _CELLS = 6.0, 1024  # of the table of σ: beyond ±6 a pair is taken as learnt


@kernel
def _learn(
    paths: Any, window: int, drawn: Any, sigma: Any, key: Any, vectors: Any, contexts: Any, change: Any
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
                far[s] = drawn[hash32(counter, key) & np.uint32(_SLOTS - 1)]
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
                    exchange(change[0], vectors, i, contexts, j, slope)
                add(vectors, i, change, 0, np.float32(1.0))


def skip_gram(
    task: Task, seed: int, dimensions: int, window: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Vectors of the nodes and of the nodes as contexts, [N, dimensions] each.

    From 10 walks of 40 nodes from every node, read once.
    """
    rng, graph = np.random.default_rng(seed), Neighbours.of(task)
    every = np.arange(task.num_nodes)
    paths = np.concatenate([walks(graph, rng.permutation(every), LENGTH - 1, rng) for _ in range(WALKS)])
    vectors, contexts, change = (
        np.zeros((rows, -(-dimensions // _LANES) * _LANES), np.float32)
        for rows in (task.num_nodes, task.num_nodes, 1)
    )
    vectors[:, :dimensions] = (rng.random((task.num_nodes, dimensions)) - 0.5) / dimensions
    middle = (np.arange(_CELLS) + 0.5) * (2 * _REACH / _CELLS) - _REACH
    sigma = np.array([1.0 / (1.0 + math.exp(-z)) for z in middle], np.float32)
    key = np.uint64(derive(seed, 0))
    _learn(paths, window, _slots(paths), sigma, key, vectors, contexts, change)
    return vectors[:, :dimensions].copy(), contexts[:, :dimensions].copy()


def _slots(paths: NDArray[np.int64]) -> NDArray[np.int64]:
    """A node in each of 2²⁰ slots, in proportion to the power 3/4 of how often it is walked over."""
    weight = np.cumsum(np.bincount(paths.reshape(-1)).astype(np.float64) ** _POWER)
    return np.asarray(np.searchsorted(weight, (np.arange(_SLOTS) + 0.5) / _SLOTS * weight[-1]), np.int64)
