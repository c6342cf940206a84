"""Figures of merit of a classifier, through scikit-learn: one function for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._names import one_of

METRICS: dict[str, str] = {
    "accuracy": "share of the nodes whose class is right",
    "balanced-accuracy": "mean over the classes of the share of their nodes that is right",
    "macro-f1": "mean over the classes of F1",
    "roc-auc": "area under the ROC curve; with several classes the mean over one against the rest",
    "average-precision": "area under precision over recall; of several classes as for roc-auc",
    "log-loss": "mean negative logarithm of the probability of the right class (less is better)",
}
"""Every metric by its name, in a sentence."""
LESS_IS_BETTER = ("log-loss",)
_BINS = 10


def score(metric: str, probabilities: NDArray[Any], labels: NDArray[Any]) -> float | None:
    """Return a metric of class scores [n, C] for n nodes with known classes.

    None where it is not defined: no nodes, or, for roc-auc and average-precision, a class that none or all of
    the nodes have (of several classes, such are left out of the mean), and for log-loss scores that are not
    probabilities.

    >>> p = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.8, 0.2]])
    >>> score("accuracy", p, np.array([0, 0, 1, 1])), score("roc-auc", p, np.array([0, 0, 1, 1]))
    (0.75, 0.75)
    """
    one_of("metric", metric, METRICS)
    labels = np.asarray(labels)
    if not len(labels):
        return None
    predicted = probabilities.argmax(1)
    if metric == "accuracy":
        return float((predicted == labels).mean())
    if metric == "log-loss":
        return _log_loss(probabilities, labels)
    from sklearn import metrics

    if metric == "balanced-accuracy":
        # Of the classes that there are: scikit-learn warns of predictions outside them, which is no mistake.
        shares = [(predicted[labels == c] == c).mean() for c in np.unique(labels)]
        return float(np.mean(shares))
    if metric == "macro-f1":
        return float(metrics.f1_score(labels, predicted, average="macro", zero_division=0.0))
    function = metrics.roc_auc_score if metric == "roc-auc" else metrics.average_precision_score
    if probabilities.shape[1] == 2:
        return float(function(labels, probabilities[:, 1])) if len(np.unique(labels)) == 2 else None
    found = [
        float(function(labels == c, probabilities[:, c]))
        for c in range(probabilities.shape[1])
        if 0 < (labels == c).sum() < len(labels)
    ]
    return float(np.mean(found)) if found else None


def merit(metric: str, probabilities: NDArray[Any], labels: NDArray[Any]) -> float | None:
    """Return a metric as a number of which more is better; None where it is not defined."""
    found = score(metric, probabilities, labels)
    return -found if found is not None and metric in LESS_IS_BETTER else found


def _log_loss(probabilities: NDArray[Any], labels: NDArray[Any]) -> float | None:
    p = np.asarray(probabilities, np.float64)
    if p.min() < 0 or not np.allclose(p.sum(1), 1.0, atol=1e-4):
        return None
    p = p / p.sum(1, keepdims=True)
    own = np.clip(p[np.arange(len(labels)), labels], np.finfo(np.float64).eps, None)
    return float(-np.log(own).mean())


def all_scores(probabilities: NDArray[Any], labels: NDArray[Any]) -> dict[str, float | None]:
    """Return every metric by name."""
    return {metric: score(metric, probabilities, labels) for metric in METRICS}


def better(metric: str, first: float, second: float) -> bool:
    """Whether the first value of a metric is better than the second."""
    return first < second if metric in LESS_IS_BETTER else first > second


@dataclass(frozen=True)
class Calibration:
    """How often predictions of a given confidence are right, in bins of equal width.

    confidence: mean probability of the predicted class. accuracy: share that is right. count: nodes. Bins
    without nodes are left out. error: the mean of |confidence − accuracy|, weighted by the counts.
    """

    confidence: tuple[float, ...]
    accuracy: tuple[float, ...]
    count: tuple[int, ...]

    @property
    def error(self) -> float:
        """The expected calibration error."""
        gaps = np.abs(np.subtract(self.confidence, self.accuracy))
        return float(np.average(gaps, weights=self.count)) if self.count else 0.0


def calibration(probabilities: NDArray[Any], labels: NDArray[Any], bins: int = _BINS) -> Calibration:
    """Return the calibration curve of the predicted classes."""
    sure, right = probabilities.max(1), probabilities.argmax(1) == labels
    place = np.clip((sure * bins).astype(np.int64), 0, bins - 1)
    used = np.unique(place)
    return Calibration(
        tuple(float(sure[place == b].mean()) for b in used),
        tuple(float(right[place == b].mean()) for b in used),
        tuple(int((place == b).sum()) for b in used),
    )
