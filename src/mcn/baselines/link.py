"""LINK (Zheleva and Getoor 2009): logistic regression on the rows of the adjacency matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcn.baselines._arrays import adjacency
from mcn.baselines._logistic import STRENGTHS, best_scores, logistic
from mcn.baselines.registry import register
from mcn.baselines.task import Task


@register("link", needs=("sklearn",), probabilities=False)
def link(task: Task, seed: int) -> NDArray[np.float32]:
    """Logistic regression on whom a node is joined to, no features; regularisation chosen on validation."""
    a = adjacency(task)
    fitted = (logistic(a, task, strength) for strength in STRENGTHS)
    return best_scores((a @ weights + intercepts for weights, intercepts in fitted), task)
