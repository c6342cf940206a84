"""Predictions of every node, what they rest on, their table, and the one place that reads test labels."""

from __future__ import annotations

import copy
import csv
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._csv import csv_line, plain_cell
from graphmotifs._files import atomic_write
from mcn.data.limits import read_bytes, reading
from mcn.data.targets import target_kind
from mcn.matrices import Rows
from mcn.train.problem import class_names
from mcn.train.tasks import Task

if TYPE_CHECKING:
    from torch_geometric.data import Data

_ROWS = 16384  # of a table that are held at a time while it is written


@dataclass(frozen=True)
class Predictions:
    """What a network says of every node, and which motif and step each layer chose for it.

    probabilities: float32 [N, C]; of a numeric target the number itself, [N, 1]. task: what they are.
    motif: int64 [N, L], 0-based. step: int64 [N, L], 1-based; L is 0 where nodes choose nothing. motifs:
    names of the motifs. steps: K. candidate: after a model selection the candidate that predicts, or "blend".
    """

    probabilities: NDArray[np.float32]
    motif: NDArray[np.int64]
    step: NDArray[np.int64]
    motifs: tuple[str, ...] = ()
    steps: int = 1
    candidate: str = ""
    task: Task = field(kw_only=True)

    @property
    def labels(self) -> NDArray[Any]:
        """The predicted class of every node, or its number, or a yes or no for every target."""
        return self.task.decide(self.probabilities)

    def shares(self) -> list[dict[str, float]]:
        """Return, per layer, the share of the nodes that chose each motif and step."""
        return [
            {
                f"{motif}, {step} step{'s' if step > 1 else ''}": float(((t == i) & (k == step)).mean())
                for i, motif in enumerate(self.motifs)
                for step in range(1, self.steps + 1)
            }
            for t, k in zip(self.motif.T, self.step.T, strict=True)
        ]


@dataclass(frozen=True)
class Option:
    """A neighbourhood that every node could listen to.

    motif, step: which one. rows: its matrix. coefficients: one array per shown layer (the first and the last,
    or the only one): what the layer would multiply each entry of `rows` by, mean over heads.
    alternative: [N, C], the prediction for a node that alone listens to this one in the last layer; where
        options are candidates, what this candidate predicts.
    """

    motif: str
    step: int
    rows: Rows
    coefficients: list[NDArray[np.float32]]
    alternative: NDArray[np.float32]


@dataclass(frozen=True)
class Explained:
    """A network's predictions and what they rest on.

    kind: "choices" where nodes choose among the options of one network, "candidates" where every option is a
        network of its own, "views" where all options are averaged, "sums" where all are summed, "trees" where
        all are known at once.
    predictions: of all nodes, with their choices.
    steps: K. self_attention: whether coefficients are learned.
    motif_probs [L, N, T], step_probs [L, N, K]: the selectors f and f' (eq:state); None in a layer without.
    options: in the order t·K + (k-1), made one at a time, because together they may be large.
    """

    kind: str
    predictions: Predictions
    steps: int
    self_attention: bool
    motif_probs: list[NDArray[np.float32] | None]
    step_probs: list[NDArray[np.float32] | None]
    options: Iterator[Option]


def accuracy_on_test(data: Data, labels: NDArray[np.int64]) -> float | None:
    """Return the share of the test nodes whose class was predicted; None without test nodes."""
    nodes, truth = _test_labels(data)
    return float((labels[nodes] == truth).mean()) if len(nodes) else None


def scores_on_test(data: Data, probabilities: NDArray[Any], task: Task) -> dict[str, float | None] | None:
    """Return every metric of the task on the test nodes; None without test nodes.

    A test node of a class that the network does not know counts as wrong.
    """
    nodes, truth = _test_labels(data)
    return task.all_scores(*task.widened(probabilities[nodes], truth)) if len(truth) else None


def score_on_test(data: Data, probabilities: NDArray[Any], task: Task, metric: str) -> float:
    """Return one metric on the test nodes.

    Raises:
        ValueError: there are no test nodes, or the metric is not defined on them.
    """
    nodes, truth = _test_labels(data)
    if not len(truth):
        raise ValueError("data.test_mask is empty: there is nothing to score")
    value = task.score(metric, *task.widened(probabilities[nodes], truth))
    if value is None:
        raise ValueError(f"{metric} is not defined on the test nodes: all of them have one class")
    return value


def _test_labels(data: Data) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the test nodes and their targets.

    This is the only function that reads the labels of test nodes; it is called once, after training.
    """
    nodes = np.flatnonzero(data.test_mask.numpy())
    return nodes, data.y.numpy()[nodes]


def prediction_rows(data: Data, own: Predictions) -> Iterator[dict[str, Any]]:
    """Yield one row per node: node, split, what is true and predicted (`Task.cells`), motifs and steps.

    Of classes, `probability` is that of the predicted one; `p_<class>` are those of all, if there are at most
    50. After a model selection there is also the candidate that predicts the node, or "blend".
    `split` and `true` are empty where the data does not say.
    """
    ids, names = getattr(data, "node_ids", None), class_names(data)
    split = np.full(data.num_nodes, "", dtype="<U5")
    for part in ("train", "val", "test"):
        mask = data.get(f"{part}_mask")
        if mask is not None:
            split[mask.numpy()] = part
    truth = own.task.unknown(data.num_nodes) if data.y is None else data.y.numpy()
    for i in range(data.num_nodes):
        first, last = own.task.cells(own.probabilities[i], truth[i], names)
        row: dict[str, Any] = {
            "node": i if ids is None else _plain(ids[i]),
            "split": str(split[i]),
            **first,
        }
        if own.candidate:
            row["candidate"] = own.candidate
        for layer, (t, k) in enumerate(zip(own.motif[i], own.step[i], strict=True), 1):
            row |= {f"motif_{layer}": own.motifs[t], f"step_{layer}": int(k)}
        yield row | last


def predictions_csv(data: Data, own: Predictions) -> str:
    """Return the table as CSV; what begins like a formula is marked as text, see `read_predictions`."""
    return "".join(_csv_pieces(data, own))


def write_predictions(path: str | os.PathLike[str], data: Data, own: Predictions) -> None:
    """Write the table of `predictions_csv`, complete or not at all, without holding all of it."""
    with atomic_write(path) as file:
        for piece in _csv_pieces(data, own):
            file.write(piece.encode())


def _csv_pieces(data: Data, own: Predictions) -> Iterator[str]:
    lines: list[str] = []
    for number, row in enumerate(prediction_rows(data, own)):
        if number == 0:
            lines.append(csv_line(row))
        lines.append(csv_line(row.values()))
        if len(lines) >= _ROWS:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


def read_predictions(path: str | os.PathLike[str]) -> list[dict[str, str]]:
    """Return the rows of a predictions.csv as texts, with ids and classes as they are in the graph.

    A spreadsheet runs a cell that begins with =, +, -, @ or a tab. Where an id or a class does, and is not a
    number, the file has an apostrophe in front of it, which is taken off here.

    Raises:
        ValueError: the file is not such a table.
    """
    path = Path(path)
    with reading(path, "not a table of predictions"):
        table = csv.DictReader(io.StringIO(read_bytes(path).decode(), newline=""), strict=True)
        columns = table.fieldnames or ()
        if "node" not in columns or not any(name.startswith("predicted") for name in columns):
            raise ValueError("it has no columns node and predicted")
        return [{name: plain_cell(cell) for name, cell in row.items()} for row in table]


def in_classes(data: Data, classes: list[str]) -> Data:
    """Return `data` with its labels numbered as in `classes`; a label of another name becomes -1.

    Two files may name the same classes and still number them differently, because one of them lacks some.
    Data without class names is numbered as the network's classes already.
    """
    own = class_names(data)
    if own == classes or (data.y is not None and target_kind(data.y) != "classes"):
        return data
    renamed = copy.copy(data)
    renamed.classes = classes
    if own is None and data.y is not None:
        renamed.y = torch.where(data.y < len(classes), data.y, -1)
    elif own is not None and data.y is not None:
        code = {name: number for number, name in enumerate(classes)}
        numbers = torch.tensor([*(code.get(name, -1) for name in own), -1])  # -1 stays -1
        renamed.y = numbers[data.y.to(torch.int64)]
    return renamed


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
