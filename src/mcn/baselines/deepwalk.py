"""DeepWalk (Perozzi, Al-Rfou and Skiena 2014): skip-gram over random walks, then logistic regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcn.baselines._logistic import STRENGTHS, best_scores, logistic
from mcn.baselines._skipgram import skip_gram
from mcn.baselines.registry import register
from mcn.baselines.task import Task

DIMENSIONS, WINDOW = 128, 5


@register("deepwalk", needs=("sklearn",), probabilities=False)
def deepwalk(task: Task, seed: int) -> NDArray[np.float32]:
    """Classes from the position in the graph alone, no features; regularisation chosen on validation."""
    vectors = skip_gram(task, seed, DIMENSIONS, WINDOW)[0].astype(np.float64)
    z = (vectors - vectors.mean(0)) / np.maximum(vectors.std(0), 1e-12)
    fitted = (logistic(z, task, strength) for strength in STRENGTHS)
    return best_scores((z @ weights + intercepts for weights, intercepts in fitted), task)
