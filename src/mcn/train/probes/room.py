"""How much choosing per node could gain on a graph, and how much of what an oracle shows is chance.

Someone who knew the answers would pick, for every node, a candidate that is right: on any graph that looks
like a large gain, because candidates that are wrong at random are seldom wrong together. What can be had is
less: a chooser may know how likely each class is at a node, not which one it is. With such a posterior both
figures follow without drawing labels: the oracle's expected gain if the posterior were the truth (what chance
alone shows), and the gain of a chooser who knows the posterior (the bound).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mcn.train.probes.choose import Float, tempered

PENALTIES = (100.0, 1.0, 0.1, 0.01)
"""On how a node's state changes the weight of a candidate; the first leaves nearly nothing of it."""
_MOST = 1000  # held-out nodes that are looked at; more would cost more than they tell
_TINY = 1e-12


class Room(NamedTuple):
    """What is there to gain beyond one candidate for all, in shares of the held-out nodes.

    apparent: by an oracle who knows the answers. chance: what such an oracle would show by chance alone.
    bound: by a chooser who knows how likely each class is at each node, and not more.
    """

    apparent: float
    chance: float
    bound: float


def reachable(probabilities: Float, state: Float, labels: NDArray[np.int64], seed: int) -> Room:
    """Estimate the room from held-out predictions.

    Args:
        probabilities: calibrated class probabilities of every candidate on held-out nodes,
            [candidates, n, classes].
        state: of the nodes, [n, state].
        labels: [n].
        seed: decides the folds, and the nodes that are looked at where there are many.
    """
    draw = np.random.default_rng([seed, 4])
    some = np.sort(draw.permutation(len(labels))[:_MOST])
    probabilities, state, labels = probabilities[:, some], state[some], labels[some]
    taken = probabilities.argmax(2)
    right = taken == labels
    likely = posterior(probabilities, state, labels, draw)
    known = np.take_along_axis(likely, taken.T, 1)
    # Candidates that say the same class are right together: it counts once.
    said = np.zeros_like(likely)
    np.put_along_axis(said, taken.T, 1.0, 1)
    best = known.mean(0).max()
    return Room(
        float(right.any(0).mean() - right.mean(1).max()),
        float((likely * said).sum(1).mean() - best),
        float(known.max(1).mean() - best),
    )


def posterior(
    probabilities: Float, state: Float, labels: NDArray[np.int64], draw: np.random.Generator
) -> Float:
    """Return how likely each class is at each node, [n, classes]; those of a fold are fitted on the others.

    A product of the candidates, ``q(k) ∝ Π_c p_c(k)^(a_c + b_c · s)``: which of them are believed, and how
    far, depends on the node's state s.
    """
    count = len(labels)
    scale = state.std(0)
    s = np.column_stack([np.ones(count), (state - state.mean(0)) / np.where(scale > _TINY, scale, 1.0)])
    logits = np.log(np.clip(probabilities, 1e-6, None)).transpose(1, 2, 0)  # [n, classes, candidates]
    columns = (logits[:, :, :, None] * s[:, None, None, :]).reshape(count, logits.shape[1], -1)
    free = np.zeros((logits.shape[2], s.shape[1]))
    free[:, 0] = 1.0
    fold = draw.permutation(count) % min(5, count)
    found = np.empty((len(PENALTIES), *logits.shape[:2]))
    for number in np.unique(fold):
        own, others = fold == number, fold != number
        for i, penalty in enumerate(PENALTIES):
            penalties = np.where(free.ravel() > 0, 1e-3, penalty)
            weights = _fit(columns[others], labels[others], penalties, free.ravel() / logits.shape[2])
            found[i, own] = tempered(columns[own] @ weights, 1.0)
    own_class = found[:, np.arange(count), labels]
    return np.asarray(found[np.log(np.clip(own_class, _TINY, None)).mean(1).argmax()])


def _fit(columns: Float, labels: NDArray[np.int64], penalties: Float, start: Float) -> Float:
    """Return the weights with the least log-loss and penalty; the problem is convex."""
    count, classes, _ = columns.shape
    flat, nodes = columns.reshape(count * classes, -1), np.arange(count)
    own = columns[nodes, labels].sum(0)

    def loss(weights: Float) -> tuple[float, Float]:
        p = tempered((flat @ weights).reshape(count, classes), 1.0)
        value = -np.log(np.clip(p[nodes, labels], _TINY, None)).mean()
        slope = (p.ravel() @ flat - own) / count
        pull = penalties * (weights - start)
        return float(value + 0.5 * pull @ (weights - start)), slope + pull

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 60}).x)
