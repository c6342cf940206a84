"""Random walks on the graph of a task."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcn.baselines._arrays import adjacency
from mcn.baselines.task import Task


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of node i are ``indices[indptr[i]:indptr[i + 1]]``."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]

    @classmethod
    def of(cls, task: Task) -> Neighbours:
        """Of the nodes of a task."""
        a = adjacency(task)
        return cls(a.indptr.astype(np.int64), a.indices.astype(np.int64))

    def step(self, nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """A neighbour of each node, drawn uniformly; a node without neighbours stays where it is."""
        degree = self.indptr[nodes + 1] - self.indptr[nodes]
        if not len(self.indices):
            return nodes
        slot = self.indptr[nodes] + (rng.random(len(nodes)) * degree).astype(np.int64)
        return np.where(degree > 0, self.indices[np.minimum(slot, len(self.indices) - 1)], nodes)


def walks(
    graph: Neighbours, start: NDArray[np.int64], steps: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """One walk from every node of `start`: ids [len(start), steps + 1]."""
    path = [start]
    for _ in range(steps):
        path.append(graph.step(path[-1], rng))
    return np.stack(path, axis=1)
