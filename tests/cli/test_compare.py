from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run, refused
from tests.cli.test_train import write_graph


def test_json_schema(mcn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = mcn("compare", "--dataset", "karate", "--max-epochs", 2, "--seeds", 2, "--seed", 3, "--json")
    assert done.code == 0
    assert done.err == ""
    content = json.loads(done.out)
    assert list(content) == ["dataset", "protocol", "rows"]
    assert content["dataset"] == "karate"
    assert content["protocol"].startswith("4 training, 15 validation, 15 test nodes; weights kept by ")
    assert [row["method"] for row in content["rows"]] == ["mcn", "gat", "gcn", "mlp"]
    for row in content["rows"]:
        keys = ["method", "test_mean", "test_std", "val_mean", "test", "seeds", "seconds_per_run"]
        assert list(row) == keys
        assert row["seeds"] == [3, 4]
        assert row["test_mean"] == pytest.approx(np.mean(row["test"]))
        assert row["test_std"] == pytest.approx(np.std(row["test"]))
        for percent in [*row["test"], row["val_mean"] * 2]:
            assert percent / 100 * 15 == pytest.approx(round(percent / 100 * 15))  # of 15 nodes
            assert percent == 0 or percent > 1
    assert list(tmp_path.iterdir()) == []


def test_table(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path)
    done = mcn(
        *("compare", "--graph", edges, "--nodes", nodes, "--methods", "gcn, mlp"),
        *("--max-epochs", 2, "--seeds", 2),
    )
    assert done.code == 0
    assert done.err == ""
    assert "GCN" in done.out
    assert "MLP" in done.out
    assert "MCN" not in done.out
    assert "note: split: " in done.out
    assert done.out.rstrip().endswith("mean ± standard deviation over 2 seeds")


def test_the_seed_decides(mcn: Run) -> None:
    words = ["compare", "--dataset", "karate", "--methods", "mcn", "--max-epochs", 3, "--seeds", 1, "--json"]
    first, second = (json.loads(mcn(*words).out)["rows"][0] for _ in range(2))
    del first["seconds_per_run"], second["seconds_per_run"]
    assert first == second


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--methods", "mcn,gta"],
            "--methods must be one of mcn, gat, gcn, mlp, got 'gta'; did you mean 'gat'?",
        ),
        (["--methods", ","], "--methods names no method"),
        (["--motifs", "egde"], "unknown motif 'egde'; did you mean edge"),
        (["--psi", "laplacain"], "Did you mean 'laplacian'"),
        (["--method", "mcn"], "no option '--method'; did you mean '--methods'?"),
        (["--seeds", "0"], "--seeds"),
        (["--patience", "0"], "patience must be an integer of at least 1, got 0"),
    ],
)
def test_wrong_use(mcn: Run, words: list[str], message: str) -> None:
    assert message in refused(mcn("compare", "--dataset", "karate", *words))
