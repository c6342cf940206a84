from __future__ import annotations

import csv
import io

import numpy as np
import torch
from torch_geometric.data import Data

from mcn.train import Predictions, in_classes, prediction_rows, predictions_csv

IDS = ["plain", "with, comma", 'with "quotes"', "two\nlines", "ünï"]
CLASSES = ["a, b", 'c "d"', "e\nf"]


def awkward() -> tuple[Data, Predictions]:
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=5, y=torch.tensor([0, 1, 2, -1, 0]))
    data.node_ids, data.classes = np.array(IDS), CLASSES
    data.train_mask = torch.tensor([1, 0, 0, 0, 0]).bool()
    data.val_mask = torch.tensor([0, 1, 0, 0, 0]).bool()
    data.test_mask = torch.tensor([0, 0, 1, 0, 0]).bool()
    probabilities = np.array(
        [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.7, 0.2, 0.1], [0.2, 0.2, 0.6], [0.12346, 0.1, 0.77654]],
        np.float32,
    )
    motif = np.array([[0, 1], [1, 1], [0, 0], [1, 0], [0, 1]])
    step = np.array([[1, 2], [1, 1], [2, 2], [1, 2], [1, 1]])
    return data, Predictions(probabilities, motif, step)


def test_columns_and_values() -> None:
    data, own = awkward()
    rows = list(csv.DictReader(io.StringIO(predictions_csv(data, own, ("edge", "triangle")), newline="")))
    assert list(rows[0]) == [
        *("node", "split", "true", "predicted", "probability"),
        *("motif_1", "step_1", "motif_2", "step_2"),
    ]
    assert [row["node"] for row in rows] == IDS
    assert [row["split"] for row in rows] == ["train", "val", "test", "", ""]
    assert [row["true"] for row in rows] == [CLASSES[0], CLASSES[1], CLASSES[2], "", CLASSES[0]]
    assert [row["predicted"] for row in rows] == [CLASSES[i] for i in (0, 1, 0, 2, 2)]
    assert [row["probability"] for row in rows] == ["0.5", "0.8", "0.7", "0.6", "0.7765"]
    assert [row["motif_1"] for row in rows] == ["edge", "triangle", "edge", "triangle", "edge"]
    assert [row["motif_2"] for row in rows] == ["triangle", "triangle", "edge", "edge", "triangle"]
    assert [row["step_2"] for row in rows] == ["2", "1", "2", "2", "1"]


def test_without_ids_names_labels_or_masks() -> None:
    _, own = awkward()
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=5)
    first, *_ = prediction_rows(data, own, ("edge", "triangle"))
    assert first == {
        **{"node": 0, "split": "", "true": "", "predicted": 0, "probability": 0.5},
        **{"motif_1": "edge", "step_1": 1, "motif_2": "triangle", "step_2": 2},
    }


def test_labels_in_the_numbering_of_other_classes() -> None:
    data, _ = awkward()
    data.classes = ["blue", "green", "red"]
    renamed = in_classes(data, ["red", "blue"])
    assert renamed.y.tolist() == [1, -1, 0, -1, 1]  # green is not known there, and -1 stays
    assert renamed.classes == ["red", "blue"]
    assert data.y.tolist() == [0, 1, 2, -1, 0]
    assert data.classes == ["blue", "green", "red"]
    assert in_classes(data, ["blue", "green", "red"]) is data


def test_classes_without_names_are_numbers() -> None:
    data, _ = awkward()
    del data.classes
    assert in_classes(data, ["0", "1", "2"]).y.tolist() == data.y.tolist()
    del data.y
    assert in_classes(data, ["0", "1", "2"]).y is None
