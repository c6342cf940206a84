"""A graph made ready for training. The labels of test nodes are not in it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from mcn._names import spell_option
from mcn.data import check_data
from mcn.data.checks import weight_matrix
from mcn.data.sparse import feature_csr
from mcn.data.targets import strata, target_kind
from mcn.matrices.adjacencies import without_direction
from mcn.motifs import DirectedCounts, MotifCounts
from mcn.motifs.neighbourhoods import directed_neighbourhood
from mcn.store import GraphStore, node_data
from mcn.train.held_out import FOLDS, folds_of
from mcn.train.recipes import work_of
from mcn.train.settings import Settings
from mcn.train.tasks import Task, task_of
from mcn.train.treated import treated_graph

if TYPE_CHECKING:
    from torch_geometric.data import Data

_OF_EDGES = ("edges", "weights", "directions")
_FOLLOWS = {"weights": "edges", "directions": "edges", "labels": "split"}
"""Parts that cannot be compared where another one differs."""
FACTS = {"nodes": int, "edges": int, "columns": int, "sha256": {str: str}}
"""The fields that the facts of every graph have, see `mcn.data.fields`."""


class Known(NamedTuple):
    """What training may know of the targets.

    labels: as `data.y`, int64 [N] for classes; -1, or NaN, wherever a node is in neither the training nor the
    validation part, so that nothing downstream can look at a test label. train, val: node ids. task: what is
    predicted. at_random: whether chance alone decided which nodes are in which of the two parts, and not a
    time, a group or a person. arcs: of a graph whose direction is used, the SHA-256 of its arcs: it goes with
    what tells graphs apart.
    """

    labels: torch.Tensor
    train: NDArray[np.int64]
    val: NDArray[np.int64]
    task: Task
    at_random: bool = False
    arcs: str = ""

    @property
    def num_classes(self) -> int:
        """How many outputs a network has: the number of classes, or of targets."""
        return self.task.outputs

    @property
    def targets(self) -> NDArray[Any]:
        """Targets of the training and validation nodes."""
        return np.asarray(self.labels.numpy()[np.concatenate([self.train, self.val])])

    def check_sums(self) -> dict[str, str]:
        """Return the SHA-256 of split, labels and directions."""
        split = sha256_of(self.train, [-1], self.val)
        labels = sha256_of([self.num_classes], self.labels.numpy())
        return {"split": split, "labels": labels, "directions": self.arcs}

    @property
    def has_folds(self) -> bool:
        """Whether each fold of both parts can be validation nodes for the others.

        Two classes at least must be in every fold. Training nodes that are fewer than the validation nodes
        say that somebody wants to know what so few labels teach: then the others must not train.
        """
        both = np.concatenate([self.train, self.val])
        sizes = np.bincount(strata(self.labels.numpy())[both])
        enough = int((sizes >= FOLDS).sum()) >= min(2, int((sizes > 0).sum()))
        return len(self.train) >= len(self.val) and enough

    def fold(self, seed: int, number: int) -> Known:
        """Cut both parts into `FOLDS` folds, every class evenly: one is for validation, the others train."""
        both = np.sort(np.concatenate([self.train, self.val]))
        held_out = folds_of(self.labels.numpy()[both], seed) == number
        return self._replace(train=both[~held_out], val=both[held_out])


class Memory(NamedTuple):
    """What a trained network remembers of the graph it was trained on.

    in_channels: number of input features. feature_names: their names, if they had any. state: plain values
    of the recipe's own, see `Inputs.state`.
    """

    in_channels: int
    feature_names: list[str] | None
    state: dict[str, Any]


class Inputs(Protocol):
    """What a network takes from a graph; each recipe has its own."""

    @property
    def in_channels(self) -> int:
        """Number of input features."""
        ...

    def state(self) -> dict[str, Any]:
        """Return plain values that another graph needs to be prepared in the same way."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return what tells the graph from others, see `graph_facts`."""
        ...


@dataclass(frozen=True, eq=False)
class Problem:
    """What a training run sees: the inputs of the network, and what is known of the targets."""

    inputs: Any
    known: Known

    @property
    def task(self) -> Task:
        """What is predicted."""
        return self.known.task

    @property
    def num_classes(self) -> int:
        """C: how many outputs a network has."""
        return self.known.num_classes

    @property
    def train(self) -> NDArray[np.int64]:
        """Ids of the training nodes."""
        return self.known.train

    @property
    def val(self) -> NDArray[np.int64]:
        """Ids of the validation nodes."""
        return self.known.val

    @property
    def labels(self) -> torch.Tensor:
        """Targets of the training and validation nodes, unknown elsewhere, [N] or [N, targets]."""
        return self.known.labels

    @property
    def train_labels(self) -> torch.Tensor:
        """Targets of the training nodes, in the order of `train`."""
        return self.labels[torch.from_numpy(self.train)]

    @property
    def val_labels(self) -> torch.Tensor:
        """Targets of the validation nodes, in the order of `val`."""
        return self.labels[torch.from_numpy(self.val)]

    def class_weights(self, kind: str) -> torch.Tensor | None:
        """Return what a training node of each class weighs in the loss, see `Task.class_weights`."""
        return self.task.class_weights(kind, self.train_labels)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The sizes of the graph, and the SHA-256 of its edges, columns, split and labels."""
        facts: dict[str, Any] = self.inputs.facts()
        return facts | {"sha256": facts["sha256"] | self.known.check_sums()}

    def fingerprint(self) -> str:
        """Return the SHA-256 of the edges, features, known labels and parts: which graph a run is about."""
        return hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()

    def memory(self, data: Data | GraphStore | None) -> Memory:
        """Return what a network trained on this remembers of its graph, and `data` of its columns."""
        if isinstance(data, GraphStore):
            data = node_data(data)
        feature_names = getattr(data, "feature_names", None)
        plain = None if feature_names is None else [str(name) for name in feature_names]
        state, treatment = self.inputs.state(), getattr(data, "treatment", None)
        if treatment is not None:
            state |= {"treatment": treatment.to_dict()}
        if task := self.task.to_dict():
            state |= {"task": task}
        return Memory(int(self.inputs.in_channels), plain, state)


def prepare(data: Data | GraphStore, config: Settings, counts: MotifCounts | None = None) -> Problem:
    """Check a graph and make it ready for the recipe of a configuration.

    Args:
        data: with x, y, edge_index and the three masks; or a store with the same.
        config: decides the matrices and what becomes of the features.
        counts: the motif counts of `data`, if they are known already.

    Raises:
        ValueError: says what of `data` cannot be trained on, or which setting does not fit.
    """
    known = known_labels(data)
    return Problem(work_of(config).inputs(treated_graph(data, config), config, counts), known)


def stack_counts(data: Data, counts: MotifCounts, motifs: Sequence[str]) -> MotifCounts | DirectedCounts:
    """Return what a stack of these motifs is made of: the directed counts if one of them is directed.

    Raises:
        ValueError: one is, and the direction of the graph is not used (`data.directed`).
    """
    wanted = [name for name in motifs if directed_neighbourhood(name)]
    if wanted and not data.get("directed"):
        raise without_direction(wanted[0])
    return counts.directed if wanted else counts


def input_weights(data: Data, memory: Memory | None) -> Any:
    """Return the weights of a graph's edges (see `weight_matrix`), None if it has none.

    Raises:
        ValueError: they are no weights, or only one of this graph and the one trained on (`memory`) has some.
    """
    weights = weight_matrix(data)
    if memory is not None and bool(memory.state.get("weighted")) != (weights is not None):
        trained, here = ("with", "none") if weights is None else ("without", "some")
        raise ValueError(
            f"the network was trained {trained} edge weights, and this graph has {here}; give it as in "
            "training"
        )
    return weights


def graph_facts(
    x: torch.Tensor, indptr: NDArray[Any], indices: NDArray[Any], weights: Any = None
) -> dict[str, Any]:
    """Return the sizes of a graph and the SHA-256 of its features, its edges (the rows of A) and weights."""
    csr = feature_csr(x)
    sha256 = {"edges": sha256_of(indptr, indices), "columns": sha256_of(csr.indptr, csr.indices, csr.data)}
    if weights is not None:
        sha256["weights"] = sha256_of(weights.data)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    edges = int(np.count_nonzero(rows < indices))  # A may have a diagonal
    return {"nodes": len(indptr) - 1, "edges": edges, "columns": x.shape[1], "sha256": sha256}


def sha256_of(*arrays: Any) -> str:
    """Return the SHA-256 of arrays one after the other; whole numbers of any width count as int64."""
    sha = hashlib.sha256()
    for array in map(np.asarray, arrays):
        whole = np.issubdtype(array.dtype, np.integer)
        sha.update(np.ascontiguousarray(array, np.int64 if whole else array.dtype).tobytes())
    return sha.hexdigest()


def graph_changes(
    before: Mapping[str, Any], here: Mapping[str, Any], source: Mapping[str, Any], when: str = " now"
) -> str:
    """Say by file how a graph differs from the one trained on; empty if it does not.

    Args:
        before: the facts that a run states of its graph.
        here: those of the graph given; what only one of the two states is not compared.
        source: where the graph given is from: its dataset, or its graph and nodes.
        when: follows the figures of the graph given.
    """
    graph = source.get("graph") or source.get("dataset") or "the graph"
    edge_file, node_file = (Path(str(name)).name for name in (graph, source.get("nodes") or graph))
    sizes = [size for size in ("nodes", "edges", "columns") if here[size] != before[size]]
    changes = {size: f"{here[size]:,} {size}{when}, {before[size]:,} in training" for size in sizes}
    parts = {part for part, sha in here["sha256"].items() if before["sha256"].get(part, sha) != sha}
    for part in sorted(parts - changes.keys()):
        if "nodes" not in sizes and _FOLLOWS.get(part) not in parts:  # else it has to differ
            changes[part] = f"{'another' if part == 'split' else 'other'} {part} than in training"
    return "; ".join(
        f"{edge_file if part in _OF_EDGES else node_file} has {what}" for part, what in changes.items()
    )


def known_labels(data: Data | GraphStore) -> Known:
    """Check a graph and take from it what training may know of the targets: nothing of the test nodes.

    Raises:
        ValueError: says what of `data` cannot be trained on.
    """
    from torch_geometric.data import Data

    if isinstance(data, GraphStore):
        data = _labels_of(data)
    elif not isinstance(data, Data):
        raise ValueError(
            "expected a torch_geometric.data.Data with one kind of nodes and edges, "
            f"got {type(data).__name__}"
        )
    if data.y is None:
        said = (line for line in data.get("report") or () if line.startswith("no labels"))
        raise ValueError(
            "the graph has no labels (data.y is missing); training needs the class of some of its nodes: "
            + next(said, "for instance from a label column in the node table")
        )
    graph = None if data.edge_index is None else check_data(data)
    if not data.val_mask.any():
        raise ValueError(
            "data.val_mask is empty: there are no validation nodes, by which training knows when to stop; "
            f"label more nodes, or divide them in another way ({spell_option('split')})"
        )
    classes = target_kind(data.y) == "classes"
    labels = data.y.to(torch.int64 if classes else torch.float32).clone()
    labels[~(data.train_mask | data.val_mask)] = -1 if classes else math.nan
    return Known(
        labels,
        data.train_mask.nonzero().squeeze(1).numpy(),
        data.val_mask.nonzero().squeeze(1).numpy(),
        task_of(labels[data.train_mask].numpy(), _num_classes(data) if classes else 0),
        bool(data.get("split_at_random", False)),
        hashlib.sha256(graph.arcs.tobytes()).hexdigest() if graph and data.get("directed") else "",
    )


def _labels_of(store: GraphStore) -> Data:
    """Read the labels and the split of a graph on disk, which fit into memory, and nothing else."""
    if store.train_mask is None or store.val_mask is None:
        raise ValueError(f"{store.path}: no split in the store; pack it with one, or load it by to_data()")
    data = node_data(store)
    if data.y is not None and bool((data.y[data.train_mask | data.val_mask] < 0).any()):
        raise ValueError(f"{store.path}: a training or validation node has no label")
    return data


def class_names(data: Data | GraphStore | None) -> list[str] | None:
    """Return the names of the classes in the order of their numbers, where the data has names."""
    names = getattr(data, "classes", None)
    return None if names is None or not len(names) else [str(name) for name in names]


def _num_classes(data: Data) -> int:
    """Return the number of classes named in the data, else one more than the largest class number.

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
