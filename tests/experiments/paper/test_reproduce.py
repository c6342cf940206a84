from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

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
