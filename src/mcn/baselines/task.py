"""What a baseline is given: a graph without the labels of its test nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import torch
import yaml
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.data import simple_graph
from mcn.motifs import MotifCounts
from mcn.train.features import node_features
from mcn.train.problem import known_labels


@dataclass(frozen=True, eq=False)
class Task:
    """A node classification task.

    x: float32 [N, F], dense or sparse CSR, made ready as for a network (`mcn.train.features`): of counts of
    words the absolute values of each row sum to one.
    edge_index: int64 [2, 2M], both directions of every edge, no self-loops, no repetitions.
    labels: int64 [N], -1 for every node that is in neither `train` nor `val`: test labels are not in it.
    train, val: int64 node ids. Validation labels are for selection (epochs, settings), not for fitting.
    num_classes: number of classes.
    dataset: name of the data set, for methods whose reference settings differ between them; or None.
    """

    x: torch.Tensor
    edge_index: NDArray[np.int64]
    labels: torch.Tensor
    train: NDArray[np.int64]
    val: NDArray[np.int64]
    num_classes: int
    dataset: str | None = None

    @property
    def num_nodes(self) -> int:
        """N."""
        return int(self.x.shape[0])

    @property
    def train_labels(self) -> NDArray[np.int64]:
        """Classes of the training nodes, in the order of `train`."""
        return self.labels.numpy()[self.train]

    @property
    def val_labels(self) -> NDArray[np.int64]:
        """Classes of the validation nodes, in the order of `val`."""
        return self.labels.numpy()[self.val]

    def published(self, method: str) -> dict[str, Any]:
        """Return what the paper behind a method sets for this data set; nothing elsewhere."""
        return published(method, self.dataset)

    def val_accuracy(self, scores: NDArray[np.floating]) -> float:
        """Share of the validation nodes whose class has the largest score."""
        return float((scores[self.val].argmax(1) == self.val_labels).mean())


def published(method: str, dataset: str | None) -> dict[str, Any]:
    """Return what `published.yaml` has for a method on a data set; nothing for most."""
    found: dict[str, Any] = _published().get(method, {}).get(dataset or "", {})
    return found


@cache
def _published() -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = yaml.safe_load(
        (resources.files("mcn.baselines") / "published.yaml").read_bytes()
    )
    return content


Scorer = Callable[[Task, int], NDArray[np.float32]]
"""A baseline: task and seed in, a score per node and class [N, C] out."""


def task_from_data(data: Data, dataset: str | None = None, counts: MotifCounts | None = None) -> Task:
    """Check a graph and make a `Task` of it.

    Args:
        data: with x, y, edge_index and the three masks.
        dataset: its name ("cora", "citeseer", "pubmed" …), if it has one.
        counts: its motif counts, if they are known already.

    Raises:
        ValueError: says what of `data` cannot be trained on.
    """
    known = known_labels(data)
    edges = simple_graph(data.edge_index, data.num_nodes).edge_index
    return Task(node_features(data, normalize=True, counts=counts).x, edges, *known[:4], dataset)
