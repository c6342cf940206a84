"""A method of your own beside the others: one function, registered by name.

python examples/own_baseline.py --seeds 2
"""

from __future__ import annotations

import argparse

import numpy as np

import mcn
from mcn.data import feature_csr
from mcn.experiments import compare, register, val_accuracy
from mcn.train import Problem


@register("smoothed-centroid")
def smoothed_centroid(problem: Problem, seed: int) -> np.ndarray:
    """Average features over the neighbours a few times; the nearest class centre wins.

    `problem` holds no test labels; how often to average is chosen on validation nodes.
    """
    x = feature_csr(problem.inputs.x).toarray()
    source, target = problem.inputs.edge_index
    degree = np.bincount(source, minlength=len(x))[:, None] + 1.0
    best, chosen = -1.0, None
    for _ in range(4):
        scores = similarity(x, centres(x, problem))
        if val_accuracy(problem, scores) > best:
            best, chosen = val_accuracy(problem, scores), scores
        summed = x.copy()
        np.add.at(summed, source, x[target])
        x = summed / degree
    return chosen.astype(np.float32)


def centres(x: np.ndarray, problem: Problem) -> np.ndarray:
    """The mean features of the training nodes of each class."""
    known = problem.train_labels.numpy()[:, None] == np.arange(problem.num_classes)
    return known.T @ x[problem.train] / known.sum(0)[:, None]


def similarity(x: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Cosines."""
    x, centre = (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12) for v in (x, centre))
    return x @ centre.T


parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--seeds", type=int, default=2)
options = parser.parse_args()
data = mcn.load_dataset("strong-ties")
for row in compare(data, ["majority", "lp", "smoothed-centroid"], range(options.seeds)):
    print(f"{row['method']:18s} test {row['test_mean']:.1f}, validation {row['val_mean']:.1f}")
