"""What the labels of training nodes nearby add to a candidate's predictions: Correct and Smooth.

After Huang et al. 2021. What a candidate got wrong on training nodes is passed along edges and added to what
it says of others ("correct"); or predictions are drawn towards those nearby, the known labels among them
("smooth"). Held-out nodes decide whether either is kept: most networks have learned from their neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mcn.train.select.blend import Float

_STEPS, _DECAY = 10, 0.8
_CONFIRMED = 3.0
"""Standard errors by which the loss on held-out nodes has to fall: every candidate has a try."""


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

    A mean residual counts less where few walks end at a training node.

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
