"""Deciding between trained candidates by what they predicted for held-out nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.train.held_out import folds_of
from mcn.train.metrics import merit
from mcn.train.probes.choose import (
    CAUTION,
    FEWEST,
    NOTHING,
    Chooser,
    Evidence,
    Float,
    assess,
    blend,
    blend_gain,
    calibrated,
    fit_chooser,
    held_out_blend,
    rewards,
)
from mcn.train.probes.network import BLEND, GRAPH, NODES, REFIT
from mcn.train.probes.plan import REFITS
from mcn.train.probes.room import Room, reachable

CHOOSABLE = ("accuracy", "balanced-accuracy")
"""Metrics that are a mean over nodes, so that a node's own reward says something of them."""

Held = Mapping[str, torch.Tensor]
"""The scores of every class, for held-out nodes, by name of the candidate or refitted network."""


def wide(logits: torch.Tensor) -> Float:
    """Return scores in double precision."""
    return np.asarray(logits.numpy().astype(np.float64))


class Heard(NamedTuple):
    """What some candidates said of labelled nodes that had no part in it; of some nodes more than once.

    nodes: int64 [n], the held-out nodes of the jury first, in their order. labels: their classes. logits: by
    candidate, [n, classes].
    """

    nodes: NDArray[np.int64]
    labels: NDArray[np.int64]
    logits: dict[str, Float]


class Blend(NamedTuple):
    """The share of every candidate, and the probabilities on held-out nodes."""

    shares: Float
    held_out: Float

    def to_dict(self, names: list[str]) -> dict[str, float]:
        """Return the candidates that have a share."""
        return {name: float(share) for name, share in zip(names, self.shares, strict=True) if share > 0}


@dataclass(frozen=True)
class Verdict:
    """What the held-out nodes said: the winner, and what choosing per node is worth."""

    names: list[str]
    winner: str
    evidence: tuple[Evidence, Evidence]
    chooser: Chooser | None
    room: Room
    blend: Blend | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the summary of a run."""
        reward, right = self.evidence
        finite = math.isfinite(right.error)
        return {
            "winner": self.winner,
            "used": right.used,
            "gain": right.gain,
            "gain_error": right.error if finite else None,
            "low": right.low if finite else 0.0,
            "high": right.high if finite else None,
            "reward_gain": reward.gain,
            "reward_gain_error": reward.error if finite else None,
            "apparent_room": self.room.apparent,
            "chance_room": self.room.chance,
            "bound": self.room.bound,
            "blend": None if self.blend is None else self.blend.to_dict(self.names),
        }


@dataclass(frozen=True)
class Jury:
    """The held-out nodes' labels, and the metric by which predictions for them are judged.

    `seed` decides the folds.
    """

    labels: NDArray[np.int64]
    metric: str
    seed: int

    def merit(self, probabilities: NDArray[Any], labels: NDArray[np.int64] | None = None) -> float:
        """Return the metric, more being better; accuracy where it is not defined."""
        own = self.labels if labels is None else labels
        found = merit(self.metric, probabilities, own)
        return float((probabilities.argmax(1) == own).mean()) if found is None else found

    def scores(self, probabilities: Float) -> tuple[float, float, float]:
        """Return accuracy, metric and log-loss."""
        own_class = np.clip(probabilities[np.arange(len(self.labels)), self.labels], 1e-12, None)
        accuracy = float((probabilities.argmax(1) == self.labels).mean())
        return accuracy, self.merit(probabilities), float(-np.log(own_class).mean())

    def decide(self, names: list[str], held: Held, winner: str, state: Float, heard: Heard) -> Verdict:
        """Find out whether a blend is better than the winner, and whether nodes choose for themselves.

        Args:
            names: the candidates.
            held: what they predicted.
            winner: the best of them for the whole graph.
            state: of the held-out nodes, from which a choice can be made, [n, state].
            heard: what the candidates that a blend may be made of said of these nodes and others.
        """
        fold = folds_of(self.labels, self.seed)
        probabilities = [calibrated(wide(held[name]), self.labels, fold) for name in names]
        reward, right = self._rewards(probabilities)
        evidence, chooser, room = (NOTHING, NOTHING), None, Room(0.0, 0.0, 0.0)
        if self.metric in CHOOSABLE and len(names) > 1:
            evidence = assess(state, reward, right, self.seed)
            chooser = fit_chooser(state, reward, self.seed)
            room = reachable(np.stack(probabilities), state, self.labels, self.seed)
        return Verdict(names, winner, evidence, chooser, room, self._blend(names, heard))

    def mode(self, verdict: Verdict, held: Held) -> str:
        """The same for all, by one candidate or a blend; or each node's own, by whatever is best held out."""
        if not verdict.evidence[0].used:
            return GRAPH if verdict.blend is None else BLEND
        values = {NODES: verdict.evidence[1].value}
        refit = self.best_refit(held)
        if refit is not None:
            values[REFIT] = self._right(wide(held[refit]))
        if verdict.blend is not None:
            values[BLEND] = self._right(verdict.blend.held_out)
        return max((REFIT, NODES, BLEND), key=lambda mode: values.get(mode, -math.inf))

    def best_refit(self, held: Held) -> str | None:
        """Return the refitted network that is kept; None if none was trained.

        Choices in all layers, unless those in one layer are better by more than `CAUTION` standard errors.
        """
        trained = [name for name in REFITS if name in held]
        if not trained:
            return None
        _, right = self._rewards([wide(held[name]) for name in trained])
        best = int(right.mean(0).argmax())
        gap = right[:, best] - right[:, 0]
        clear = gap.mean() > CAUTION * gap.std(ddof=1) / math.sqrt(len(gap))
        return trained[best if clear else 0]

    def _blend(self, names: list[str], heard: Heard) -> Blend | None:
        """Return the blend of the candidates; None where the best of them is better, or nodes are too few."""
        if len(heard.logits) < 2 or len(self.labels) < FEWEST:
            return None
        _, first, of = np.unique(heard.nodes, return_index=True, return_inverse=True)
        fold = folds_of(heard.labels[first], self.seed)[of]
        each = np.stack([calibrated(logits, heard.labels, fold) for logits in heard.logits.values()])
        found = blend(each, heard.labels)
        if found.max() == 1.0 or blend_gain(each, heard.labels, self.merit, self.seed, heard.nodes) < 0:
            return None
        shares = np.zeros(len(names))
        shares[[names.index(name) for name in heard.logits]] = found
        held_out = held_out_blend(each, heard.labels, fold)
        return Blend(shares, held_out[: len(self.labels)])

    def _rewards(self, probabilities: list[Float]) -> tuple[Float, Float]:
        """Rewards and rightness; for balanced accuracy a node weighs by how rare its class is."""
        reward = rewards(probabilities, self.labels)
        right = np.stack([p.argmax(1) == self.labels for p in probabilities], 1).astype(np.float64)
        if self.metric == "balanced-accuracy":
            counts = np.bincount(self.labels)
            weight = (len(self.labels) / ((counts > 0).sum() * np.maximum(counts, 1)))[self.labels]
            reward, right = reward * weight[:, None], right * weight[:, None]
        return reward, right

    def _right(self, scores: Float) -> float:
        """Return the share of held-out nodes that are right, weighted as the metric asks."""
        _, right = self._rewards([scores])
        return float(right.mean())
