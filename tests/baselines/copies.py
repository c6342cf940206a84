"""Graphs made of near copies of one part, and graphs that are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from mcn.baselines import Task


def contacts(nodes: int, seed: int) -> NDArray[np.int64]:
    """Edges int64 [M, 2] of a random geometric graph: places in a square, joined if close; degree 8 or so."""
    place = np.random.default_rng(seed).random((nodes, 2)) * np.sqrt(nodes)
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    return np.argwhere(np.triu(distance < 1.9, 1))


def copies(nodes: int = 100, number: int = 4, dropped: float = 0.1, seed: int = 0) -> tuple[Any, Any]:
    """A, and the place of each node in its copy: copies with a share of their edges dropped, shuffled."""
    rng = np.random.default_rng(seed)
    edges = contacts(nodes, seed)
    own = [edges[rng.random(len(edges)) >= dropped] + nodes * copy for copy in range(number)]
    order = rng.permutation(nodes * number)
    place = np.empty(nodes * number, np.int64)
    place[order] = np.arange(nodes * number) % nodes
    return matrix(order[np.concatenate(own)], nodes * number), place


def matrix(pairs: NDArray[np.int64], nodes: int) -> Any:
    both = np.concatenate([pairs, pairs[:, ::-1]]).T
    return sp.csr_array((np.ones(both.shape[1]), tuple(both)), shape=(nodes, nodes))


def task_of(adjacency: Any, classes: NDArray[np.int64], seed: int = 0, share: float = 0.15) -> Task:
    """A share of the nodes for training, a quarter for validation; no label elsewhere, no features."""
    n = len(classes)
    order = np.random.default_rng(seed).permutation(n)
    train, val = order[: int(share * n)], order[int(share * n) : int((share + 0.25) * n)]
    labels = torch.full((n,), -1)
    for part in (train, val):
        labels[part] = torch.from_numpy(classes[part])
    edges = np.stack(adjacency.nonzero()).astype(np.int64)
    return Task(torch.zeros(n, 1), edges, labels, train, val, int(classes.max()) + 1)
