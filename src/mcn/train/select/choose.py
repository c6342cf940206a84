"""Which candidate serves a node: learned from the rewards of every candidate on held-out nodes.

All candidates are tried on every validation node, so nothing has to be explored: the reward of each is known
(full information). A ridge regression per candidate predicts the reward from the node's state, and a node
takes the candidate with the best prediction. With an infinite penalty all nodes take the same: the choice for
the whole graph is a special case. Whether the state is worth anything is estimated by nested
cross-validation, and nodes choose only if that gain is clear by its error, and no shuffle gains as much.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from mcn.train.select.blend import OUTER_FOLDS, REPEATS, Float, split_nodes

PENALTIES = (np.inf, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
CAUTION = 2.0  # standard errors from which on a difference counts as clear
FEWEST = 30  # held-out nodes; with fewer, nothing can be said of single nodes
PERMUTATIONS = 39
"""Chance assignments of states to nodes that a gain has to beat: where the states say nothing, one graph in
forty passes at most."""
_INNER = 5
_SHARED = float(np.sqrt(1 + OUTER_FOLDS / (OUTER_FOLDS - 1)))
"""Folds share most of what was fitted, so that their gains go up and down together: the error of their mean
is larger than that of independent ones by this factor (Nadeau and Bengio 2003)."""


def rewards(probabilities: list[Float], labels: NDArray[np.int64]) -> Float:
    """Return the reward [n, candidates]: the mean of being right and the probability of the right class.

    >>> p = np.array([[0.8, 0.2], [0.6, 0.4]])
    >>> rewards([p], np.array([0, 1]))[:, 0].tolist()
    [0.9, 0.2]
    """
    own = np.arange(len(labels)), labels
    return np.stack([((p.argmax(1) == labels) + p[own]) / 2 for p in probabilities], 1)


class Evidence(NamedTuple):
    """What choosing per node is worth on held-out nodes, beyond one candidate for all.

    gain, error: mean gain and its standard error, by nested cross-validation; in rewards, or in the share of
    right nodes. used: whether nodes choose. value: the mean itself, where they do.
    """

    gain: float
    error: float
    used: bool
    value: float


NOTHING = Evidence(0.0, float("inf"), False, 0.0)


class Chooser(NamedTuple):
    """Predicted rewards from a node's state: ``((S - mean) / scale) @ slopes + intercept``."""

    mean: Float
    scale: Float
    slopes: Float
    intercept: Float

    def predicted(self, state: Float) -> Float:
        """Return the predicted reward of every candidate, [n, candidates]."""
        return np.asarray((state - self.mean) / self.scale @ self.slopes + self.intercept)

    def choose(self, state: Float) -> NDArray[np.int64]:
        """Return the number of the candidate that every node takes; of equals the earlier one."""
        return np.asarray(self.predicted(state).argmax(1), np.int64)


class Ridge:
    """The regressions of all rewards on the state, for any penalty at the cost of one."""

    def __init__(self, state: Float, reward: Float) -> None:
        self._mean, scale = state.mean(0), state.std(0)
        self._scale = np.where(scale > 1e-12, scale, 1.0)
        self._middle = reward.mean(0)
        s = (state - self._mean) / self._scale
        self._sizes, self._axes = np.linalg.eigh(s.T @ s / len(s))
        self._along = self._axes.T @ (s.T @ (reward - self._middle) / len(s))

    def chooser(self, penalty: float) -> Chooser:
        """Return the regressions with this penalty, the intercept free; infinite: no slopes."""
        slopes = np.zeros_like(self._along)
        if np.isfinite(penalty):
            slopes = self._axes @ (self._along / (self._sizes + penalty)[:, None])
        return Chooser(self._mean, self._scale, slopes, self._middle)


def pick_penalty(state: Float, reward: Float, draw: np.random.Generator) -> float:
    """Return the penalty with the best reward under cross-validation; of equals the greater one."""
    value = np.zeros(len(PENALTIES))
    for inside, outside in split_nodes(len(reward), _INNER, draw):
        ridge, others, theirs = Ridge(state[inside], reward[inside]), state[outside], reward[outside]
        for i, penalty in enumerate(PENALTIES):
            taken = ridge.chooser(penalty).choose(others)
            value[i] += theirs[np.arange(len(theirs)), taken].sum()
    return PENALTIES[int(value.argmax())]


def fit_chooser(state: Float, reward: Float, seed: int) -> Chooser:
    """Fit the chooser, its penalty picked by cross-validation; `seed` decides the folds."""
    penalty = pick_penalty(state, reward, np.random.default_rng([seed, 3]))
    return Ridge(state, reward).chooser(penalty)


def assess(state: Float, reward: Float, right: Float, seed: int) -> tuple[Evidence, Evidence]:
    """Estimate by nested cross-validation what choosing per node gains over one candidate for all.

    Whatever is judged on a fold, the penalty and the choice for the graph included, was fitted without it.
    The `reward` of every candidate, [n, candidates], is regressed on the state; `right` says whether each is
    right. Returned is the evidence in rewards, and in the share of right nodes.
    """
    count = len(reward)
    if count < FEWEST or reward.shape[1] < 2:
        return (NOTHING,) * 2
    draw = np.random.default_rng([seed, 2])
    gains, values = zip(*(_nested(state, reward, right, draw) for _ in range(REPEATS)), strict=True)
    gain, value = np.mean(gains, axis=0), np.mean(values, axis=0)
    mean, error = gain.mean(1), _SHARED * gain.std(1, ddof=1) / np.sqrt(count)
    clear = stdtrit(count - 1, ndtr(CAUTION))  # as many errors, for as few nodes
    used = bool(mean[0] > clear * error[0] and mean[1] > 0) and _beats_chance(state, reward, right, seed)
    in_reward, in_right = (
        Evidence(float(mean[i]), float(error[i]), used, float(value[i].mean())) for i in range(2)
    )
    return in_reward, in_right


def _nested(state: Float, reward: Float, right: Float, draw: np.random.Generator) -> tuple[Float, Float]:
    """Return what every node gains by choosing, and has then, in rewards and in being right: [2, n] each."""
    gain, value = np.zeros((2, len(reward))), np.zeros((2, len(reward)))
    for inside, outside in split_nodes(len(reward), OUTER_FOLDS, draw):
        penalty = pick_penalty(state[inside], reward[inside], draw)
        taken = Ridge(state[inside], reward[inside]).chooser(penalty).choose(state[outside])
        fixed = int(right[inside].mean(0).argmax())
        for i, figure in enumerate((reward, right)):
            value[i, outside] = figure[outside, taken]
            gain[i, outside] = value[i, outside] - figure[outside, fixed]
    return gain, value


def _beats_chance(state: Float, reward: Float, right: Float, seed: int) -> bool:
    """Whether the states gain more than after every one of `PERMUTATIONS` shuffles; a miss ends it."""
    draw = np.random.default_rng([seed, 4])
    folds = int(draw.integers(2**31))  # the same for all, so that only the states differ
    own = _nested(state, reward, right, np.random.default_rng(folds))[0][0].mean()
    return all(
        _nested(draw.permutation(state), reward, right, np.random.default_rng(folds))[0][0].mean() < own
        for _ in range(PERMUTATIONS)
    )


def node_state(per_node: NDArray[Any]) -> Float:
    """Return what a node's state says of its place: the logarithms of its motif counts, and two flags."""
    counts = np.asarray(per_node, np.float64)
    degree, triangles = counts[:, 0], counts[:, 3]
    return np.column_stack([np.log1p(counts), degree == 0, triangles > 0]).astype(np.float64)
