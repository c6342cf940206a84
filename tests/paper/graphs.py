"""Small graphs for the baselines."""

from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from mcn.data import feature_tensor
from mcn.experiments import GraphInputs, graph_problem
from mcn.experiments.engine.methods import Scorer
from mcn.paper.baselines import METHODS
from mcn.train import Problem
from mcn.train.problem import Known
from mcn.train.tasks import Classes


def blocks(seed: int = 3, sparse: bool = True) -> Data:
    """150 nodes of 3 classes that mostly know their own class; 8 words each, half of them the class's.

    One node in five has a label drawn at random: no method can be always right, which GAT's stopping rule
    would wait on without end.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(150) % 3
    chance = np.where(y[:, None] == y, 0.1, 0.005)
    pairs = np.argwhere(np.triu(rng.random((150, 150)) < chance, 1)).T
    x = np.zeros((150, 30), np.float32)
    for node, label in enumerate(y):
        x[node, rng.choice(10, 4, replace=False) + 10 * label] = 1
        x[node, rng.choice(30, 4, replace=False)] = 1
    part = np.repeat([0, 1, 2], [30, 70, 50])[np.argsort(rng.permutation(150))]
    masks = {f"{name}_mask": torch.from_numpy(part == i) for i, name in enumerate(("train", "val", "test"))}
    y = np.where(rng.random(150) < 0.2, rng.integers(3, size=150), y)
    edges = torch.from_numpy(np.concatenate([pairs, pairs[::-1]], axis=1))
    return Data(x=feature_tensor(x, dense=not sparse), y=torch.from_numpy(y), edge_index=edges, **masks)


def block_problem(sparse: bool = True, dataset: str | None = None) -> Problem:
    return graph_problem(blocks(sparse=sparse), dataset)


def path_problem() -> Problem:
    """0 - 1 - 2 - 3 and 4 alone; node 0 is of class 0, node 3 of class 1, node 1 and 4 are for validation."""
    edges = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    return made_problem(torch.eye(5), edges, torch.tensor([0, 0, -1, 1, 0]), [0, 3], [1, 4], 2)


def made_problem(x: Any, edges: Any, labels: Any, train: object, val: object, classes: int) -> Problem:
    known = Known(labels, np.asarray(train), np.asarray(val), Classes(classes))
    return Problem(GraphInputs(x, edges), known)


def baseline(name: str) -> Scorer:
    """The function of a method that is not trained."""
    return METHODS[name].function
