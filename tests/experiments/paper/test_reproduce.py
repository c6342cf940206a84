from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from mcn.data import load_dataset
from mcn.experiments import Ledger
from mcn.experiments.paper import reproduce_table
from mcn.experiments.paper.reproduce import HTML, LEDGER, MARKDOWN, RESULTS


def test_two_methods_on_cora_and_resuming(data_root: Path, tmp_path: Path) -> None:
    told: list[str] = []
    fractions: list[float] = []
    out = tmp_path / "out"
    options = {"methods": ["lp", "majority"], "datasets": ["cora"], "data_root": data_root, "jobs": 1}
    found = reproduce_table(
        "table2",
        out,
        seeds=[0, 1],
        command="mcn reproduce …",
        progress=fractions.append,
        finished=lambda entry, cell: told.append(f"{entry.method} {cell.runs}"),
        **options,
    )
    assert sorted(told) == ["lp 2", "majority 2"]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1.0)
    data = load_dataset("cora", root=data_root)
    known = (data.train_mask | data.val_mask).numpy()
    largest = np.bincount(data.y.numpy()[known]).argmax()
    share = 100 * float((data.y.numpy()[data.test_mask.numpy()] == largest).mean())
    majority, lp = found["rows"]
    assert (majority["method"], lp["method"]) == ("majority", "lp")
    assert majority["mean"] == pytest.approx(share)
    assert (lp["paper"], lp["std"], lp["rank"]) == (68.0, 0.0, 1.0)
    assert json.loads((out / RESULTS).read_text()) == found
    assert "| majority | – |" in (out / MARKDOWN).read_text()
    assert "cora: 140 training, 500 validation, 1000 test nodes" in (out / HTML).read_text()
    assert len(Ledger(out / LEDGER)) == 4

    with pytest.raises(ValueError, match=r"out already holds results; choose another folder, or resume them"):
        reproduce_table("table2", out, seeds=[0, 1], **options)
    before = Ledger(out / LEDGER).rows()
    again = reproduce_table("table2", out, seeds=[0, 1, 2], resume=True, **options)
    after = Ledger(out / LEDGER).rows()
    assert len(after) == 6
    assert [row for row in after if row["seed"] < 2] == before
    assert [row["runs"] for row in again["rows"]] == [3, 3]


def test_every_seed_of_dd_is_a_draw(data_root: Path, tmp_path: Path) -> None:
    found = reproduce_table(
        "table3", tmp_path, seeds=[0, 1], methods=["majority"], datasets=["dd7"], data_root=data_root, jobs=1
    )
    (row,) = found["rows"]
    assert len(set(row["test"].values())) == 2
    assert found["protocols"]["dd7"] == "300 training, 548 validation, 548 test nodes"


def test_nothing_is_made_when_a_name_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="did you mean 'majority'"):
        reproduce_table("table2", tmp_path / "out", methods=["majorty"])
    assert not (tmp_path / "out").exists()


def test_a_table_of_methods_that_are_left_out(data_root: Path, tmp_path: Path) -> None:
    found = reproduce_table(
        "beyond",
        tmp_path,
        methods=["grand"],
        datasets=["pubmed"],
        quick=True,
        data_root=data_root,
        jobs=1,
    )
    (row,) = found["rows"]
    assert (row["runs"], row["mean"], row["note"]) == (0, None, "not run in a quick run")


def test_another_figure_of_the_same_runs(data_root: Path, tmp_path: Path) -> None:
    """A second metric runs nothing; the paper has no values of it; the accuracies stay as they were."""
    options = {"methods": ["majority", "lp"], "datasets": ["cora"], "data_root": data_root, "jobs": 1}
    first = reproduce_table("table2", tmp_path, seeds=[0], **options)
    before = Ledger(tmp_path / LEDGER).rows()
    shown = reproduce_table("table2", tmp_path, seeds=[0], metric="macro-f1", resume=True, **options)
    assert Ledger(tmp_path / LEDGER).rows() == before
    data = load_dataset("cora", root=data_root)
    truth = data.y[data.test_mask].numpy()
    known = data.y[data.train_mask | data.val_mask].numpy()
    guess = np.full_like(truth, np.bincount(known).argmax())
    majority, lp = shown["rows"]
    assert majority["mean"] == pytest.approx(100 * f1_score(truth, guess, average="macro", zero_division=0))
    assert 60 < lp["mean"] < 85
    assert [row[key] for row in shown["rows"] for key in ("paper", "difference", "rank")] == [None] * 6
    assert shown["metric"] == "macro-f1"
    report = (tmp_path / MARKDOWN).read_text()
    assert "Test macro-f1 in percent" in report
    assert "The paper states accuracies only" in report
    again = reproduce_table("table2", tmp_path, seeds=[0], resume=True, **options)
    assert again["rows"] == first["rows"]


def test_runs_that_lack_the_figure(data_root: Path, tmp_path: Path) -> None:
    """A method that gives votes has no log-loss: a dash and a note, not a number."""
    found = reproduce_table(
        "table2",
        tmp_path,
        seeds=[0],
        methods=["majority", "lp"],
        datasets=["cora"],
        metric="log-loss",
        data_root=data_root,
        jobs=1,
    )
    rows = {row["method"]: row for row in found["rows"]}
    stored = {row["method"]: row["metrics"]["test"]["log-loss"] for row in Ledger(tmp_path / LEDGER).rows()}
    for method, value in stored.items():
        assert rows[method]["mean"] == (None if value is None else pytest.approx(100 * value))
        assert ("no log-loss" in rows[method]["note"]) == (value is None)
    with pytest.raises(ValueError, match="did you mean 'macro-f1'"):
        reproduce_table("table2", tmp_path / "new", metric="macro-f2")
