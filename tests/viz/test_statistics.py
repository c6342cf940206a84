from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from mcn.train import accuracy_on_test
from mcn.viz import explain
from mcn.viz.statistics import calibrations, confusion, curves, shares_by_class, shares_by_degree
from tests.viz.conftest import Trained


def test_confusion_matrices(karate: Trained) -> None:
    found = explain(karate.run, karate.data)
    tables = confusion(found)
    assert set(tables) <= {"train", "val", "test"}
    assert sum(map(sum, tables["train"])) == 4
    right = tables["test"][0][0] + tables["test"][1][1]
    share = right / sum(map(sum, tables["test"]))
    assert share == pytest.approx(accuracy_on_test(karate.data, found.predicted))
    mask, y = karate.data.test_mask, karate.data.y
    wrong = sum(1 for i in range(34) if mask[i] and y[i] == 1 and found.predicted[i] == 0)
    assert tables["test"][1][0] == wrong


def test_calibration_curves(karate: Trained) -> None:
    """Every labelled node is in one bin of its part; the shares of right ones make the accuracy."""
    found = explain(karate.run, karate.data)
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


def test_shares(karate: Trained) -> None:
    found = explain(karate.run, karate.data)
    for layer, table in enumerate(shares_by_class(found)):
        expected = Counter(
            (int(c), int(t * 2 + k - 1))
            for c, t, k in zip(found.truth, found.motif[:, layer], found.step[:, layer], strict=True)
        )
        assert [[expected[c, o] for o in range(4)] for c in range(2)] == table


def test_shares_by_degree(karate: Trained) -> None:
    """Degrees of the club: one 1, eleven 2, twelve 3 or 4, five 5 or 6, four 9 to 16, one 17."""
    names, layers = shares_by_degree(explain(karate.run, karate.data))
    assert names == ["1", "2", "3–4", "5–8", "9–16", "17–32"]
    for table in layers:
        assert [sum(row) for row in table] == [1, 11, 12, 5, 4, 1]


def test_curves(karate: Trained, tmp_path: Path) -> None:
    columns = curves(karate.folder)
    lines = [json.loads(line) for line in (karate.folder / "metrics.jsonl").read_text().splitlines()]
    assert columns["epoch"] == [line["epoch"] for line in lines] == list(range(1, 9))
    assert columns["val_loss"] == pytest.approx([line["val_loss"] for line in lines], abs=1e-5)
    assert curves(tmp_path)["epoch"] == []
    (tmp_path / "metrics.jsonl").write_text('{"epoch": 1}\n')
    with pytest.raises(ValueError, match=r"metrics.jsonl, line 1: not the scores of an epoch"):
        curves(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 100_000, "line 1: not the scores of an epoch"),
        (b"[]", "line 1: not the scores of an epoch"),
        (b'{"epoch": 1' + b"0" * 400 + b"}", "line 1: not the scores of an epoch"),
        (b"\xff\n", "not a log of epochs"),
    ],
)
def test_a_log_of_something_else(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match=rf"metrics\.jsonl.*{message}"):
        curves(tmp_path)
