"""LINK (Zheleva and Getoor 2009): logistic regression on the rows of the adjacency matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from mcn.experiments import register, val_accuracy
from mcn.paper.baselines import adjacency
from mcn.train import Problem

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Values of C (scikit-learn's inverse regularisation strength) that are tried."""


@register("link")
def link(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Logistic regression on whom a node is joined to, no features; regularisation chosen on validation."""
    candidates = [_probabilities(problem, strength) for strength in STRENGTHS]
    return max(candidates, key=lambda scores: val_accuracy(problem, scores))


def _probabilities(problem: Problem, strength: float) -> NDArray[np.float32]:
    rows = adjacency(problem)
    model = LogisticRegression(C=strength, max_iter=2000).fit(
        rows[problem.train], problem.train_labels.numpy()
    )
    scores = np.zeros((problem.inputs.num_nodes, problem.num_classes), np.float32)
    scores[:, model.classes_] = model.predict_proba(rows)
    return scores
