"""Figures of merit, as scikit-learn defines them: one function for all of them.

Training asks for the metric up to six times in every epoch (all validation nodes, and five times all but a
fold), and scikit-learn's functions, which check and sort out their input first, together take longer than an
epoch on a small graph. These have arrays that are known to be right, and agree with scikit-learn's to the
last digits, ties included: a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import one_of

METRICS: dict[str, str] = {
    "accuracy": "share of the nodes whose class is right",
    "balanced-accuracy": "mean over the classes of the share of their nodes that is right",
    "macro-f1": "mean over the classes of F1",
    "roc-auc": "area under the ROC curve; with several classes the mean over one against the rest",
    "average-precision": "area under precision over recall; of several classes as for roc-auc",
    "log-loss": "mean negative logarithm of the probability of the right class (less is better)",
    "r2": "of a numeric target: share of the variance that is explained",
    "mae": "of a numeric target: mean absolute error (less is better)",
    "mse": "of a numeric target: mean squared error (less is better)",
    "macro-ap": "of several yes/no targets: mean over them of average-precision",
    "micro-ap": "of several yes/no targets: average-precision over all of them at once",
    "macro-auc": "of several yes/no targets: mean over them of roc-auc",
    "micro-auc": "of several yes/no targets: roc-auc over all of them at once",
}
"""Every metric by its name, in a sentence."""
TASK_METRICS: dict[str, tuple[str, ...]] = {
    "classes": tuple(METRICS)[:6],
    "regression": tuple(METRICS)[6:9],
    "multilabel": tuple(METRICS)[9:],
}
"""The metrics of every task, the usual one first."""
LESS_IS_BETTER = ("log-loss", "mae", "mse")
SKEWED = 3
"""How many times as many nodes as in the smallest class make the largest one too large for accuracy."""
_BINS, _TRIED = 10, 100


def score(
    metric: str, outputs: NDArray[Any], targets: NDArray[Any], predicted: NDArray[Any] | None = None
) -> float | None:
    """Return a metric of what is predicted, [n, outputs], for n nodes with known targets.

    `predicted` are the classes, where they are not the most probable ones.

    None where it is not defined: no nodes, for areas a class that none or all of the nodes have (of several
    classes or targets, such are left out of the mean), for log-loss scores that are not probabilities, and
    for r2 targets that are all the same.

    >>> p = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.8, 0.2]])
    >>> score("accuracy", p, np.array([0, 0, 1, 1])), score("roc-auc", p, np.array([0, 0, 1, 1]))
    (0.75, 0.75)
    """
    one_of("metric", metric, METRICS)
    targets = np.asarray(targets)
    if not len(targets):
        return None
    if metric in TASK_METRICS["regression"]:
        return _of_numbers(metric, np.asarray(outputs[:, 0], np.float64), targets.astype(np.float64))
    if metric in TASK_METRICS["multilabel"]:
        area = _roc_auc if metric.endswith("auc") else _average_precision
        yes = targets > 0.5
        if metric.startswith("micro"):
            outputs, yes = outputs.reshape(-1, 1), yes.reshape(-1, 1)
        return _mean_area(area, [(yes[:, i], outputs[:, i]) for i in range(yes.shape[1])])
    if metric == "log-loss":
        return _log_loss(outputs, targets)
    if metric in ("roc-auc", "average-precision"):
        area = _roc_auc if metric == "roc-auc" else _average_precision
        columns = [1] if outputs.shape[1] == 2 else range(outputs.shape[1])
        return _mean_area(area, [(targets == c, outputs[:, c]) for c in columns])
    predicted = outputs.argmax(1) if predicted is None else predicted
    if metric == "accuracy":
        return float((predicted == targets).mean())
    classes = int(max(targets.max(), outputs.shape[1] - 1)) + 1
    there, said = (np.bincount(of, minlength=classes) for of in (targets, predicted))
    right = np.bincount(targets[targets == predicted], minlength=classes)
    if metric == "balanced-accuracy":  # of the classes that there are
        return float((right / np.maximum(there, 1))[there > 0].mean())
    either = there + said
    return float((2 * right / np.maximum(either, 1))[either > 0].mean())


def _mean_area(area: Callable[..., float], columns: list[tuple[NDArray[Any], NDArray[Any]]]) -> float | None:
    """Return the mean of an area over the columns that have nodes of both kinds."""
    found = [area(own, values) for own, values in columns if 0 < own.sum() < len(own)]
    return float(np.mean(found)) if found else None


def _of_numbers(metric: str, numbers: NDArray[np.float64], targets: NDArray[np.float64]) -> float | None:
    off = numbers - targets
    if metric != "r2":
        return float(np.abs(off).mean() if metric == "mae" else (off**2).mean())
    spread = ((targets - targets.mean()) ** 2).sum()
    return float(1 - (off**2).sum() / spread) if spread > 0 else None


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


def best_threshold(probabilities: NDArray[Any], labels: NDArray[Any], metric: str) -> float | None:
    """Return the probability from which on to say the second of two classes, for a metric of classes.

    None for other numbers of classes, and where nodes of one are missing. Of equally good ones it is the
    nearest to one half; of many values, hundred are tried.

    >>> second = np.array([0.1, 0.2, 0.3, 0.4])
    >>> best_threshold(np.column_stack([1 - second, second]), np.array([0, 0, 1, 1]), "macro-f1")
    0.25
    """
    if probabilities.shape[1] != 2 or len(np.unique(labels)) < 2:
        return None
    second = probabilities[:, 1].astype(np.float64)
    values = np.concatenate([[0.0], np.unique(second), [1.0]])
    middles = (values[1:] + values[:-1]) / 2
    if len(middles) > _TRIED:
        middles = np.unique(np.quantile(middles, np.linspace(0, 1, _TRIED)))
    found = [score(metric, probabilities, labels, (second >= each).astype(np.int64)) for each in middles]
    best = middles[np.array(found) == max(value for value in found if value is not None)]
    return float(best[np.abs(best - 0.5).argmin()])


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


def merit(metric: str, value: float | None) -> float | None:
    """Return the value of a metric as a number of which more is better."""
    return -value if value is not None and metric in LESS_IS_BETTER else value


def _log_loss(probabilities: NDArray[Any], labels: NDArray[Any]) -> float | None:
    p = np.asarray(probabilities, np.float64)
    if p.min() < 0 or not np.allclose(p.sum(1), 1.0, atol=1e-4):
        return None
    p = p / p.sum(1, keepdims=True)
    own = np.clip(p[np.arange(len(labels)), labels], np.finfo(np.float64).eps, None)
    return float(0.0 - np.log(own).mean())  # not -0.0 where everything is certain


def shown(metric: str, value: float | None) -> str:
    """Return the value of a metric as it is printed.

    >>> shown("roc-auc", 0.5), shown("log-loss", 0.5), shown("roc-auc", None), shown("mae", 1234.5)
    ('50.0%', '0.500', '–', '1234')
    """
    if value is None:
        return "–"
    if metric in ("mae", "mse"):  # in the unit of the target, or its square
        return f"{value:.4g}"
    return f"{value:.3f}" if metric in ("log-loss", "r2") else f"{value:.1%}"


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


def calibration(probabilities: NDArray[Any], labels: NDArray[Any], predicted: NDArray[Any]) -> Calibration:
    """Return the calibration curve of the predicted classes."""
    sure, right = probabilities[np.arange(len(labels)), predicted], predicted == labels
    place = np.clip((sure * _BINS).astype(np.int64), 0, _BINS - 1)
    used = np.unique(place)
    return Calibration(
        tuple(float(sure[place == b].mean()) for b in used),
        tuple(float(right[place == b].mean()) for b in used),
        tuple(int((place == b).sum()) for b in used),
    )
