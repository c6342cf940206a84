"""Predictions of candidates made comparable (calibrated), mixed (blend), and corrected by labels nearby."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mcn.train.tasks import Task

Float = NDArray[np.float64]
REPEATS, OUTER_FOLDS = 3, 10
"""How often, and into how many folds, held-out nodes are dealt out to judge a choice made on the others."""
_MEMBERS = 20  # of a blend
_DRAWS, _DRAWN = 20, 5000  # how often nodes are drawn at most, and how many in all
_STEPS, _DECAY = 10, 0.8
_CONFIRMED = 3.0
"""Standard errors by which the loss on held-out nodes has to fall: every candidate has a try."""


def calibrated(task: Task, outputs: Float, targets: NDArray[Any], fold: NDArray[np.int64]) -> Float:
    """Return held-out predictions: every fold with the temperature that suits the other folds."""
    found = np.empty_like(outputs)
    for number in np.unique(fold):
        own = fold == number
        others = ~own if not own.all() else own
        found[own] = task.calibrated(outputs[own], task.temperature(outputs[others], targets[others]))
    return found


def blend(task: Task, outputs: Float, targets: NDArray[Any]) -> Float:
    """Return the shares [candidates] of a blend: members are taken in one by one, the best for the loss.

    A member may be taken in more than once; the shares are how often each was. Few nodes would let chance
    decide between equals: then it is done on several draws of as many nodes with replacement, and the shares
    are the means over these (Caruana et al. 2006), without those of less than one member.

    >>> sure, unsure = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.6, 0.4], [0.4, 0.6]])
    >>> from mcn.train.tasks import Classes
    >>> blend(Classes(2), np.stack([unsure, sure]), np.array([0, 1])).tolist()
    [0.0, 1.0]
    """
    outputs, targets = task.of_truth(outputs, targets)
    count = len(targets)
    draws, draw = min(_DRAWS, _DRAWN // max(1, count)), np.random.default_rng(count)
    taken = np.zeros(len(outputs))
    for _ in range(max(1, draws)):
        often = draw.multinomial(count, np.full(count, 1 / count)) if draws > 1 else np.ones(count)
        sum_ = np.zeros(outputs.shape[1:])
        for number in range(1, _MEMBERS + 1):
            best = int((task.losses((sum_ + outputs) / number, targets) @ often).argmin())
            taken[best] += 1
            sum_ = sum_ + outputs[best]
    taken[taken < taken.sum() / _MEMBERS] = 0
    return np.asarray(taken / taken.sum())


def held_out_blend(task: Task, outputs: Float, targets: NDArray[Any], fold: NDArray[np.int64]) -> Float:
    """Return the predictions of a blend, [n, outputs]: every fold by the shares that suit the others."""
    found: Float = np.empty(outputs.shape[1:])
    right, none = task.of_truth(outputs, targets)
    for number in np.unique(fold):
        own = fold == number
        others = ~own if not own.all() else own
        found[own] = np.tensordot(blend(task, right[:, others], none[others]), outputs[:, own], 1)
    return found


def blend_gain(
    task: Task,
    outputs: Float,
    targets: NDArray[Any],
    merit: Callable[[Float, NDArray[Any]], float],
    seed: int,
    nodes: NDArray[np.int64] | None = None,
) -> float:
    """Return by how much a blend is better than the best candidate, both found on other nodes.

    The best of several on some nodes looks better on these very nodes than it is; a blend is less flattered.
    So both are found on nine of ten folds and predict the tenth; three times, in other folds.

    `outputs` are the predictions of every candidate, [candidates, n, outputs]; `merit` says how good they
    are, more being better. `nodes` is the node of every row, where there are several of one: they stay
    together.
    """
    draw, gains = np.random.default_rng([seed, 5]), []
    right, none = task.of_truth(outputs, targets)
    of = np.arange(len(targets)) if nodes is None else np.unique(nodes, return_inverse=True)[1]
    for _ in range(REPEATS):
        best, blended = np.empty((2, *outputs.shape[1:]))
        for inside_nodes, outside_nodes in split_nodes(int(of.max()) + 1, OUTER_FOLDS, draw):
            inside, outside = inside_nodes[of], outside_nodes[of]
            merits = [merit(each[inside], targets[inside]) for each in outputs]
            best[outside] = outputs[int(np.argmax(merits)), outside]
            shares = blend(task, right[:, inside], none[inside])
            blended[outside] = np.tensordot(shares, outputs[:, outside], 1)
        gains.append(merit(blended, targets) - merit(best, targets))
    return float(np.mean(gains))


def split_nodes(
    count: int, folds: int, draw: np.random.Generator
) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Deal nodes out to folds at random; return, for every fold, the nodes outside it and those inside."""
    fold = draw.permutation(count) % folds
    return [(fold != number, fold == number) for number in range(folds) if (fold == number).any()]


# What the labels of training nodes nearby add: Correct and Smooth, after Huang et al. 2021.


def near(edges: Any, values: Float) -> Float:
    """Return the sum over walks of one step and more, a step weighing `_DECAY` times the one before it.

    `edges` are rows that add up to 1, or to 0 for a node without neighbours.
    """
    total, step = np.zeros_like(values), values
    for _ in range(_STEPS):
        step = _DECAY * (edges @ step)
        total += step
    return total


def corrections(edges: Any, outputs: Float, train: NDArray[np.int64], truth: Float) -> dict[str, Float]:
    """Return what to add to the predictions of all nodes, [N, outputs], by the name of the way.

    "correct": what a candidate got wrong on training nodes is passed along edges; a mean residual counts less
    where few walks end at a training node. "smooth": predictions are drawn towards those nearby, the known
    labels among them. Held-out nodes decide whether either is kept (`confirmed`): most networks have learned
    from their neighbours.

    >>> line = sparse.csr_array(np.array([[0.0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]]))
    >>> found = corrections(line, np.full((3, 1), 0.5), np.array([0]), np.array([[1.0]]))
    >>> found["correct"].ravel().round(2).tolist(), found["smooth"].ravel().round(2).tolist()
    ([0.24, 0.27, 0.24], [0.06, 0.07, 0.06])
    """
    residual, known, clamped = np.zeros_like(outputs), np.zeros((len(outputs), 1)), outputs.copy()
    residual[train], known[train], clamped[train] = truth - outputs[train], 1.0, truth
    reach, mass = near(edges, known), near(edges, np.ones_like(known))
    mean = np.divide(near(edges, clamped), mass, out=outputs.copy(), where=mass > 0)
    return {
        "correct": near(edges, residual) / (reach + max(float(reach.mean()), 1e-12)),
        "smooth": (mean - outputs) / 2,
    }


def confirmed(before: Float, after: Float) -> float:
    """Return by how much the losses of held-out nodes fall, in standard errors; 0 where that is not clear."""
    gain = before - after
    error = float(gain.std(ddof=1)) / np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    clear = gain.mean() / error if error > 0 else 0.0
    return float(clear) if clear > _CONFIRMED else 0.0


def walk_matrix(adjacency: Any) -> Any:
    """Return the matrix of a walk's steps: every row divided by its sum."""
    degree = np.asarray(adjacency.sum(1), np.float64).ravel()
    return sparse.csr_array(sparse.diags_array(1 / np.maximum(degree, 1e-300)) @ adjacency)
