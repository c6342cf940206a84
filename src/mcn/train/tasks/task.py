"""What is predicted of a node, and how a prediction is judged and written: the common part of all tasks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import stdtrit

from mcn._composition import check_composition
from mcn.train.metrics import TASK_METRICS, merit, score, shown

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.train.problem import Known

Float = NDArray[np.float64]
GUESSING = 0.05
"""Of graphs without anything to learn, the share whose results may still be called better than guessing."""


@dataclass(frozen=True)
class Evidence:
    """How predictions of held-out nodes compare with the best guess that is the same for all nodes.

    metric: by which both are told. value, guess: of the network and of the guess. error: the standard error
    of the value. above_guess: whether the network is better, by one-sided tests that allow for how many
    networks were tried. auc, auc_error, ranks: of classes, roc-auc, its error, whether it is above chance.
    """

    metric: str
    value: float | None
    guess: float | None
    error: float
    above_guess: bool
    auc: float | None = None
    auc_error: float = 0.0
    ranks: bool = False

    @property
    def compared(self) -> str:
        """Both figures in words."""
        own, other = shown(self.metric, self.value), shown(self.metric, self.guess)
        return f"{self.metric} {own} on held-out nodes, the same guess for all nodes {other}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the summary of a run."""
        return asdict(self)


def lead(losses: Float, of_guess: Float, tests: int) -> tuple[float, bool]:
    """Return the standard error of the mean difference of losses, and whether it is clearly above zero.

    Of graphs without anything to learn, one in `GUESSING` passes one of so many `tests` at most.
    """
    gain, count = of_guess - losses, len(losses)
    if count < 2:
        return 0.0, False
    error = float(gain.std(ddof=1)) / math.sqrt(count)
    return error, bool(gain.mean() > stdtrit(count - 1, 1 - GUESSING / tests) * error)


class Displayed(NamedTuple):
    """What a page shows of every node: one of a few classes, by its target and by what is predicted.

    target: its name; empty where a node simply has a class. note: what else is to be said. classes: names.
    truth: [N], -1 where it is not known. predicted: [O, N]. probabilities: [O, N, C], None where there are
    none. numbers: of a numeric target what is true, [N], and predicted, [O, N].
    """

    target: str
    note: str
    classes: list[str]
    truth: NDArray[np.int64]
    predicted: NDArray[np.int64]
    probabilities: NDArray[Any] | None
    numbers: tuple[NDArray[Any], NDArray[Any]] | None = None


class Boosted(NamedTuple):
    """What one boosted model learns: `labels` of the training nodes, numbers or classes, for some outputs.

    A model of two classes has trees for the last output alone.
    """

    labels: NDArray[Any]
    outputs: list[int]
    numeric: bool = False


class Task(ABC):
    """What is predicted of a node. A network has `outputs` scores per node, which a task makes sense of.

    What is predicted are probabilities or numbers, [N, outputs]: `outputs_of` makes them of scores. Targets
    are those of `data.y` (`mcn.data.target_kind`).
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    """What is predicted: a format for how many names there are, and for the first of them."""
    usual: ClassVar[str]
    has_probabilities: ClassVar[bool] = True
    most_dropout: ClassVar[float] = 1.0
    """What is dropped out by the networks of a selection at most."""
    guess_name: ClassVar[str]
    alike: ClassVar[tuple[str, str]]
    """What `likeness` is called, and the metric that is printed like it."""
    figures: ClassVar[str] = "accuracy"
    """The metric that is printed like the figures of `described`."""
    outputs: int

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of its metrics, the usual one first."""
        return TASK_METRICS[self.kind]

    # While training: scores of a network.

    @abstractmethod
    def loss(
        self,
        scores: torch.Tensor,
        targets: torch.Tensor,
        weights: torch.Tensor | None = None,
        reduction: str = "mean",
    ) -> torch.Tensor:
        """Return what training minimises, L_C (eq:xent_loss) for classes; with "none" for every node."""

    @abstractmethod
    def right(self, scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return how right the network is about every node, from 0 to 1: what selectors are rewarded for."""

    @abstractmethod
    def outputs_of(self, scores: torch.Tensor) -> torch.Tensor:
        """Return what is predicted by these scores."""

    @abstractmethod
    def scores_of(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return scores that predict this."""

    def comparable(self, scores: torch.Tensor) -> torch.Tensor:
        """Return what two passes over a graph should agree on."""
        return self.outputs_of(scores)

    def agreed(self, mean: torch.Tensor, temperature: float) -> torch.Tensor:
        """Return what passes are drawn to, by their mean."""
        return mean

    def confident(self, mean: torch.Tensor, least: float) -> torch.Tensor:
        """Return which nodes the passes should agree on, 1 or 0."""
        return torch.ones(len(mean), dtype=mean.dtype, device=mean.device)

    def class_weights(self, kind: str, targets: torch.Tensor) -> torch.Tensor | None:
        """Return what a training node of each class weighs in the loss, [C]; None if all weigh the same.

        Raises:
            ValueError: there are no classes to weigh.
        """
        weights = kind != "none" and f"class_weight {kind}"
        check_composition({"numbers or several targets": f"the task {self.kind}", "class weights": weights})
        return None

    def prior_shift(self, train: torch.Tensor, val: torch.Tensor) -> torch.Tensor:
        """Return what to add to scores so that classes are as frequent as among validation nodes.

        Raises:
            ValueError: there are no classes.
        """
        used = {"numbers or several targets": f"the task {self.kind}", "class priors": "class_priors"}
        check_composition(used)
        return torch.zeros(self.outputs)

    @abstractmethod
    def boosted(self, targets: NDArray[Any]) -> list[Boosted]:
        """Return what boosted models have to learn; nothing for an output that never changes."""

    @abstractmethod
    def start(self, targets: NDArray[Any]) -> Float:
        """Return the scores of all nodes before anything is learned, [outputs]."""

    # Afterwards: what is predicted, as arrays.

    @abstractmethod
    def decide(self, outputs: NDArray[Any]) -> NDArray[Any]:
        """Return the prediction itself: the class, the number, or a yes or no for every target."""

    @abstractmethod
    def losses(self, outputs: NDArray[Any], targets: NDArray[Any]) -> Float:
        """Return the loss of every node by what is predicted of it, [..., n] of [..., n, outputs]."""

    def of_truth(self, outputs: Float, targets: NDArray[Any]) -> tuple[Float, NDArray[Any]]:
        """Return the part of predictions and targets that `losses` looks at, which may be far smaller."""
        return outputs, targets

    @abstractmethod
    def truth(self, targets: NDArray[Any]) -> Float:
        """Return known targets as a perfect network would predict them, [n, outputs]."""

    @abstractmethod
    def guess(self, targets: NDArray[Any]) -> Float:
        """Return the best prediction that is the same for all nodes, [outputs]."""

    def valid(self, outputs: Float) -> Float:
        """Return the predictions nearest to sums of predictions."""
        return outputs

    def calibrated(self, outputs: NDArray[Any], temperature: float) -> NDArray[Any]:
        """Return predictions that are as sure as they should be; those of classes alone change."""
        return outputs

    def temperature(self, outputs: Float, targets: NDArray[Any]) -> float:
        """Return what `calibrated` needs to suit these targets."""
        return 1.0

    def with_threshold(self, outputs: NDArray[Any], targets: NDArray[Any], metric: str) -> Task:
        """Return the task with the threshold that suits held-out nodes, where there is one."""
        return self

    def score(self, metric: str, outputs: NDArray[Any], targets: NDArray[Any]) -> float | None:
        """Return a metric; None where it is not defined."""
        return score(metric, outputs, targets, self.decide(outputs))

    def merit(self, metric: str, outputs: NDArray[Any], targets: NDArray[Any]) -> float | None:
        """Return a metric as a number of which more is better; None where it is not defined."""
        return merit(metric, self.score(metric, outputs, targets))

    def all_scores(self, outputs: NDArray[Any], targets: NDArray[Any]) -> dict[str, float | None]:
        """Return every metric of the task by name."""
        return {metric: self.score(metric, outputs, targets) for metric in self.metrics}

    def accuracy(self, outputs: NDArray[Any], targets: NDArray[Any]) -> float | None:
        """Return the share of the nodes whose class is right; None where there are no classes."""
        return None

    def widened(self, outputs: NDArray[Any], targets: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return predictions and targets, with zeros for classes that the network does not know."""
        return outputs, targets

    def unknown(self, count: int) -> NDArray[Any]:
        """Return the targets of nodes of which none is known."""
        return np.full(count if self.outputs == 1 else (count, self.outputs), np.nan)

    def settled_metric(self, metric: str | None, targets: NDArray[Any]) -> str:
        """Return the metric to stop and to choose by; accuracy, the default, becomes the usual one.

        Raises:
            ValueError: it is a metric of another task.
        """
        if metric in (None, "accuracy"):
            return self.usual
        assert metric is not None
        if metric not in self.metrics:
            raise ValueError(
                f"metric must be one of {', '.join(self.metrics)} for the task {self.kind}, got {metric!r}"
            )
        return metric

    # What is said and written.

    def evidence(self, outputs: NDArray[Any], targets: NDArray[Any], tried: int) -> Evidence:
        """Judge what `tried` networks, or the best of them, say of nodes that chose nothing about them."""
        guess = np.tile(self.guess(targets), (len(targets), 1))
        error, above = lead(self.losses(outputs, targets), self.losses(guess, targets), tried)
        own, other = (self.score(self.usual, each, targets) for each in (outputs, guess))
        return Evidence(self.usual, own, other, error, above)

    def result_remarks(
        self, outputs: NDArray[Any], known: Known, evidence: Any, names: list[str]
    ) -> list[str]:
        """Say what is off with the predictions of all nodes, judged by held-out ones."""
        if evidence.above_guess:
            return []
        return [f"no better than guessing: {evidence.compared}; more labels or other features are needed"]

    @abstractmethod
    def described(self, targets: NDArray[Any], names: list[str] | None) -> dict[str, float]:
        """Say how known targets are distributed: figures by name."""

    def likeness(self, edge_index: NDArray[np.int64], targets: NDArray[Any]) -> tuple[float, float] | None:
        """Return how alike neighbours are, and the same adjusted for chance: here, correlations.

        Edges with an end whose target is not known are left out; None where too few remain.
        """
        ends = targets.reshape(len(targets), -1).astype(np.float64)[edge_index]
        ends = ends[:, ~np.isnan(ends).any((0, 2))]
        if ends.shape[1] < 3:
            return None
        centred = ends - ends.mean((0, 1))
        spread = (centred**2).mean((0, 1))
        if not (spread > 0).any():
            return None
        varying = spread > 0
        along = float(((centred[0] * centred[1]).mean(0)[varying] / spread[varying]).mean())
        return along, along

    def graph_remarks(self, data: Data, known: Known, name: Callable[[int], str]) -> list[str]:
        """Say what is odd about the known targets, and about how they lie in the graph."""
        return []

    def skew_remarks(self, described: dict[str, float]) -> list[str]:
        """Say what to judge by where targets are distributed like this."""
        return []

    @abstractmethod
    def by_features(self, fit: Any, targets: NDArray[Any], predict: Any) -> Float:
        """Predict by a linear model on features: fitted to some rows, for others; its strength is 1."""

    def decision(self, names: list[str]) -> str:
        """Say how a class is decided on, where that is not by one half."""
        return ""

    @abstractmethod
    def displayed(self, outputs: Any, targets: Any, names: list[str], train: Any, target: Any) -> Displayed:
        """Return what a page shows of [O, N, outputs]; train: bool [N]; target: one of several, or None."""

    def details(self, outputs: Any, targets: Any, names: list[str]) -> dict[str, Any]:
        """Return what else a report shows of nodes whose targets are known, as plain values."""
        return {}

    @abstractmethod
    def cells(
        self, outputs: NDArray[Any], target: Any, names: list[str] | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a node's cells of a table: what is true and predicted, and in how far, for its end."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `stored_task` reads; none for classes without more."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]
