"""Probabilities of candidates made comparable (temperature), and mixed (blend), by held-out nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
TEMPERATURES = np.geomspace(0.01, 5.0, 40)
REPEATS, OUTER_FOLDS = 3, 10
"""How often, and into how many folds, held-out nodes are dealt out to judge a choice made on the others."""
_MEMBERS = 20  # of a blend


def tempered(probabilities: NDArray[Any], temperature: float) -> Float:
    """Return class probabilities whose logarithms are divided by a temperature.

    >>> tempered(np.array([[0.8, 0.2]]), 0.5).round(3).tolist()
    [[0.941, 0.059]]
    """
    scaled = np.log(np.clip(probabilities.astype(np.float64), 1e-30, None)) / temperature
    scaled = np.exp(scaled - scaled.max(1, keepdims=True))
    return np.asarray(scaled / scaled.sum(1, keepdims=True))


def best_temperature(probabilities: Float, labels: NDArray[np.int64]) -> float:
    """Return the temperature of a wide grid with the least log-loss."""
    own = np.arange(len(labels)), labels
    losses = [-np.log(np.clip(tempered(probabilities, t)[own], 1e-12, None)).mean() for t in TEMPERATURES]
    return float(TEMPERATURES[int(np.argmin(losses))])


def calibrated(probabilities: Float, labels: NDArray[np.int64], fold: NDArray[np.int64]) -> Float:
    """Return held-out probabilities: every fold with the temperature that suits the other folds."""
    found = np.empty_like(probabilities)
    for number in np.unique(fold):
        own = fold == number
        others = ~own if not own.all() else own
        found[own] = tempered(probabilities[own], best_temperature(probabilities[others], labels[others]))
    return found


def blend(probabilities: Float, labels: NDArray[np.int64]) -> Float:
    """Return the shares [candidates] of a blend: members are taken in one by one, the best for the log-loss.

    A member may be taken in more than once; the shares are how often each was.

    >>> sure, unsure = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.6, 0.4], [0.4, 0.6]])
    >>> blend(np.stack([unsure, sure]), np.array([0, 1])).tolist()
    [0.0, 1.0]
    """
    hit = probabilities[:, np.arange(len(labels)), labels]
    taken, sum_ = np.zeros(len(hit)), np.zeros(len(labels))
    for number in range(1, _MEMBERS + 1):
        best = int(np.log(np.clip((sum_ + hit) / number, 1e-12, None)).mean(1).argmax())
        taken[best] += 1
        sum_ = sum_ + hit[best]
    return np.asarray(taken / _MEMBERS)


def held_out_blend(probabilities: Float, labels: NDArray[np.int64], fold: NDArray[np.int64]) -> Float:
    """Return the probabilities of a blend, [n, classes]: every fold by the shares that suit the others."""
    found: Float = np.empty(probabilities.shape[1:])
    for number in np.unique(fold):
        own = fold == number
        others = ~own if not own.all() else own
        found[own] = np.tensordot(blend(probabilities[:, others], labels[others]), probabilities[:, own], 1)
    return found


def blend_gain(
    probabilities: Float,
    labels: NDArray[np.int64],
    merit: Callable[[Float, NDArray[np.int64]], float],
    seed: int,
    nodes: NDArray[np.int64] | None = None,
) -> float:
    """Return by how much a blend is better than the best candidate, both found on other nodes.

    The best of several on some nodes looks better on these very nodes than it is; a blend is less flattered.
    So both are found on nine of ten folds and predict the tenth; three times, in other folds.

    `probabilities` are those of every candidate, [candidates, n, classes]; `merit` says how good they are,
    more being better. `nodes` is the node of every row, where there are several of one: they stay together.
    """
    draw, gains = np.random.default_rng([seed, 5]), []
    of = np.arange(len(labels)) if nodes is None else np.unique(nodes, return_inverse=True)[1]
    for _ in range(REPEATS):
        best, blended = np.empty((2, *probabilities.shape[1:]))
        for inside_nodes, outside_nodes in split_nodes(int(of.max()) + 1, OUTER_FOLDS, draw):
            inside, outside = inside_nodes[of], outside_nodes[of]
            merits = [merit(each[inside], labels[inside]) for each in probabilities]
            best[outside] = probabilities[int(np.argmax(merits)), outside]
            shares = blend(probabilities[:, inside], labels[inside])
            blended[outside] = np.tensordot(shares, probabilities[:, outside], 1)
        gains.append(merit(blended, labels) - merit(best, labels))
    return float(np.mean(gains))


def split_nodes(
    count: int, folds: int, draw: np.random.Generator
) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Deal nodes out to folds at random; return, for every fold, the nodes outside it and those inside."""
    fold = draw.permutation(count) % folds
    return [(fold != number, fold == number) for number in range(folds) if (fold == number).any()]
