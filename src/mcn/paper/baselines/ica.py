"""Iterative classification (Lu and Getoor 2003), with the protocol of the GCN paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from mcn.experiments.engine.methods import register
from mcn.paper.baselines.matrices import STRENGTHS, adjacency, best_scores, logistic, one_hot, unit_features
from mcn.train import Problem

ITERATIONS = 10
SCALES = (1.0, 3.0, 10.0)
"""Lengths of the feature vectors that are tried: how much they weigh beside the counts."""


@register("ica", probabilities=False)
def ica(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Logistic regression on features and counts of the neighbours' classes, applied again and again.

    A first classifier, on features alone, guesses the classes of all unlabelled nodes; a second one is
    fitted to features and counts, and relabels the unlabelled nodes one by one, in an order drawn anew for
    each of 10 iterations. Regularisation chosen on validation.
    """
    x, a = unit_features(problem), adjacency(problem)
    candidates = (
        _classify(problem, scale * x, a, seed, strength) for scale in SCALES for strength in STRENGTHS
    )
    return best_scores(candidates, problem)


def neighbour_counts(a: Any, labels: NDArray[np.int64], num_classes: int) -> NDArray[np.float64]:
    """How many neighbours of each node have each class [N, C]; a label of -1 counts for none."""
    counts: NDArray[np.float64] = a @ one_hot(labels, num_classes)
    return counts


def _classify(problem: Problem, x: Any, a: Any, seed: int, strength: float) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    weights, intercepts = logistic(x, problem, strength)
    labels = np.asarray((x @ weights + intercepts).argmax(1), np.int64)
    labels[problem.train] = problem.train_labels.numpy()
    counts = neighbour_counts(a, labels, problem.num_classes)
    both = sp.csr_array(sp.hstack([x, sp.csr_array(counts)]))
    weights, intercepts = logistic(both, problem, strength)
    own, relational = x @ weights[: x.shape[1]] + intercepts, weights[x.shape[1] :]
    unlabelled = np.setdiff1d(np.arange(problem.inputs.num_nodes), problem.train)
    for _ in range(ITERATIONS):
        relabel(rng.permutation(unlabelled), a.indptr, a.indices, own, relational, labels, counts)
    return np.asarray(own + counts @ relational)


@kernel
def relabel(
    order: Any, indptr: Any, indices: Any, own: Any, relational: Any, labels: Any, counts: Any
) -> None:
    """Give each node of `order` its best class by ``own + counts · relational``; keep `counts` true."""
    classes = own.shape[1]
    for n in range(order.shape[0]):
        i = order[n]
        best, best_score = 0, -np.inf
        for c in range(classes):
            score = own[i, c]
            for d in range(classes):
                score += counts[i, d] * relational[d, c]
            if score > best_score:
                best, best_score = c, score
        if best != labels[i]:
            for e in range(indptr[i], indptr[i + 1]):
                counts[indices[e], labels[i]] -= 1
                counts[indices[e], best] += 1
            labels[i] = best
