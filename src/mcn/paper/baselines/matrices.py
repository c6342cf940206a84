"""Matrices and scores that several baselines are made of: adjacency, features, logistic regression."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from mcn.data import feature_csr
from mcn.experiments.engine.methods import val_accuracy
from mcn.train import Problem

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Values of C (scikit-learn's inverse regularisation strength) that are tried."""


def best_scores(candidates: Iterable[NDArray[np.floating[Any]]], problem: Problem) -> NDArray[np.float32]:
    """Return the scores [N, C] with the highest validation accuracy; the first of equals."""
    return np.asarray(max(candidates, key=lambda scores: val_accuracy(problem, scores)), np.float32)


def adjacency(problem: Problem) -> Any:
    """A: CSR float64 [N, N], symmetric, ones."""
    row, column = problem.inputs.edge_index
    nodes = problem.inputs.num_nodes
    return sp.csr_array((np.ones(len(row)), (row, column)), shape=(nodes, nodes))


def symmetric(matrix: Any) -> Any:
    """D^-1/2 M D^-1/2, D the row sums of M; an empty row stays empty."""
    degree = np.asarray(matrix.sum(1)).ravel()
    root = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return sp.csr_array(sp.diags_array(root) @ matrix @ sp.diags_array(root))


def unit_features(problem: Problem) -> Any:
    """Features as CSR float64 with rows of Euclidean length 1 (rows of zeros stay)."""
    x: Any = feature_csr(problem.inputs.x).astype(np.float64)
    length = np.sqrt(np.asarray((x * x).sum(1)).ravel())
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return sp.csr_array(sp.diags_array(scale) @ x)


def one_hot(labels: NDArray[np.int64], num_classes: int) -> NDArray[np.float64]:
    """A row per label with a 1 in its column; a row of zeros for -1."""
    return np.asarray(labels[:, None] == np.arange(num_classes), np.float64)


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


def class_shares(problem: Problem) -> NDArray[np.float64]:
    """Shares of the classes among training and validation nodes."""
    known = problem.labels.numpy()
    return np.asarray(one_hot(known[known >= 0], problem.num_classes).mean(0))
