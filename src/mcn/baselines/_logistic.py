"""Logistic regression whose regularisation is chosen on the validation nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn.baselines.task import Task

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Values of C (scikit-learn's inverse regularisation strength) that are tried."""


def logistic(x: Any, task: Task, strength: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit to the training nodes: weights [F, C] and intercepts [C].

    A class without training nodes gets zero weights and an intercept far below the others.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise ValueError("this baseline needs scikit-learn: pip install 'mcn[baselines]'") from None
    labels = task.train_labels
    weights = np.zeros((x.shape[1], task.num_classes))
    intercepts = np.full(task.num_classes, -1e3)
    present = np.unique(labels)
    if len(present) == 1:  # nothing to separate
        intercepts[present] = 0.0
        return weights, intercepts
    model = LogisticRegression(C=strength, max_iter=2000).fit(x[task.train], labels)
    coefficients, bias = model.coef_, model.intercept_
    if len(present) == 2:  # scikit-learn keeps the second class's weights only
        coefficients, bias = np.vstack([0 * coefficients, coefficients]), np.append(0 * bias, bias)
    weights[:, present], intercepts[present] = coefficients.T, bias
    return weights, intercepts


def best_scores(candidates: Iterable[NDArray[np.floating]], task: Task) -> NDArray[np.float32]:
    """The candidate with the highest validation accuracy; the first of equals."""
    return np.asarray(max(candidates, key=task.val_accuracy), np.float32)
