"""A number per node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.data.checks import both_ways
from mcn.train.tasks.task import Boosted, Displayed, Float, Task

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.train.problem import Known

_UNLIKE = 0.1  # the correlation along edges below which neighbours tell little
_POINTS = 2000  # in a chart


@dataclass(frozen=True)
class Regression(Task):
    """A number per node. The score of a network is the number less the mean of the training nodes (`centre`),
    in units of their standard deviation (`scale`)."""

    centre: float
    scale: float
    kind: ClassVar[str] = "regression"
    title: ClassVar[str] = "a numeric target ({1})"
    usual: ClassVar[str] = "r2"
    has_probabilities: ClassVar[bool] = False
    most_dropout: ClassVar[float] = 0.1  # what is lost changes a sum, and with it the number
    guess_name: ClassVar[str] = "the mean"
    figures: ClassVar[str] = "mse"
    alike: ClassVar[tuple[str, str]] = ("correlation of neighbours", "r2")
    outputs: ClassVar[int] = 1  # type: ignore[misc]

    @classmethod
    def of(cls, targets: NDArray[Any]) -> Regression:
        """Return the task of training nodes with these targets."""
        wide = targets.astype(np.float64)
        return cls(float(wide.mean()), float(wide.std()) or 1.0)

    def loss(
        self,
        scores: torch.Tensor,
        targets: torch.Tensor,
        weights: torch.Tensor | None = None,
        reduction: str = "mean",
    ) -> torch.Tensor:
        """Return the squared error in units of the variance."""
        wanted = self.scores_of(targets[:, None]).to(scores.dtype)
        return torch.nn.functional.mse_loss(scores[:, 0], wanted[:, 0], reduction=reduction)

    def right(self, scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return 1 for a node whose number is nearer to the prediction than to the mean."""
        wanted = self.scores_of(targets)
        return ((scores[:, 0] - wanted).abs() < wanted.abs()).to(scores.dtype)

    def outputs_of(self, scores: torch.Tensor) -> torch.Tensor:
        """Return the numbers."""
        return scores * self.scale + self.centre

    def scores_of(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return numbers in units of the standard deviation."""
        return (outputs - self.centre) / self.scale

    def comparable(self, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores, which have a unit that suits all graphs."""
        return scores

    def boosted(self, targets: NDArray[Any]) -> list[Boosted]:
        """Return one model of the scores."""
        return [Boosted((targets.astype(np.float64) - self.centre) / self.scale, [0], numeric=True)]

    def start(self, targets: NDArray[Any]) -> Float:
        """Return 0, the mean."""
        return np.zeros(1)

    def decide(self, outputs: NDArray[Any]) -> NDArray[Any]:
        """Return the number."""
        return np.asarray(outputs[..., 0])

    def losses(self, outputs: NDArray[Any], targets: NDArray[Any]) -> Float:
        """Return squared errors in units of the variance."""
        return np.asarray(((outputs[..., 0].astype(np.float64) - targets) / self.scale) ** 2)

    def truth(self, targets: NDArray[Any]) -> Float:
        """Return the numbers as a column."""
        return np.asarray(targets, np.float64)[:, None]

    def guess(self, targets: NDArray[Any]) -> Float:
        """Return the mean."""
        return np.array([np.mean(targets, dtype=np.float64)])

    def graph_remarks(self, data: Data, known: Known, name: Callable[[int], str]) -> list[str]:
        """Say that neighbours have nothing to do with each other, where that is so."""
        found = self.likeness(both_ways(data).numpy(), known.labels.numpy())
        if found is None or found[0] >= _UNLIKE:
            return []
        return [
            f"the numbers of neighbours hardly go together: their correlation along edges is {found[0]:.2f} "
            "(between nodes whose number is known)"
        ]

    def described(self, targets: NDArray[Any], names: list[str] | None) -> dict[str, float]:
        """Return the mean, the standard deviation, the least and the largest number."""
        wide = targets.astype(np.float64)
        figures = {"mean": wide.mean(), "deviation": wide.std(), "least": wide.min(), "largest": wide.max()}
        return {name: float(value) for name, value in figures.items()}

    def by_features(self, fit: Any, targets: NDArray[Any], predict: Any) -> Float:
        """Predict by ridge regression."""
        from sklearn.linear_model import Ridge

        return np.asarray(Ridge(1.0).fit(fit, targets.astype(np.float64)).predict(predict))[:, None]

    def displayed(self, outputs: Any, targets: Any, names: list[str], train: Any, target: Any) -> Displayed:
        """Show numbers, and the bands that they lie in: fifths of the training nodes, or of all without."""
        numbers, true = self.decide(outputs), targets.reshape(-1).astype(np.float64)
        unknown = np.isnan(true)
        learned = true[train & ~unknown]
        ends = np.quantile(learned if len(learned) else numbers[0], (0.2, 0.4, 0.6, 0.8))
        ends = np.unique([float(f"{end:.4g}") for end in ends])
        words = [f"{end:,.9g}" if abs(end) >= 1e4 else f"{end:.9g}" for end in ends]
        bands = [f"up to {words[0]}", *(f"{a} to {b}" for a, b in pairwise(words)), f"above {words[-1]}"]
        truth, predicted = np.where(unknown, -1, np.searchsorted(ends, true)), np.searchsorted(ends, numbers)
        note = f"Colours show bands of {names[0]}."
        return Displayed(names[0], note, bands, truth, predicted, None, (true, numbers))

    def details(self, outputs: Any, targets: Any, names: list[str]) -> dict[str, Any]:
        """Return true and predicted numbers of at most `_POINTS` nodes, and the metrics of all."""
        pairs = np.column_stack([targets, self.decide(outputs)])[:: -(-len(targets) // _POINTS)].tolist()
        points = [[_short(value) for value in pair] for pair in pairs]
        return {"points": points, "nodes": len(targets), "scores": self.all_scores(outputs, targets)}

    def cells(
        self, outputs: NDArray[Any], target: Any, names: list[str] | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the true and the predicted number."""
        true = "" if np.isnan(target) else _short(target)
        return {"true": true, "predicted": _short(outputs[0])}, {}


def _short(value: Any) -> float:
    """A number with the digits that single precision has."""
    return float(f"{float(value):.7g}")
