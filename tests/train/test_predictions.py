"""Predictions: their table, test labels, classes under other numbers."""

import csv
import dataclasses
import io
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mcn.train import Predictions, accuracy_on_test
from mcn.train.predictions import in_classes, prediction_rows, predictions_csv, read_predictions
from mcn.train.tasks import Classes
from tests.conftest import refuses
from tests.train.graphs import predicted, small_config, small_graph, trained

IDS = ["with; semicolon", "with, comma", 'with "quotes"', "two\nlines", "ünï"]
CLASSES = ["a, b", 'c "d"', "e\nf"]


def awkward() -> tuple[Data, Predictions]:
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=5, y=torch.tensor([0, 1, 2, -1, 0]))
    data.node_ids, data.classes = np.array(IDS), CLASSES
    data.train_mask, data.val_mask, data.test_mask = torch.eye(3, 5).bool()
    probabilities = np.array(
        [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.7, 0.2, 0.1], [0.2, 0.2, 0.6], [0.12346, 0.1, 0.77654]],
        np.float32,
    )
    motif = np.array([[0, 1], [1, 1], [0, 0], [1, 0], [0, 1]])
    step = np.array([[1, 2], [1, 1], [2, 2], [1, 2], [1, 1]])
    return data, Predictions(probabilities, motif, step, ("edge", "triangle"), 2, task=Classes(3))


def test_columns_and_values() -> None:
    data, own = awkward()
    rows = list(csv.DictReader(io.StringIO(predictions_csv(data, own), newline="")))
    assert list(rows[0]) == [
        *("node", "split", "true", "predicted", "probability"),
        *("motif_1", "step_1", "motif_2", "step_2"),
        *(f"p_{name}" for name in CLASSES),
    ]
    assert [rows[4][f"p_{name}"] for name in CLASSES] == ["0.1235", "0.1", "0.7765"]
    assert [row["node"] for row in rows] == IDS
    assert '\n"with; semicolon",train,' in predictions_csv(data, own)
    assert [row["split"] for row in rows] == ["train", "val", "test", "", ""]
    assert [row["true"] for row in rows] == [CLASSES[0], CLASSES[1], CLASSES[2], "", CLASSES[0]]
    assert [row["predicted"] for row in rows] == [CLASSES[i] for i in (0, 1, 0, 2, 2)]
    assert [row["probability"] for row in rows] == ["0.5", "0.8", "0.7", "0.6", "0.7765"]
    assert [row["motif_1"] for row in rows] == ["edge", "triangle", "edge", "triangle", "edge"]
    assert [row["motif_2"] for row in rows] == ["triangle", "triangle", "edge", "edge", "triangle"]
    assert [row["step_2"] for row in rows] == ["2", "1", "2", "2", "1"]


def test_without_ids_names_labels_or_masks_and_with_many_classes() -> None:
    _, own = awkward()
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=5)
    first, *_ = prediction_rows(data, own)
    assert first == {
        **{"node": 0, "split": "", "true": "", "predicted": 0, "probability": 0.5},
        **{"motif_1": "edge", "step_1": 1, "motif_2": "triangle", "step_2": 2},
        **{"p_0": 0.5, "p_1": 0.3, "p_2": 0.2},
    }
    data = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
    for classes, columns in ((50, 50), (51, 0)):  # of many, none has a column
        none = np.zeros((2, 0), np.int64)
        own = Predictions(np.eye(2, classes, dtype=np.float32), none, none, task=Classes(classes))
        first, *_ = prediction_rows(data, own)
        assert sum(name.startswith("p_") for name in first) == columns


def test_labels_in_the_numbering_of_other_classes() -> None:
    data, _ = awkward()
    data.classes = ["blue", "green", "red"]
    renamed = in_classes(data, ["red", "blue"])
    assert renamed.y.tolist() == [1, -1, 0, -1, 1]  # green is not known there, and -1 stays
    assert renamed.classes == ["red", "blue"]
    assert data.y.tolist() == [0, 1, 2, -1, 0]
    assert data.classes == ["blue", "green", "red"]
    assert in_classes(data, ["blue", "green", "red"]) is data
    del data.classes  # classes without names are numbers
    assert in_classes(data, ["0", "1", "2"]).y.tolist() == data.y.tolist()
    del data.y
    assert in_classes(data, ["0", "1", "2"]).y is None


def test_shares_of_the_choices_and_the_candidate_that_predicts() -> None:
    data, own = awkward()
    names = ["edge, 1 step", "edge, 2 steps", "triangle, 1 step", "triangle, 2 steps"]
    assert [list(shares) for shares in own.shares()] == [names, names]
    assert [list(shares.values()) for shares in own.shares()] == [[0.4, 0.2, 0.4, 0.0], [0.0, 0.4, 0.4, 0.2]]
    own = dataclasses.replace(own, candidate="gat")
    rows = list(csv.DictReader(io.StringIO(predictions_csv(data, own), newline="")))
    assert list(rows[0])[5:7] == ["candidate", "motif_1"]
    assert [row["candidate"] for row in rows] == ["gat"] * 5


def test_prediction_has_no_randomness_and_accuracy_is_of_test_nodes_only() -> None:
    trainer = trained(small_graph(), small_config(steps=2, epsilon=1.0))
    model, p = trainer.model, trainer.problem.inputs
    for mode in (True, False):
        model.train(mode)
        first, second = predicted(trainer), predicted(trainer)
        assert model.training is mode
        assert np.array_equal(first.probabilities, second.probabilities)
        assert np.array_equal(first.motif, second.motif)
    assert first.probabilities.shape == (90, 3)
    assert first.motif.shape == first.step.shape == (90, 2)
    assert first.probabilities.sum(1) == pytest.approx(np.ones(90), abs=1e-5)
    assert set(np.unique(first.motif)) <= {0, 1}
    assert set(np.unique(first.step)) <= {1, 2}
    with torch.no_grad():
        logits = model(p.x, p.stack)
    assert np.array_equal(first.labels, logits.argmax(1).numpy())
    data = small_graph()
    labels = data.y.numpy().copy()
    assert accuracy_on_test(data, labels) == 1.0
    labels[~data.test_mask.numpy()] = 99
    assert accuracy_on_test(data, labels) == 1.0
    labels[data.test_mask.nonzero()[:10, 0].numpy()] = 99
    assert accuracy_on_test(data, labels) == 0.75
    data.test_mask[:] = False
    assert accuracy_on_test(data, labels) is None


def test_no_cell_is_a_formula_and_every_id_is_found_again(tmp_path: Path) -> None:
    data, own = awkward()
    ids = ["=cmd|'/C calc'!A0", "-5", "@x", "'=1", "\t=1"]
    data.node_ids, data.classes = np.array(ids), ["+a", "-b", "=c"]
    text = predictions_csv(data, own)
    cells = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in cells[1:]] == ["'=cmd|'/C calc'!A0", "-5", "'@x", "''=1", "'\t=1"]
    assert [row[3] for row in cells[1:]] == ["'+a", "'-b", "'+a", "'=c", "'=c"]
    (tmp_path / "p.csv").write_bytes(text.encode())
    rows = read_predictions(tmp_path / "p.csv")
    assert [row["node"] for row in rows] == ids
    assert [row["predicted"] for row in rows] == ["+a", "-b", "+a", "=c", "=c"]
    assert [row["node"] for row in prediction_rows(data, own)] == ids  # as JSON has them
    data.node_ids = np.array([-2, -1, 0, 1, 2])
    cells = list(csv.reader(io.StringIO(predictions_csv(data, own), newline="")))
    assert [row[0] for row in cells[1:]] == ["-2", "-1", "0", "1", "2"]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff", b'node,predicted\n"a\n'])
def test_a_table_that_is_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(content)
    refuses(r"p\.csv: not a table of predictions", read_predictions, tmp_path / "p.csv")
