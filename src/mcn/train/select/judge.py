"""Deciding between trained candidates by what they predicted for held-out nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcn.train.held_out import folds_of
from mcn.train.loop import Scores
from mcn.train.select.blend import Float, blend, blend_gain, calibrated, confirmed, held_out_blend
from mcn.train.tasks import Task

ONE, BLEND = "one", "blend"
"""What predicts: one candidate, or a blend of several."""
FEWEST = 30
"""Held-out nodes below which nothing is blended: so few do not say which shares are good."""

Held = Mapping[str, Float]
"""What is predicted for held-out nodes, [n, outputs], by name of the candidate."""


class HeldOutScores(NamedTuple):
    """What some candidates said of labelled nodes that had no part in it; of some nodes more than once.

    nodes: int64 [n], the held-out nodes of the judge first, in their order. targets: theirs.
    outputs: what is predicted by candidate, [n, outputs].
    """

    nodes: NDArray[np.int64]
    targets: NDArray[Any]
    outputs: dict[str, Float]


class Blend(NamedTuple):
    """The share of every candidate, and what is predicted of held-out nodes."""

    shares: Float
    held_out: Float

    def to_dict(self, names: list[str]) -> dict[str, float]:
        """Return the candidates that have a share."""
        return {name: float(share) for name, share in zip(names, self.shares, strict=True) if share > 0}


@dataclass(frozen=True)
class Decision:
    """What the held-out nodes decided.

    names: all candidates. winner: the best single one. blend: the blend that predicts in its place, if any.
    """

    names: list[str]
    winner: str
    blend: Blend | None

    @property
    def mode(self) -> str:
        """What predicts: ONE or BLEND."""
        return ONE if self.blend is None else BLEND

    @property
    def shares(self) -> dict[str, float]:
        """The candidates that predict, each with its weight in the mean; the largest weight first."""
        shares = {self.winner: 1.0} if self.blend is None else self.blend.to_dict(self.names)
        return dict(sorted(shares.items(), key=lambda share: -share[1]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the summary of a run."""
        return {
            "winner": self.winner,
            "mode": self.mode,
            "blend": self.blend and self.blend.to_dict(self.names),
        }


@dataclass(frozen=True)
class Judge:
    """The held-out nodes' targets, and the metric by which predictions for them are judged.

    `seed` decides the folds.
    """

    task: Task
    targets: NDArray[Any]
    metric: str
    seed: int

    def merit(self, outputs: NDArray[Any], targets: NDArray[Any] | None = None) -> float:
        """Return the metric, more being better; less the loss where it is not defined."""
        own = self.targets if targets is None else targets
        value = self.task.merit(self.metric, outputs, own)
        return -float(self.task.losses(outputs, own).mean()) if value is None else value

    def scores(self, outputs: Float) -> Scores:
        """Return loss, accuracy and metric."""
        loss = float(self.task.losses(outputs, self.targets).mean())
        return Scores(loss, self.task.accuracy(outputs, self.targets), self.merit(outputs))

    def best_correction(self, held: Float, ways: Mapping[str, Float]) -> str | None:
        """Return which of some corrections helps held-out predictions most; None if none clearly does.

        The metric has to rise, and the loss to fall after calibration: softer predictions alone lower it.
        """
        before, merit, best, clear = self._calibrated_losses(held), self.merit(held), None, 0.0
        for way, more in ways.items():
            after = self.task.valid(held + more)
            gain = confirmed(before, self._calibrated_losses(after))
            if gain > clear and self.merit(after) > merit:
                best, clear = way, gain
        return best

    def _calibrated_losses(self, held: Float) -> Float:
        """Return the losses of predictions that are as sure as they should be."""
        calibrated_ones = self.task.calibrated(held, self.task.temperature(held, self.targets))
        return self.task.losses(calibrated_ones, self.targets)

    def decide(self, names: list[str], winner: str, held_out: HeldOutScores) -> Decision:
        """Decide whether the winner predicts, or a blend of the candidates that `held_out` has scores of."""
        return Decision(names, winner, self._blend(names, held_out))

    def _blend(self, names: list[str], held_out: HeldOutScores) -> Blend | None:
        """Return the blend of the candidates; None where the best of them is better, or nodes are too few."""
        nodes, targets, outputs = held_out
        if len(outputs) < 2 or len(self.targets) < FEWEST:
            return None
        _, first, of = np.unique(nodes, return_index=True, return_inverse=True)
        fold = folds_of(targets[first], self.seed)[of]
        each = np.stack([calibrated(self.task, own, targets, fold) for own in outputs.values()])
        taken = blend(self.task, each, targets)
        if taken.max() == 1.0 or blend_gain(self.task, each, targets, self.merit, self.seed, nodes) < 0:
            return None
        shares = np.zeros(len(names))
        shares[[names.index(name) for name in outputs]] = taken
        mixed = held_out_blend(self.task, each, targets, fold)
        return Blend(shares, mixed[: len(self.targets)])
