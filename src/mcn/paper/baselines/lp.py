"""Without features: the most frequent class; label propagation (Zhu et al. 2003; Zhou et al. 2004)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.experiments.engine.methods import register
from mcn.paper.baselines.matrices import best_scores, class_shares, one_hot
from mcn.train import Problem

ALPHAS = (0.5, 0.7, 0.9, 0.99)
STEPS = (3, 10, 50)


@register("majority", graph=False)
def majority(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Every node gets the shares of the classes among the nodes with a known label.

    Known are training and validation labels: training parts with the same number of nodes per class, as
    in the citation graphs, do not say which class is the largest.
    """
    return np.tile(class_shares(problem).astype(np.float32), (problem.inputs.num_nodes, 1))


@register("lp", probabilities=False)
def lp(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Labels of the training nodes spread over the graph; weight and steps chosen on validation."""
    return best_scores((propagated(problem, steps, alpha) for steps in STEPS for alpha in ALPHAS), problem)


def propagated(problem: Problem, steps: int, alpha: float) -> NDArray[np.float64]:
    """``F ← α D^-1/2 A D^-1/2 F + (1 - α) Y``, `steps` times, from Y, the training labels.

    A node that no label reaches gets the shares of the classes, as small as to decide nothing else.
    """
    from torch_geometric.nn import LabelPropagation

    known = np.full(problem.inputs.num_nodes, -1)
    known[problem.train] = problem.train_labels.numpy()
    y = torch.from_numpy(one_hot(known, problem.num_classes))
    spread = LabelPropagation(steps, alpha)(y, torch.from_numpy(problem.inputs.edge_index))
    scores: NDArray[np.float64] = spread.numpy()
    return np.where(scores.sum(1, keepdims=True) > 0, scores, 1e-12 * class_shares(problem))
