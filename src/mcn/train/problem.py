"""A graph made ready for training. The labels of test nodes are not in it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.data import check_data
from mcn.data.sparse import feature_csr
from mcn.matrices import MotifStack
from mcn.motifs import MotifCounts, count_motifs
from mcn.train.config import Config
from mcn.train.features import inputs


class Known(NamedTuple):
    """The labels of the training and validation nodes (-1 elsewhere), these nodes, and the classes."""

    labels: torch.Tensor
    train: NDArray[np.int64]
    val: NDArray[np.int64]
    num_classes: int


class Labelled:
    """What every kind of problem has: labels that are known, and for which nodes."""

    labels: torch.Tensor
    train: NDArray[np.int64]
    val: NDArray[np.int64]

    @property
    def train_labels(self) -> torch.Tensor:
        """Classes of the training nodes, in the order of `train`."""
        return self.labels[torch.from_numpy(self.train)]

    @property
    def val_labels(self) -> torch.Tensor:
        """Classes of the validation nodes, in the order of `val`."""
        return self.labels[torch.from_numpy(self.val)]


@dataclass(frozen=True, eq=False)
class Problem(Labelled):
    """What a training run sees: features, the motif stack, and the labels of two parts of the nodes.

    `labels` is -1 wherever a node is in neither the training nor the validation part, so nothing
    downstream can look at a test label.
    """

    x: torch.Tensor
    stack: MotifStack
    labels: torch.Tensor
    train: NDArray[np.int64]
    val: NDArray[np.int64]
    num_classes: int

    def fingerprint(self) -> str:
        """SHA-256 of the edges, features, known labels and parts: whether a run is about this graph."""
        known = Known(self.labels, self.train, self.val, self.num_classes)
        return fingerprint(self.x, self.stack.base.indptr, self.stack.base.indices, known)


def fingerprint(x: torch.Tensor, indptr: NDArray[Any], indices: NDArray[Any], known: Known) -> str:
    """SHA-256 of features, edges (the rows of A) and what is known of the classes."""
    csr = feature_csr(x)
    sha = hashlib.sha256(f"{tuple(x.shape)} {known.num_classes}".encode())
    for whole in (csr.indptr, csr.indices, indptr, indices, *known[:3]):
        sha.update(np.asarray(whole, np.int64).tobytes())
    sha.update(np.ascontiguousarray(csr.data).tobytes())
    return sha.hexdigest()


def prepare(data: Data, config: Config, counts: MotifCounts | None = None) -> Problem:
    """Check a graph and make it ready.

    Args:
        data: with x, y, edge_index and the three masks.
        config: decides the motif stack and whether features are row-normalised.
        counts: the motif counts of `data`, if they are known already.

    Raises:
        ValueError: says what of `data` cannot be trained on, or which setting does not fit.
    """
    known = known_labels(data)
    stack = motif_stack(data, config, counts)
    return Problem(inputs(data, stack, config), stack, *known)


def known_labels(data: Data) -> Known:
    """Check a graph and take from it what training may know of the classes: nothing of the test nodes.

    Raises:
        ValueError: says what of `data` cannot be trained on.
    """
    if not isinstance(data, Data):
        raise ValueError(
            "expected a torch_geometric.data.Data with one kind of nodes and edges, "
            f"got {type(data).__name__}"
        )
    if data.y is None:
        raise ValueError(
            "the graph has no labels (data.y is missing); training needs the class of some of its nodes, "
            "for instance from a label column in the node table"
        )
    check_data(data)
    if not data.val_mask.any():
        raise ValueError("data.val_mask is empty; training needs validation nodes to know when to stop")
    y = data.y.to(torch.int64)
    return Known(
        torch.where(data.train_mask | data.val_mask, y, torch.full_like(y, -1)),
        data.train_mask.nonzero().squeeze(1).numpy(),
        data.val_mask.nonzero().squeeze(1).numpy(),
        _num_classes(data),
    )


def motif_stack(
    data: Data,
    config: Config,
    counts: MotifCounts | None = None,
    count_scale: NDArray[np.float64] | None = None,
) -> MotifStack:
    """The motif stack that a configuration asks for; see `MotifStack.from_counts` for `count_scale`."""
    if counts is None:
        counts = count_motifs(data.edge_index, data.num_nodes)
    return MotifStack.from_counts(
        counts,
        config.motifs,
        config.steps,
        config.psi,
        scope=config.scope,
        add_edges=config.add_edges,
        materialize=config.materialize,
        count_scale=count_scale,
    )


def class_names(data: Data) -> list[str] | None:
    """The names of the classes in the order of their numbers, where the data has names."""
    names = getattr(data, "classes", None)
    return None if names is None else [str(name) for name in names]


def _num_classes(data: Data) -> int:
    """Classes named in the data, else one more than the largest class number.

    How many classes there are is no secret of the test nodes: it is part of the task.
    """
    names, largest = class_names(data), int(data.y.max())
    if names is None:
        return largest + 1
    if largest >= len(names):
        raise ValueError(
            f"data.y holds class {largest}, but data.classes has {len(names)} names; expected one per class"
        )
    return len(names)
