"""Deciding between trained candidates by what they predicted for held-out nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcn.train.held_out import folds_of
from mcn.train.loop import Scores
from mcn.train.select.blend import Float, blend, blend_gain, calibrated, confirmed, held_out_blend
from mcn.train.select.choose import FEWEST, NOTHING, Chooser, Evidence, assess, fit_chooser, rewards
from mcn.train.tasks import Task

ONE, BLEND, NODES = "one", "blend", "nodes"
"""What predicts: one candidate for all nodes, the same blend of candidates for all, or each node's own
candidate."""
CHOOSABLE = ("accuracy", "balanced-accuracy")
"""Metrics that are a mean over nodes, so that a node's own reward says something of them."""

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
    """What the held-out nodes said: the best candidate, what choosing per node is worth, what predicts.

    mode: ONE, BLEND or NODES. winner: the best candidate for the whole graph. evidence: for choosing per
    node, in rewards and in the share of right nodes. chooser, blend: where there are any.
    """

    names: list[str]
    winner: str
    mode: str
    evidence: tuple[Evidence, Evidence]
    chooser: Chooser | None
    blend: Blend | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the summary of a run."""
        reward, right = self.evidence
        finite = math.isfinite(right.error)
        return {
            "winner": self.winner,
            "mode": self.mode,
            "gain": right.gain,
            "gain_error": right.error if finite else None,
            "reward_gain": reward.gain,
            "reward_gain_error": reward.error if finite else None,
            "blend": None if self.blend is None else self.blend.to_dict(self.names),
        }

    @property
    def predicting(self) -> list[str]:
        """The candidates that have a part in the predictions."""
        if self.mode == BLEND and self.blend is not None:
            return list(self.blend.to_dict(self.names))
        return self.names if self.mode == NODES else [self.winner]

    def sentences(self) -> list[str]:
        """Say what predicts, and what choosing per node is worth."""
        said = []
        if self.mode == BLEND:
            assert self.blend is not None
            parts = sorted(self.blend.to_dict(self.names).items(), key=lambda part: -part[1])
            shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in parts)
            said.append(f"a blend of candidates predicts: {shares}")
        right = self.evidence[1]
        if self.mode == NODES:
            gain = f"{100 * right.gain:+.1f} ± {100 * right.error:.1f} points"
            said.append(f"choosing per node is worth {gain} here: each node has a candidate of its own")
        elif self.chooser is not None:
            said.append("choosing a candidate per node is worth nothing measurable here")
        return said


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

    def decide(
        self, names: list[str], held: Held, winner: str, state: Float, held_out: HeldOutScores
    ) -> Decision:
        """Decide whether one candidate predicts, a blend, or for every node a candidate of its own.

        A choice can be made from the `state` of the held-out nodes, [n, state]; a blend of the candidates of
        which `held_out` has what they said of these nodes and others.
        """
        evidence, chooser = (NOTHING, NOTHING), None
        if self.metric in CHOOSABLE and len(names) > 1:
            fold = folds_of(self.targets, self.seed)
            outputs = [calibrated(self.task, held[name], self.targets, fold) for name in names]
            reward, right = self._rewards(outputs)
            evidence = assess(state, reward, right, self.seed)
            chooser = fit_chooser(state, reward, self.seed)
        mixed = self._blend(names, held_out)
        mode = ONE if mixed is None else BLEND
        if evidence[0].used:
            by_blend = None if mixed is None else self._rewards([mixed.held_out])[1].mean()  # as weighted
            if by_blend is None or evidence[1].value >= by_blend:
                mode = NODES
        return Decision(names, winner, mode, evidence, chooser, mixed)

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

    def _rewards(self, probabilities: list[Float]) -> tuple[Float, Float]:
        """Rewards and rightness; for balanced accuracy a node weighs by how rare its class is."""
        labels = self.targets
        reward = rewards(probabilities, labels)
        right = np.stack([p.argmax(1) == labels for p in probabilities], 1).astype(np.float64)
        if self.metric == "balanced-accuracy":
            counts = np.bincount(labels)
            weight = (len(labels) / ((counts > 0).sum() * np.maximum(counts, 1)))[labels]
            reward, right = reward * weight[:, None], right * weight[:, None]
        return reward, right
