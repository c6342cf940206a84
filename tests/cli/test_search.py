from __future__ import annotations

import json
import signal
import statistics
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from mcn.experiments import Ledger
from mcn.train import load_preset
from tests.cli.conftest import COMMAND, Run, refused
from tests.experiments.engine.units import timeless

pytest.importorskip("optuna", reason="Optuna is not installed (pip install 'mcn[search]')")

SPACE = """
fixed: {max_epochs: 10, hidden: 2, heads: 2, attention: paper}
settings:
  motifs: {subsets: [edge, triangle]}
  lr: [0.01, 0.05]
"""


@pytest.fixture
def space(tmp_path: Path) -> Path:
    path = tmp_path / "space.yaml"
    path.write_text(SPACE)
    return path


def options(space: Path, out: Path) -> list[object]:
    small = ["--trials", 4, "--seeds", 2, "--final-seeds", 2, "--jobs", 1]
    return ["search", "--dataset", "karate", "--space", space, *small, "--out", out]


def test_a_search(mcn: Run, space: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    outcome = mcn(*options(space, out))
    assert (outcome.code, outcome.err) == (0, "")
    assert "karate, space space: the best settings" in outcome.out
    assert "the winner was chosen on validation nodes and tested once" in outcome.out
    assert len(outcome.out.splitlines()) <= 15
    assert f"train it again: mcn train --preset {out / 'best.yaml'} --seeds 2 --seed 2" in outcome.out
    files = {path.name for path in out.iterdir() if path.name[0] != "."}
    assert files == {"best.yaml", "ledger.sqlite", "search.json"}
    result = json.loads((out / "search.json").read_text())
    assert len(result["trials"]) == 4
    assert result["protocol"].startswith("4 trials (tpe, 0 failed), each the mean of seeds 0 to 1")
    ledger = Ledger(out / "ledger.sqlite")
    assert [row["test_accuracy"] for row in ledger.rows(test=True)] == [
        row["test_accuracy"] for row in result["final"]
    ]


def test_another_metric(mcn: Run, space: Path, tmp_path: Path) -> None:
    words = [*options(space, tmp_path / "out"), "--metric", "roc-auc"]
    outcome = mcn(*words, "--verbose")
    assert (outcome.code, outcome.err) == (0, "")
    result = json.loads((tmp_path / "out" / "search.json").read_text())
    assert result["metric"] == "roc-auc"
    scores = [trial["val_score"] for trial in result["trials"]]
    assert result["best"]["val_score"] == max(scores)
    rows = Ledger(tmp_path / "out" / "ledger.sqlite").rows(test=False)
    own = [row for row in rows if row["settings"].items() >= result["best"]["settings"].items()]
    assert result["best"]["val_score"] == sum(row["metrics"]["val"]["roc-auc"] for row in own) / 2
    assert "validation roc-auc" in outcome.out
    assert f"{100 * max(scores):.1f} %" in outcome.out
    assert "the winner has the highest mean validation roc-auc" in outcome.out
    test = [100 * row["metrics"]["test"]["roc-auc"] for row in result["final"]]
    assert (
        f"test roc-auc of the winner: {sum(test) / 2:.1f} ± {statistics.stdev(test):.1f} %\n" in outcome.out
    )
    again = mcn(*words[:-2], "--resume")  # the same runs, chosen by accuracy
    assert again.code == 0, again.err
    assert "roc-auc" not in again.out


def test_the_winner_is_a_preset(mcn: Run, space: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = json.loads(mcn(*options(space, out), "--json").out)
    preset = load_preset(out / "best.yaml")
    assert preset.dataset == "karate"
    assert preset.config.to_dict() == result["config"]
    assert yaml.safe_load((out / "best.yaml").read_text())["settings"]["attention"] == "paper"
    again = mcn(
        "train", "--preset", out / "best.yaml", "--seeds", 2, "--seed", 2, "--out", out / "r", "--json"
    )
    assert json.loads(again.out)["rows"][0]["test"] == [100 * row["test_accuracy"] for row in result["final"]]


def test_the_winner_of_another_recipe_is_a_preset(mcn: Run, space: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fixed = "{max_epochs: 1, steps_per_epoch: 2, unlabelled_batch: 8}"
    space.write_text(f"recipe: views\nfixed: {fixed}\nsettings: {{drop_neighbours: [0.1, 0.2]}}\n")
    result = json.loads(mcn(*options(space, out), "--sampler", "grid", "--json").out)
    preset = load_preset(out / "best.yaml")
    assert (preset.recipe, preset.config.to_dict()) == ("views", result["config"])
    again = mcn(
        "train", "--preset", out / "best.yaml", "--seeds", 2, "--seed", 2, "--out", out / "r", "--json"
    )
    assert json.loads(again.out)["rows"][0]["test"] == [100 * row["test_accuracy"] for row in result["final"]]


def test_going_on(mcn: Run, space: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    mcn(*options(space, out))
    before = Ledger(out / "ledger.sqlite").rows()
    assert "ledger.sqlite already holds runs; choose another --out, or go on with --resume" in refused(
        mcn(*options(space, out))
    )
    assert mcn(*options(space, out), "--resume").code == 0
    assert Ledger(out / "ledger.sqlite").rows() == before
    other = mcn(*options(space, tmp_path / "other"), "--ledger", out / "ledger.sqlite", "--resume")
    assert f"folder: {tmp_path / 'other'}, {out / 'ledger.sqlite'}" in other.out
    assert Ledger(out / "ledger.sqlite").rows() == before


@pytest.mark.slow
def test_interrupted(space: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [str(word) for word in options(space, out)]
    whole = subprocess.Popen(
        [COMMAND, *words, "--trials", "40"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 100
    while not (out / "ledger.sqlite").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    while not len(Ledger(out / "ledger.sqlite")) and time.monotonic() < deadline:
        time.sleep(0.05)
    whole.send_signal(signal.SIGINT)
    printed, err = whole.communicate(timeout=100)
    assert whole.returncode == 130
    assert printed == ""
    command = " ".join(["mcn", *words, "--trials", "40", "--resume"])
    assert err == f"mcn: interrupted; go on with: {command}\n"
    assert timeless(Ledger(out / "ledger.sqlite").rows())


def test_files_of_ones_own(mcn: Run, tmp_path: Path, space: Path) -> None:
    from tests.experiments.engine.units import write_graph

    source = write_graph(tmp_path)
    small = ["--trials", 1, "--seeds", 1, "--final-seeds", 1, "--jobs", 1, "--sampler", "grid"]
    outcome = mcn(
        "search", "--graph", source.graph, "--nodes", source.nodes, "--space", space, *small,
        "--out", tmp_path / "out", "--verbose",
    )  # fmt: skip
    assert outcome.code == 0, outcome
    assert f"train it again: mcn train --graph {source.graph} --nodes {source.nodes} --preset" in outcome.out
    assert "importance: the trials do not differ" in outcome.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--space", "quik"], "unknown space 'quik'; did you mean 'quick'?"),
        (["--dataset", "karate", "--sampler", "random"], "sampler must be one of tpe, grid, got 'random'"),
        (["--dataset", "karate", "--engine", "dask"], "engine must be one of local, ray, got 'dask'"),
        (["--resume"], "--resume needs --out or --ledger"),
        (["--trials", "0"], "'--trials'"),
        (["--dataset", "karate", "--metric", "roc-acu"], "got 'roc-acu'; did you mean 'roc-auc'?"),
    ],
)
def test_wrong_use(
    mcn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(mcn("search", *words))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_ledger(mcn: Run, space: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("no ledger " * 100)
    outcome = mcn(*options(space, tmp_path / "out"), "--ledger", tmp_path / "notes", "--resume")
    assert "notes: not a ledger of runs, or damaged" in refused(outcome)


def test_options_of_a_graph_of_ones_own_are_refused_for_a_data_set(mcn: Run, tmp_path: Path) -> None:
    words = ["--dataset", "karate", "--split", "60/20/20", "--out", tmp_path / "search"]
    assert refused(mcn("search", *words)) == "--split: for a graph of one's own; give --graph and --nodes"
    assert not (tmp_path / "search").exists()
