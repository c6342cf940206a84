from pathlib import Path

import pytest

from mcn.experiments import Ledger
from mcn.train.mcn.config import CHANGES
from mcn.train.metrics import TASK_METRICS
from tests.cli.conftest import Run, answered, printed, write_graph
from tests.configs import MCNConfig


def test_json_schema(mcn: Run, here: Path) -> None:
    words = ["--dataset", "karate", "--max-epochs", 2, "--seeds", 2, "--seed", 3, "--jobs", 1, "--json"]
    content = answered(mcn("compare", *words))
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
        assert list(row["metrics"]) == list(TASK_METRICS["classes"])
        for found in row["metrics"].values():
            assert list(found) == ["test_mean", "test_std", "val_mean"]
        for part in ("test_mean", "test_std", "val_mean"):
            assert 100 * row["metrics"]["accuracy"][part] == pytest.approx(row[part])
        for percent in [*row["test"], row["val_mean"] * 2]:
            assert percent / 100 * 15 == pytest.approx(round(percent / 100 * 15))  # of 15 nodes
            assert percent == 0 or percent > 1
    assert list(here.iterdir()) == []


def test_table(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path)
    words = ["--methods", "gcn, mlp", "--max-epochs", 2, "--seeds", 2, "--jobs", 1]
    text = printed(mcn("compare", "--graph", edges, "--nodes", nodes, *words))
    for shown in ("GCN", "MLP", "note: split: ", "− GCN, paired"):
        assert shown in text
    assert "MCN" not in text
    assert text.rstrip().endswith("mean ± standard deviation over 2 seeds")


@pytest.mark.parametrize("metric", ["roc-auc", "log-loss"])
def test_a_metric_is_a_column_of_the_table(mcn: Run, tmp_path: Path, metric: str) -> None:
    words = ["compare", "--dataset", "karate", "--methods", "gcn,majority", "--max-epochs", 2, "--seeds", 2]
    words += ["--jobs", 1, "--ledger", tmp_path / "runs.sqlite", "--metric", metric]
    rows = answered(mcn(*words, "--json"))["rows"]
    text = printed(mcn(*words))
    assert f"test {metric}" in text
    for row in rows:
        found = row["metrics"][metric]
        shown = f"{found['test_mean']:.3f} ± {found['test_std']:.3f}"
        if metric == "roc-auc":
            shown = f"{100 * found['test_mean']:.1f} ± {100 * found['test_std']:.1f} %"
        lines = (line for line in text.splitlines() if line.strip())
        line = next(line for line in lines if line.split()[0].lower() == row["method"])
        assert shown in line
    configs = [row["config"] for row in Ledger(tmp_path / "runs.sqlite").rows(method="gcn")]
    assert [config["metric"] for config in configs] == [metric] * 2
    assert metric not in mcn(*words[:-2]).out  # nothing new unless it was asked for


def test_the_options_reach_the_networks(mcn: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    done = mcn(
        *("compare", "--dataset", "karate", "--methods", "mcn,gat,lp", "--motifs", "edge,4-clique"),
        *("--steps", 2, "--psi", "transition", "--dropout", 0.3, "--lr", 0.02, "--weight-decay", 0.1),
        *("--max-epochs", 2, "--patience", 7, "--stopping", "loss", "--features", "both", "--seeds", 1),
        *("--ledger", file, "--jobs", 1),
    )
    asked = MCNConfig(
        motifs=("edge", "4-clique"),
        **{"steps": 2, "psi": "transition", "dropout": 0.3, "lr": 0.02, "weight_decay": 0.1},
        **{"max_epochs": 2, "patience": 7, "stopping": "loss", "features": "both"},
    )
    gat, lp, own = Ledger(file).rows()
    assert MCNConfig.from_dict(own["config"]) == asked
    assert MCNConfig.from_dict(gat["config"]) == asked.replace(**CHANGES["gat"])
    assert lp["config"] is None
    assert "weights kept by validation loss, patience 7" in printed(done)


def test_settings_reach_the_methods_that_have_them(mcn: Run, tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    words = ["--methods", "views,paper,lp,majority", "--max-epochs", 1, "--heads", 2, "--seeds", 1]
    words += ["--set", "unlabelled_batch=8", "--ledger", file, "--jobs", 1]
    text = printed(mcn("compare", "--dataset", "karate", *words))
    assert "note: heads: no setting of views, lp, majority\n" in text
    assert "note: unlabelled_batch: no setting of paper, lp, majority\n" in text
    assert "note: max_epochs: no setting of lp, majority\n" in text
    assert "paired" not in text
    assert "±" not in text.partition("protocol")[0]  # a single run has no deviation
    assert "weights kept by validation loss, patience 100 × 10 steps" in text  # the protocol of views
    _, _, paper, views = Ledger(file).rows()
    assert (paper["settings"], paper["config"]["heads"]) == ({"max_epochs": 1, "heads": 2}, 2)
    assert views["settings"] == {"max_epochs": 1, "unlabelled_batch": 8}


@pytest.mark.slow
def test_workers_and_a_ledger(mcn: Run, tmp_path: Path) -> None:
    """In two processes and from the ledger: the same rows; the second time nothing is run."""
    file = tmp_path / "runs.sqlite"
    words = ["--dataset", "karate", "--methods", "gat,lp", "--max-epochs", 3, "--seeds", 2, "--json"]
    first = answered(mcn("compare", *words, "--jobs", 2, "--ledger", file))
    assert len(Ledger(file)) == 4
    again = answered(mcn("compare", *words, "--jobs", 1, "--ledger", file))
    assert again == first  # seconds included: they come from the ledger
    alone = answered(mcn("compare", *words, "--jobs", 1))
    for row, other in zip(first["rows"], alone["rows"], strict=True):
        assert (row["test"], row["val_mean"]) == (other["test"], other["val_mean"])
