"""Always the most frequent class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcn.baselines._arrays import one_hot
from mcn.baselines.registry import register
from mcn.baselines.task import Task


@register("majority", graph=False)
def majority(task: Task, seed: int) -> NDArray[np.float32]:
    """Every node gets the shares of the classes among the nodes with a known label.

    Known are training and validation labels: training parts with the same number of nodes per class, as
    in the citation graphs, do not say which class is the largest.
    """
    share = class_shares(task)
    return np.tile(share.astype(np.float32), (task.num_nodes, 1))


def class_shares(task: Task) -> NDArray[np.float64]:
    """Shares of the classes among training and validation nodes."""
    known = task.labels.numpy()
    return np.asarray(one_hot(known[known >= 0], task.num_classes).mean(0))
