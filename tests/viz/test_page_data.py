from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mcn.train import accuracy_on_test
from mcn.viz import Explanation
from mcn.viz.explanation import Neighbourhood, Predictor
from mcn.viz.page_data import (
    calibrations,
    choices_by_class,
    choices_by_degree,
    confusion,
    training_curves,
    trimmed,
)
from tests.viz.conftest import BLEND, Trained, candidate_run

MCN = Predictor("network", {"MCN": 1.0})


def test_confusion_matrices(karate: Trained, found: Explanation) -> None:
    tables = confusion(found)
    assert set(tables) <= {"train", "val", "test"}
    assert sum(map(sum, tables["train"])) == 4
    right = tables["test"][0][0] + tables["test"][1][1]
    share = right / sum(map(sum, tables["test"]))
    assert share == pytest.approx(accuracy_on_test(karate.data, found.predicted))
    mask, y = karate.data.test_mask, karate.data.y
    wrong = sum(1 for i in range(34) if mask[i] and y[i] == 1 and found.predicted[i] == 0)
    assert tables["test"][1][0] == wrong


def test_calibration_curves(found: Explanation) -> None:
    """Every labelled node is in one bin of its part; the shares of right ones make the accuracy."""
    tables, curves_of = confusion(found), calibrations(found)
    assert set(curves_of) == set(tables)
    for part, curve in curves_of.items():
        table = tables[part]
        assert sum(curve["count"]) == sum(map(sum, table))
        right = sum(a * n for a, n in zip(curve["accuracy"], curve["count"], strict=True))
        assert right == pytest.approx(table[0][0] + table[1][1])
        gaps = (
            n * abs(a - c)
            for a, c, n in zip(curve["accuracy"], curve["confidence"], curve["count"], strict=True)
        )
        assert curve["error"] == pytest.approx(sum(gaps) / sum(curve["count"]))


def test_choices_by_class(found: Explanation) -> None:
    for layer, table in enumerate(choices_by_class(found)):
        expected = Counter(
            (int(c), int(t * 2 + k - 1))
            for c, t, k in zip(found.truth, found.motif[:, layer], found.step[:, layer], strict=True)
        )
        assert [[expected[c, o] for o in range(4)] for c in range(2)] == table


def test_choices_by_degree(found: Explanation) -> None:
    """Degrees of the club: one 1, eleven 2, twelve 3 or 4, five 5 or 6, four 9 to 16, one 17."""
    names, layers = choices_by_degree(found)
    assert names == ["1", "2", "3–4", "5–8", "9–16", "17–32"]
    for table in layers:
        assert [sum(row) for row in table] == [1, 11, 12, 5, 4, 1]


def test_the_curves_of_a_single_network(karate: Trained, tmp_path: Path) -> None:
    path = karate.folder / "metrics.jsonl"
    curves = training_curves(path, MCN, karate.run.summary)
    assert curves is not None
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert (curves["network"], curves["epoch"]) == ("MCN", [line["epoch"] for line in lines])
    assert curves["epoch"] == list(range(1, 9))
    assert curves["val_loss"] == pytest.approx([line["val_loss"] for line in lines], abs=1e-5)
    assert curves["kept"] == karate.run.summary["best_epoch"]
    assert training_curves(tmp_path / "metrics.jsonl", MCN, {}) is None
    assert training_curves(path, Predictor("one", {"gcn": 1.0}), {}) is None  # it has no candidate's epochs
    (tmp_path / "metrics.jsonl").write_text(path.read_text().replace(str(lines[0]["val_loss"]), "Infinity"))
    curves = training_curves(tmp_path / "metrics.jsonl", MCN, karate.run.summary)
    assert curves is not None
    assert curves["val_loss"][0] is None


@pytest.mark.parametrize(
    ("predictor", "network", "number"),
    [
        (Predictor("one", {"gcn": 1.0}), "gcn", 1),
        (Predictor("blend", {"triangle": BLEND["triangle"], "mlp": BLEND["mlp"]}), "triangle", 2),
        (Predictor("nodes", {"gcn": 0.7, "triangle": 0.3}), "gcn", 1),
        (Predictor("blend", {"trees": 0.9, "mlp": 0.1}), "mlp", 0),  # trees have no epochs
    ],
)
def test_the_curves_of_the_candidate_that_predicts(
    karate: Trained, tmp_path: Path, predictor: Predictor, network: str, number: int
) -> None:
    """Those of its first run; every run of `candidate_run` has losses of its own."""
    run = candidate_run(karate, tmp_path / "run", predictor.mode)
    curves = training_curves(run.folder / "metrics.jsonl", predictor, run.summary)
    assert curves is not None
    assert (curves["network"], curves["kept"], curves["epoch"]) == (network, 2, [1, 2, 3])
    assert curves["val_loss"] == [number, number + 0.1, number + 0.2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"epoch": 1}', "line 1: not the scores of an epoch"),
        (b"[" * 100_000, "line 1: not the scores of an epoch"),
        (b"[]", "line 1: not the scores of an epoch"),
        (b'{"epoch": 1' + b"0" * 400 + b"}", "line 1: not the scores of an epoch"),
        (b"\xff\n", "not a log of epochs"),
    ],
)
def test_a_log_of_something_else(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match=rf"metrics\.jsonl.*{message}"):
        training_curves(tmp_path / "metrics.jsonl", MCN, {})


@pytest.mark.parametrize(
    ("room", "expected"), [(1_000_000, 30), (34, 30), (33, 20), (24, 20), (14, 8), (3, 1), (0, 1)]
)
def test_neighbours_are_trimmed(room: int, expected: int) -> None:
    lengths = [3, 1, 30]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    values = np.linspace(1, 0, 34, dtype=np.float32)
    indices, none = np.arange(34, dtype=np.int32), np.zeros((0, 2), np.bool_)
    rows = Neighbourhood("edge", 1, indptr, indices, values, [values], np.diff(indptr), none)
    most, (kept,) = trimmed([rows], room)
    assert most == expected
    assert np.diff(kept.indptr).tolist() == [min(length, most) for length in lengths]
    assert kept.total.tolist() == lengths
    assert kept.indices[kept.row(2)].tolist() == list(range(4, 4 + min(30, most)))
