from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mcn.data import load_dataset
from mcn.experiments import Ledger, Source, Unit, compare, run_units
from mcn.train.mcn.config import CHANGES
from mcn.train.metrics import METRICS
from tests.cli.conftest import Run, refused, write_graph
from tests.configs import MCNConfig


def test_json_schema(mcn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = mcn(
        *("compare", "--dataset", "karate", "--max-epochs", 2, "--seeds", 2, "--seed", 3),
        *("--jobs", 1, "--json"),
    )
    assert done.code == 0
    assert done.err == ""
    content = json.loads(done.out)
    assert list(content) == ["dataset", "protocol", "rows"]
    assert content["dataset"] == "karate"
    assert content["protocol"].startswith("4 training, 15 validation, 15 test nodes; weights kept by ")
    assert [row["method"] for row in content["rows"]] == ["mcn", "gat", "gcn", "mlp"]
    for row in content["rows"]:
        assert list(row) == [
            *("method", "test_mean", "test_std", "val_mean", "test", "seeds", "seconds_per_run"),
            *("difference", "difference_error", "metrics"),
        ]
        assert row["seeds"] == [3, 4]
        assert list(row["metrics"]) == list(METRICS)
        for found in row["metrics"].values():
            assert list(found) == ["test_mean", "test_std", "val_mean"]
        for part in ("test_mean", "test_std", "val_mean"):
            assert 100 * row["metrics"]["accuracy"][part] == pytest.approx(row[part])
        assert row["test_mean"] == pytest.approx(np.mean(row["test"]))
        assert row["test_std"] == pytest.approx(np.std(row["test"], ddof=1))
        for percent in [*row["test"], row["val_mean"] * 2]:
            assert percent / 100 * 15 == pytest.approx(round(percent / 100 * 15))  # of 15 nodes
            assert percent == 0 or percent > 1
    first, *others = content["rows"]
    assert (first["difference"], first["difference_error"]) == (None, None)
    for row in others:
        gaps = np.subtract(row["test"], first["test"])
        assert row["difference"] == pytest.approx(gaps.mean())
        assert row["difference_error"] == pytest.approx(gaps.std(ddof=1) / np.sqrt(2))
    assert list(tmp_path.iterdir()) == []


def test_networks_give_what_they_gave_in_one_process() -> None:
    """The rows of a graph by name are those of the same graph in memory with the same settings."""
    data, settings = load_dataset("karate"), {"max_epochs": 4, "lr": 0.02}
    expected = compare(data, ["mcn", "gcn"], [1, 2], dataset="karate", settings=settings)
    units = [Unit(Source("karate"), m, settings, s) for m in ("mcn", "gcn") for s in (1, 2)]
    found = run_units(units, jobs=1)
    assert [100 * row["test_accuracy"] for row in found] == [v for row in expected for v in row["test"]]


def test_table(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path)
    done = mcn(
        *("compare", "--graph", edges, "--nodes", nodes, "--methods", "gcn, mlp"),
        *("--max-epochs", 2, "--seeds", 2, "--jobs", 1),
    )
    assert done.code == 0
    assert done.err == ""
    assert "GCN" in done.out
    assert "MLP" in done.out
    assert "MCN" not in done.out
    assert "note: split: " in done.out
    assert "− GCN, paired" in done.out
    assert done.out.rstrip().endswith("mean ± standard deviation over 2 seeds")


@pytest.mark.parametrize("metric", ["roc-auc", "log-loss"])
def test_a_metric_is_a_column_of_the_table(mcn: Run, tmp_path: Path, metric: str) -> None:
    words = ["compare", "--dataset", "karate", "--methods", "gcn,majority", "--max-epochs", 2, "--seeds", 2]
    words += ["--jobs", 1, "--ledger", tmp_path / "runs.sqlite", "--metric", metric]
    rows = json.loads(mcn(*words, "--json").out)["rows"]
    done = mcn(*words)
    assert done.code == 0, done.err
    assert f"test {metric}" in done.out
    for row in rows:
        found = row["metrics"][metric]
        shown = f"{found['test_mean']:.3f} ± {found['test_std']:.3f}"
        if metric == "roc-auc":
            shown = f"{100 * found['test_mean']:.1f} ± {100 * found['test_std']:.1f} %"
        lines = (line for line in done.out.splitlines() if line.strip())
        line = next(line for line in lines if line.split()[0].lower() == row["method"])
        assert shown in line
    configs = [row["config"] for row in Ledger(tmp_path / "runs.sqlite").rows(method="gcn")]
    assert [config["metric"] for config in configs] == [metric] * 2
    assert metric not in mcn(*words[:-2]).out  # nothing new unless it was asked for


def test_methods_of_other_kinds(mcn: Run) -> None:
    done = mcn(
        *("compare", "--dataset", "karate", "--methods", "lp,majority,paper", "--seeds", 1),
        *("--max-epochs", 2, "--lr", 0.02, "--jobs", 1),
    )
    assert done.code == 0, done.err
    assert "note: max_epochs: no setting of lp, majority\n" in done.out
    assert "note: lr: no setting of lp, majority\n" in done.out
    assert "paired" not in done.out
    assert "±" not in done.out.partition("protocol")[0]  # a single run has no deviation
    assert "paper" in done.out


def test_the_options_reach_the_networks(mcn: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    done = mcn(
        *("compare", "--dataset", "karate", "--methods", "mcn,gat,lp", "--motifs", "edge,4-clique"),
        *("--steps", 2, "--psi", "transition", "--dropout", 0.3, "--lr", 0.02, "--weight-decay", 0.1),
        *("--max-epochs", 2, "--patience", 7, "--stopping", "loss", "--features", "both", "--seeds", 1),
        *("--ledger", file, "--jobs", 1),
    )
    assert done.code == 0, done.err
    asked = MCNConfig(
        motifs=("edge", "4-clique"),
        **{"steps": 2, "psi": "transition", "dropout": 0.3, "lr": 0.02, "weight_decay": 0.1},
        **{"max_epochs": 2, "patience": 7, "stopping": "loss", "features": "both"},
    )
    gat, lp, own = Ledger(file).rows()
    assert MCNConfig.from_dict(own["config"]) == asked
    assert MCNConfig.from_dict(gat["config"]) == asked.replace(**CHANGES["gat"])
    assert lp["config"] is None
    assert "weights kept by validation loss, patience 7" in done.out


def test_settings_reach_the_methods_that_have_them(mcn: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    done = mcn(
        *("compare", "--dataset", "karate", "--methods", "mcn,views,majority", "--max-epochs", 1),
        *("--heads", 2, "--set", "unlabelled_batch=8", "--seeds", 1, "--ledger", file, "--jobs", 1),
    )
    assert done.code == 0, done.err
    assert "note: heads: no setting of views, majority\n" in done.out
    assert "note: unlabelled_batch: no setting of mcn, majority\n" in done.out
    assert "note: max_epochs: no setting of majority\n" in done.out
    _, own, views = Ledger(file).rows()
    assert (own["settings"], own["config"]["heads"]) == ({"max_epochs": 1, "heads": 2}, 2)
    assert views["settings"] == {"max_epochs": 1, "unlabelled_batch": 8}


def test_the_paper_s_rule(mcn: Run) -> None:
    words = ["compare", "--dataset", "karate", "--max-epochs", 6, "--seeds", 2, "--jobs", 1, "--json"]
    named = json.loads(mcn(*words, "--methods", "paper").out)["rows"][0]
    asked = json.loads(mcn(*words, "--methods", "mcn", "--attention", "paper").out)["rows"][0]
    assert named["method"] == "paper"
    assert (named["test"], named["val_mean"]) == (asked["test"], asked["val_mean"])


@pytest.mark.slow
def test_workers_and_a_ledger(mcn: Run, tmp_path: Path) -> None:
    """In two processes and from the ledger: the same rows; the second time nothing is run."""
    file = tmp_path / "runs.sqlite"
    words = [
        "compare",
        "--dataset",
        "karate",
        "--methods",
        "gat,lp",
        "--max-epochs",
        3,
        "--seeds",
        2,
        "--json",
    ]
    first = mcn(*words, "--jobs", 2, "--ledger", file)
    assert first.code == 0, first.err
    assert len(Ledger(file)) == 4
    again = mcn(*words, "--jobs", 1, "--ledger", file)
    assert again.out == first.out  # seconds included: they come from the ledger
    alone = json.loads(mcn(*words, "--jobs", 1).out)
    for row, other in zip(json.loads(first.out)["rows"], alone["rows"], strict=True):
        assert (row["test"], row["val_mean"]) == (other["test"], other["val_mean"])


def test_the_seed_decides(mcn: Run) -> None:
    words = ["compare", "--dataset", "karate", "--methods", "mcn", "--max-epochs", 3, "--seeds", 1]
    words += ["--jobs", 1, "--json"]
    first, second = (json.loads(mcn(*words).out)["rows"][0] for _ in range(2))
    del first["seconds_per_run"], second["seconds_per_run"]
    assert first == second


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--methods", "mcn,gta"],
            "--methods must be one of mcn, paper, views, auto, gat, gcn, mlp, gat-consistency",
        ),
        (["--methods", "mcn,gta"], "got 'gta'; did you mean 'gat'?"),
        (["--methods", "labelprop,lp,planetiod"], "got 'labelprop'"),
        (["--methods", "planetiod"], "did you mean 'planetoid'?"),
        (["--jobs", "0"], "--jobs"),
        (["--methods", ","], "--methods names no method"),
        (["--motifs", "egde"], "unknown motif 'egde'; did you mean 'edge'"),
        (["--psi", "laplacain"], "; did you mean 'laplacian'?"),
        (["--metric", "acuracy"], "metric must be one of accuracy, balanced-accuracy, macro-f1, roc-auc, "),
        (["--metric", "acuracy"], "got 'acuracy'; did you mean 'accuracy'?"),
        (["--method", "mcn"], "no option '--method'; did you mean '--methods'?"),
        (["--seeds", "0"], "--seeds"),
        (["--patience", "0"], "patience must be an integer of at least 1, got 0"),
        (["--set", "walk_lenght=3"], "unknown setting 'walk_lenght'; did you mean 'walk_length'?"),
        (["--set", "epsilon=2"], "epsilon must be a probability, got 2.0"),
    ],
)
def test_wrong_use(mcn: Run, words: list[str], message: str) -> None:
    assert message in refused(mcn("compare", "--dataset", "karate", "--jobs", 1, *words))


def test_the_protocol_is_that_of_the_methods(mcn: Run) -> None:
    """Views stop by the loss and have epochs of several steps; that is what is said of them."""
    words = ["--dataset", "karate", "--methods", "majority,views", "--seeds", "1", "--max-epochs", "1"]
    done = mcn("compare", *words, "--set", "walk_length=2", "--set", "max_neighbours=4", "--json")
    assert done.code == 0, done
    assert "weights kept by validation loss, patience 100 × 10 steps" in json.loads(done.out)["protocol"]
