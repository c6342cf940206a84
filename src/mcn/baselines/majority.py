"""Always the most frequent class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcn.baselines.inputs import one_hot
from mcn.baselines.registry import register
from mcn.train import Problem


@register("majority", graph=False)
def majority(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Every node gets the shares of the classes among the nodes with a known label.

    Known are training and validation labels: training parts with the same number of nodes per class, as
    in the citation graphs, do not say which class is the largest.
    """
    return np.tile(class_shares(problem).astype(np.float32), (problem.inputs.num_nodes, 1))


def class_shares(problem: Problem) -> NDArray[np.float64]:
    """Shares of the classes among training and validation nodes."""
    known = problem.labels.numpy()
    return np.asarray(one_hot(known[known >= 0], problem.num_classes).mean(0))
