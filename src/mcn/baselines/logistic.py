"""Logistic regression on the training nodes, for the methods that choose its strength on validation nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from mcn.train import Problem

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Values of C (scikit-learn's inverse regularisation strength) that are tried."""


def logistic(x: Any, problem: Problem, strength: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit to the training nodes: weights [F, C] and intercepts [C].

    A class without training nodes gets zero weights and an intercept far below the others.
    """
    labels = problem.train_labels.numpy()
    weights = np.zeros((x.shape[1], problem.num_classes))
    intercepts = np.full(problem.num_classes, -1e3)
    present = np.unique(labels)
    if len(present) == 1:  # nothing to separate
        intercepts[present] = 0.0
        return weights, intercepts
    model = LogisticRegression(C=strength, max_iter=2000).fit(x[problem.train], labels)
    coefficients, bias = model.coef_, model.intercept_
    if len(present) == 2:  # scikit-learn keeps the second class's weights only
        coefficients, bias = np.vstack([0 * coefficients, coefficients]), np.append(0 * bias, bias)
    weights[:, present], intercepts[present] = coefficients.T, bias
    return weights, intercepts
