"""Figures of merit of a classifier, as scikit-learn defines them: one function for all of them.

Training asks for the metric up to six times in every epoch (all validation nodes, and five times all but a
fold), and scikit-learn's functions, which check and sort out their input first, together take longer than an
epoch on a small graph. These have arrays that are known to be right, and agree with scikit-learn's to the
last digits, ties included: a test compares them.
"""

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
SKEWED = 3
"""How many times as many nodes as in the smallest class make the largest one too large for accuracy."""
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
    if metric in ("balanced-accuracy", "macro-f1"):
        classes = int(max(labels.max(), probabilities.shape[1] - 1)) + 1
        there, said = (np.bincount(of, minlength=classes) for of in (labels, predicted))
        right = np.bincount(labels[labels == predicted], minlength=classes)
        if metric == "balanced-accuracy":  # of the classes that there are
            return float((right / np.maximum(there, 1))[there > 0].mean())
        either = there + said
        return float((2 * right / np.maximum(either, 1))[either > 0].mean())
    area = _roc_auc if metric == "roc-auc" else _average_precision
    columns = [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1])
    found = [area(labels == c, probabilities[:, c]) for c in columns if 0 < (labels == c).sum() < len(labels)]
    return float(np.mean(found)) if found else None


def ranking(probabilities: NDArray[Any], labels: NDArray[Any]) -> tuple[float | None, float]:
    """Return roc-auc and its standard error (Hanley and McNeil 1982); of several classes the mean error.

    >>> p = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.8, 0.2]])
    >>> area, error = ranking(p, np.array([0, 0, 1, 1]))
    >>> area, round(error, 2)
    (0.75, 0.28)
    """
    columns = [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1])
    errors = []
    for c in columns:
        own = labels == c
        count, others = int(own.sum()), int((~own).sum())
        if count and others:
            a = _roc_auc(own, probabilities[:, c])
            twice, both = a / (2 - a) - a**2, 2 * a**2 / (1 + a) - a**2
            spread = a * (1 - a) + (count - 1) * twice + (others - 1) * both
            errors.append(max(spread, 0.25) ** 0.5 / (count * others) ** 0.5)
    return score("roc-auc", probabilities, labels), float(np.mean(errors)) if errors else 0.0


def best_threshold(probabilities: NDArray[Any], labels: NDArray[Any]) -> dict[str, float] | None:
    """Return the probability from which on to say the second of two classes, and the balanced accuracy then.

    None for other numbers of classes, and where nodes of one are missing. Of equally good ones it is the
    nearest to one half.

    >>> second = np.array([0.1, 0.2, 0.3, 0.4])
    >>> best_threshold(np.column_stack([1 - second, second]), np.array([0, 0, 1, 1]))
    {'probability': 0.25, 'balanced_accuracy': 1.0}
    """
    if probabilities.shape[1] != 2 or len(np.unique(labels)) < 2:
        return None
    values = np.concatenate([[0.0], np.unique(probabilities[:, 1]), [1.0]])
    middles = (values[1:] + values[:-1]) / 2
    first, second = (np.sort(probabilities[labels == c, 1]) for c in (0, 1))
    right = np.searchsorted(first, middles) / len(first), 1 - np.searchsorted(second, middles) / len(second)
    balanced = (right[0] + right[1]) / 2
    best = np.lexsort((abs(middles - 0.5), -balanced))[0]
    return {"probability": float(middles[best]), "balanced_accuracy": float(balanced[best])}


def _thresholds(own: NDArray[np.bool_], scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Nodes of the class, and all nodes, at or above each of the different scores, from the highest down."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    return np.cumsum(own[order])[last], last + 1


def _roc_auc(own: NDArray[np.bool_], scores: NDArray[Any]) -> float:
    """The area under the share of the class over the share of the others, by trapezoids."""
    hits, taken = _thresholds(own, scores)
    false = taken - hits
    area = np.sum(np.diff(false, prepend=0) * (hits + np.append(0, hits[:-1]))) / 2
    return float(area / (hits[-1] * false[-1]))


def _average_precision(own: NDArray[np.bool_], scores: NDArray[Any]) -> float:
    """The precision at every threshold, weighted by the recall that it adds."""
    hits, taken = _thresholds(own, scores)
    return float(np.sum(np.diff(hits, prepend=0) * (hits / taken)) / hits[-1])


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
    return float(0.0 - np.log(own).mean())  # not -0.0 where everything is certain


def all_scores(probabilities: NDArray[Any], labels: NDArray[Any]) -> dict[str, float | None]:
    """Return every metric by name."""
    return {metric: score(metric, probabilities, labels) for metric in METRICS}


def better(metric: str, first: float, second: float) -> bool:
    """Whether the first value of a metric is better than the second."""
    return first < second if metric in LESS_IS_BETTER else first > second


def shown(metric: str, value: float | None) -> str:
    """Return the value of a metric as it is printed.

    >>> shown("roc-auc", 0.5), shown("log-loss", 0.5), shown("roc-auc", None)
    ('50.0%', '0.500', '–')
    """
    if value is None:
        return "–"
    return f"{value:.3f}" if metric in LESS_IS_BETTER else f"{value:.1%}"


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
