"""One class per node."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from mcn.data.checks import both_ways
from mcn.train.metrics import SKEWED, best_threshold, ranking, shown
from mcn.train.tasks.task import GUESSING, Boosted, Displayed, Evidence, Float, Task

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.train.problem import Known

TEMPERATURES = np.geomspace(0.01, 5.0, 40)
_ABSENT = math.log(1e-7)  # the score of a class without a training node, before anything is learned
_FEW, _VALUES = 5, 200_000
_warnings = threading.Lock()
_LOW_HOMOPHILY = 0.2
_SHOWN = 50  # with more classes, a table has no column for each


@contextmanager
def with_many_classes(labels: NDArray[Any]) -> Iterator[None]:
    """Keep scikit-learn from asking whether classes with few nodes each are numbers, which they are not."""
    if labels.dtype.kind == "f" or len(np.unique(labels)) <= len(labels) // 5:
        yield
        return
    with _warnings, warnings.catch_warnings():  # in one thread at a time: filters are the process's
        warnings.filterwarnings("ignore", "The number of unique classes is greater")
        yield


class ClassEvidence(Evidence):
    """How predictions of held-out nodes compare with always the most frequent class, by two measures."""

    @property
    def area(self) -> str:
        """ROC-AUC in words."""
        return f"ROC-AUC {shown('roc-auc', self.auc)} ± {100 * self.auc_error:.1f}"

    @property
    def compared(self) -> str:
        """Both figures in words."""
        return (
            f"of held-out nodes {self.value:.1%} are right, always the most frequent class {self.guess:.1%}, "
            f"{self.area} (chance is 50%)"
        )


@dataclass(frozen=True)
class Classes(Task):
    """One class per node, each with a probability.

    threshold: of two classes, the probability from which on the second is predicted; None for one half.
    """

    outputs: int
    threshold: float | None = None
    kind: ClassVar[str] = "classes"
    title: ClassVar[str] = "{0:,} classes"
    usual: ClassVar[str] = "accuracy"
    guess_name: ClassVar[str] = "the largest class"
    alike: ClassVar[tuple[str, str]] = ("neighbours of the same class", "accuracy")

    def loss(
        self,
        scores: torch.Tensor,
        targets: torch.Tensor,
        weights: torch.Tensor | None = None,
        reduction: str = "mean",
    ) -> torch.Tensor:
        """L_C (eq:xent_loss): the cross-entropy; `weights` are per class."""
        return torch.nn.functional.cross_entropy(scores, targets, weights, reduction=reduction)

    def right(self, scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return 1 for a node that is classified correctly."""
        return (scores.argmax(1) == targets).to(scores.dtype)

    def outputs_of(self, scores: torch.Tensor) -> torch.Tensor:
        """Return the probabilities of the classes."""
        return scores.softmax(1)

    def scores_of(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return their logarithms."""
        return outputs.clamp_min(1e-12).log()

    def agreed(self, mean: torch.Tensor, temperature: float) -> torch.Tensor:
        """Return the mean, sharpened."""
        return torch.softmax(mean.clamp_min(1e-12).log() / temperature, 1)

    def confident(self, mean: torch.Tensor, least: float) -> torch.Tensor:
        """Return the nodes whose largest probability exceeds `least` / C."""
        return (mean.max(1).values > least / mean.shape[1]).to(mean.dtype)

    def class_weights(self, kind: str, targets: torch.Tensor) -> torch.Tensor | None:
        """Return what a training node of each class weighs in the loss, [C]; None if all weigh the same.

        "balanced" is n / (C · n_c), as in scikit-learn: every class with a training node weighs the same in
        all, and the mean weight of a training node is 1.
        """
        if kind == "none":
            return None
        counts = torch.bincount(targets, minlength=self.outputs).to(torch.float32)
        present = counts > 0
        return torch.where(present, counts.sum() / (present.sum() * counts.clamp_min(1)), 0.0)

    def prior_shift(self, train: torch.Tensor, val: torch.Tensor) -> torch.Tensor:
        """Return the log-ratio of each class's share among validation and training nodes, counts plus one."""
        before, after = (
            torch.bincount(labels, minlength=self.outputs).to(torch.float64) + 1 for labels in (train, val)
        )
        return torch.log((after / after.sum()) / (before / before.sum())).to(torch.float32)

    def boosted(self, targets: NDArray[Any]) -> list[Boosted]:
        """Return one model for all classes that there are."""
        present = np.unique(targets).tolist()
        return [Boosted(targets, present)] if len(present) > 1 else []

    def start(self, targets: NDArray[Any]) -> Float:
        """Return 0, and next to no probability for a class without a training node."""
        return np.where(np.bincount(targets, minlength=self.outputs) > 0, 0.0, _ABSENT)

    def decide(self, outputs: NDArray[Any]) -> NDArray[Any]:
        """Return the most probable class, or the second of two from the threshold on."""
        if self.threshold is None or self.outputs != 2:
            return np.asarray(outputs.argmax(-1), np.int64)
        return np.asarray(outputs[..., 1] >= self.threshold, np.int64)

    def losses(self, outputs: NDArray[Any], targets: NDArray[Any]) -> Float:
        """Return the negative logarithm of the probability of the right class."""
        own = np.clip(outputs[..., np.arange(len(targets)), targets].astype(np.float64), 1e-12, None)
        return np.asarray(-np.log(own))

    def of_truth(self, outputs: Float, targets: NDArray[Any]) -> tuple[Float, NDArray[Any]]:
        """Return the probabilities of the right classes, as of a first and only class."""
        return outputs[..., np.arange(len(targets)), targets][..., None], np.zeros_like(targets)

    def truth(self, targets: NDArray[Any]) -> Float:
        """Return 1 for the class of a node, 0 for the others."""
        return np.asarray(np.eye(self.outputs)[targets])

    def guess(self, targets: NDArray[Any]) -> Float:
        """Return how frequent each class is."""
        return np.asarray(np.bincount(targets, minlength=self.outputs) / len(targets))

    def valid(self, outputs: Float) -> Float:
        """Return probabilities that add up to 1."""
        positive = np.clip(outputs, 1e-6, None)
        return np.asarray(positive / positive.sum(-1, keepdims=True))

    def calibrated(self, outputs: NDArray[Any], temperature: float) -> NDArray[Any]:
        """Return probabilities whose logarithms are divided by a temperature.

        >>> Classes(2).calibrated(np.array([[0.8, 0.2]]), 0.5).round(3).tolist()
        [[0.941, 0.059]]
        """
        scaled = np.log(np.clip(outputs.astype(np.float64), 1e-30, None)) / temperature
        scaled = np.exp(scaled - scaled.max(1, keepdims=True))
        return np.asarray(scaled / scaled.sum(1, keepdims=True))

    def temperature(self, outputs: Float, targets: NDArray[Any]) -> float:
        """Return the temperature of a wide grid with the least log-loss."""
        some = slice(None, None, 1 + outputs.size // _VALUES)  # of many nodes and classes, enough to tell
        outputs, targets = outputs[some], targets[some]
        losses = [self.losses(self.calibrated(outputs, t), targets).mean() for t in TEMPERATURES]
        return float(TEMPERATURES[int(np.argmin(losses))])

    def with_threshold(self, outputs: NDArray[Any], targets: NDArray[Any], metric: str) -> Classes:
        """Return the task with the threshold that is best for the metric on held-out nodes.

        Accuracy and log-loss are at their best, or nearly so, at one half, and keep it. Where a ranking
        counts, macro-f1 decides, so that a rare class is predicted at all.
        """
        if metric in ("accuracy", "log-loss"):
            return self
        ranked = metric in ("roc-auc", "average-precision")
        found = best_threshold(outputs, targets, "macro-f1" if ranked else metric)
        return self if found is None else Classes(self.outputs, found)

    def accuracy(self, outputs: NDArray[Any], targets: NDArray[Any]) -> float | None:
        """Return the share of the nodes whose class is right."""
        return float((self.decide(outputs) == targets).mean())

    def widened(self, outputs: NDArray[Any], targets: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return probabilities and labels, with zeros for classes that the network does not know."""
        width = outputs.shape[1]
        known = np.where(targets < 0, max(width, int(targets.max(initial=-1)) + 1), targets)  # -1: no class
        more = max(0, int(known.max(initial=-1)) + 1 - width)
        return np.pad(outputs, ((0, 0), (0, more))), known

    def unknown(self, count: int) -> NDArray[Any]:
        """Return -1 for every node."""
        return np.full(count, -1)

    def settled_metric(self, metric: str | None, targets: NDArray[Any]) -> str:
        """Return the metric that was asked for, else roc-auc for two skewed classes and accuracy."""
        if metric is None:
            sizes = np.unique(targets, return_counts=True)[1]
            skewed = len(sizes) == 2 and sizes.max() >= SKEWED * sizes.min()
            return "roc-auc" if skewed else "accuracy"
        return "accuracy" if metric == "accuracy" else super().settled_metric(metric, targets)

    def evidence(self, outputs: NDArray[Any], targets: NDArray[Any], tried: int) -> ClassEvidence:
        """Judge what `tried` networks, or the best of them, say of nodes that chose nothing about them.

        Of graphs without anything to learn, one in twenty (`GUESSING`) is found above guessing at most.
        """
        count = len(targets)
        right, most = outputs.argmax(1) == targets, int(np.bincount(targets).argmax())
        lead = right.astype(np.float64) - (targets == most)
        error = float(lead.std(ddof=1)) / math.sqrt(count) if count > 1 else 0.0
        area, area_error = ranking(outputs, targets)
        level = 1 - GUESSING / (2 * tried)  # two measures, each of so many networks
        sizes = np.unique(targets, return_counts=True)[1]
        at_chance = float(np.mean(np.sqrt((count + 1) / (12.0 * sizes * np.maximum(count - sizes, 1)))))
        ranks = area is not None and area - 0.5 > ndtri(level) * at_chance
        leads = count > 1 and lead.mean() > stdtrit(count - 1, level) * error
        accuracy, guess = float(right.mean()), float((targets == most).mean())
        spread = math.sqrt(max(accuracy * (1 - accuracy), 1e-4) / count)
        above = bool(ranks or leads)
        return ClassEvidence(self.usual, accuracy, guess, spread, above, area, area_error, bool(ranks))

    def result_remarks(
        self, outputs: NDArray[Any], known: Known, evidence: Any, names: list[str]
    ) -> list[str]:
        """Say that nothing was learned, and which classes are never predicted."""
        said = super().result_remarks(outputs, known, evidence, names)
        classes = np.unique(self.decide(outputs))
        if not said and len(classes) == 1 and evidence.ranks:
            said.append(
                f"every node is predicted as {names[int(classes[0])]}, but the ranking is good "
                f"({evidence.area} on held-out nodes): use the probabilities, or --metric roc-auc"
            )
        never = np.setdiff1d(known.labels.numpy()[known.train], classes).tolist()
        if never and len(classes) > 1:
            said.append(f"never predicted: {', '.join(names[c] for c in never[:5])}")
        return said

    def described(self, targets: NDArray[Any], names: list[str] | None) -> dict[str, float]:
        """Return the share of every class, the largest first."""
        called, shares = names or [str(c) for c in range(self.outputs)], self.guess(targets)
        return {called[c]: float(shares[c]) for c in np.argsort(-shares, kind="stable").tolist()}

    def likeness(self, edge_index: NDArray[np.int64], targets: NDArray[Any]) -> tuple[float, float] | None:
        """Return the share of edges between nodes of one class, and the same adjusted for chance.

        The adjusted one is 0 where edges ignore classes and 1 where they never leave one (Platonov et al.
        2023). Edges with an end of unknown class (-1) are left out; None if none remain, or with one class.

        >>> edges = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> share, adjusted = Classes(2).likeness(edges, np.array([0, 0, 1, 1]))
        >>> round(share, 3), round(adjusted, 3)
        (0.667, 0.333)
        """
        ends = targets[edge_index]
        ends = ends[:, (ends >= 0).all(0)]
        if not ends.size:
            return None
        same = float((ends[0] == ends[1]).mean())
        expected = float(((np.bincount(ends.ravel()) / ends.size) ** 2).sum())
        return None if expected >= 1.0 else (same, (same - expected) / (1.0 - expected))

    def graph_remarks(self, data: Data, known: Known, name: Callable[[int], str]) -> list[str]:
        """Say which classes have few nodes, and that edges join unlike ones."""
        labels, said = known.labels.numpy(), []
        for part, nodes in (("training", known.train), ("validation", known.val)):
            sizes = np.bincount(labels[nodes], minlength=self.outputs)
            few = [f"{name(c)} ({sizes[c]})" for c in np.flatnonzero(sizes < _FEW).tolist()]
            if few:
                more = f" and {len(few) - 5} more" if len(few) > 5 else ""
                said.append(
                    f"classes with few {part} nodes: {', '.join(few[:5])}{more}; their scores mean little"
                )
        found = None if data.edge_index is None else self.likeness(both_ways(data).numpy(), labels)
        if found is not None and found[1] < _LOW_HOMOPHILY:
            how = "less" if found[1] < -0.05 else "hardly more"
            said.append(
                f"edges join nodes of the same class {how} often than by chance: {found[0]:.0%} of them do, "
                f"{(found[0] - found[1]) / (1 - found[1]):.0%} would (among nodes whose class is known)"
            )
        return said

    def skew_remarks(self, described: dict[str, float]) -> list[str]:
        """Say that one class is far larger than another, and what to judge by then."""
        (largest, most), *_, (smallest, least) = described.items()
        if most < SKEWED * least:
            return []
        return [
            f"classes are skewed: {largest} has {most:.1%} of the labelled nodes, {smallest} {least:.1%}; "
            "look at ROC-AUC or balanced accuracy beside accuracy"
        ]

    def by_features(self, fit: Any, targets: NDArray[Any], predict: Any) -> Float:
        """Predict by logistic regression."""
        from sklearn.linear_model import LogisticRegression

        found = np.zeros((predict.shape[0], self.outputs))
        if len(np.unique(targets)) < 2:
            found[:, targets[0]] = 1.0
            return found
        with with_many_classes(targets):
            model = LogisticRegression(max_iter=200, tol=1e-3).fit(fit, targets)
        found[:, model.classes_] = model.predict_proba(predict)
        return found

    def decision(self, names: list[str]) -> str:
        """Say from which probability on the second of two classes is predicted."""
        how = f"from {self.threshold or 0:.2g} on a node is predicted as {names[-1]!r}"
        return "" if self.threshold is None else f"{how} (threshold from validation nodes)"

    def displayed(self, outputs: Any, targets: Any, names: list[str], train: Any, target: Any) -> Displayed:
        """Show the classes as they are."""
        return Displayed("", self.decision(names), names, targets, self.decide(outputs), outputs)

    def cells(
        self, outputs: NDArray[Any], target: Any, names: list[str] | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the true and the predicted class, its probability, and those of up to 50 classes."""

        def name(label: int) -> Any:
            return "" if label < 0 else label if names is None else names[label]

        label = int(self.decide(outputs))
        first = {
            "true": name(int(target)),
            "predicted": name(label),
            "probability": round(float(outputs[label]), 4),
        }
        if len(outputs) > _SHOWN:
            return first, {}
        shown_ones = np.round(outputs.astype(np.float64), 4).tolist()
        return first, {f"p_{name(c)}": value for c, value in enumerate(shown_ones)}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; how many classes there are is known by their names."""
        return {} if self.threshold is None else {"kind": self.kind, "threshold": self.threshold}
