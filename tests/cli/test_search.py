import json
import signal
import statistics
import time
from pathlib import Path

import pytest

from mcn.experiments import Ledger
from mcn.train import load_preset
from tests.cli.conftest import Run, answered, ended, printed, refused, start
from tests.experiments.engine.units import write_graph

pytest.importorskip("optuna", reason="Optuna is not installed (pip install 'mcn[search]')")

SPACE = """
fixed: {max_epochs: 10, hidden: 2, heads: 2, attention: paper}
settings:
  motifs: {subsets: [edge, triangle]}
  lr: [0.01, 0.05]
"""
OF_VIEWS = """
recipe: views
fixed: {max_epochs: 1, steps_per_epoch: 2, unlabelled_batch: 8}
settings: {drop_neighbours: [0.1, 0.2]}
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
    text = printed(mcn(*options(space, out)))
    assert "karate, space space: the best settings" in text
    assert "the winner was chosen on validation nodes and tested once" in text
    assert len(text.splitlines()) <= 15
    assert f"train it again: mcn train --preset {out / 'best.yaml'} --seeds 2 --seed 2" in text
    files = {path.name for path in out.iterdir() if path.name[0] != "."}
    assert files == {"best.yaml", "ledger.sqlite", "search.json"}
    result = json.loads((out / "search.json").read_text())
    assert len(result["trials"]) == 4
    assert result["protocol"].startswith("4 trials (tpe, 0 failed), each the mean of seeds 0 to 1")
    ledger = Ledger(out / "ledger.sqlite")
    tested, final = ledger.rows(test=True), result["final"]
    assert [row["test_accuracy"] for row in tested] == [row["test_accuracy"] for row in final]


def test_another_metric(mcn: Run, space: Path, tmp_path: Path) -> None:
    words = [*options(space, tmp_path / "out"), "--metric", "roc-auc"]
    text = printed(mcn(*words, "--verbose"))
    result = json.loads((tmp_path / "out" / "search.json").read_text())
    assert result["metric"] == "roc-auc"
    scores = [trial["val_score"] for trial in result["trials"]]
    assert f"{100 * max(scores):.1f} %" in text
    assert "the winner has the highest mean validation roc-auc" in text
    test = [100 * row["metrics"]["test"]["roc-auc"] for row in result["final"]]
    assert f"test roc-auc of the winner: {sum(test) / 2:.1f} ± {statistics.stdev(test):.1f} %\n" in text
    assert "roc-auc" not in printed(mcn(*words[:-2], "--resume"))  # the same runs, chosen by accuracy


@pytest.mark.parametrize(("recipe", "content"), [("mcn", SPACE), ("views", OF_VIEWS)])
def test_the_winner_is_a_preset(mcn: Run, recipe: str, content: str, space: Path, tmp_path: Path) -> None:
    space.write_text(content)
    out = tmp_path / "out"
    result = answered(mcn(*options(space, out), "--sampler", "grid", "--json"))
    preset = load_preset(out / "best.yaml")
    assert (preset.dataset, preset.recipe, preset.config.to_dict()) == ("karate", recipe, result["config"])
    words = ["--preset", out / "best.yaml", "--seeds", 2, "--seed", 2, "--out", out / "r", "--json"]
    again = answered(mcn("train", *words))["rows"][0]
    assert again["test"] == [100 * row["test_accuracy"] for row in result["final"]]


def test_going_on(mcn: Run, space: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    printed(mcn(*options(space, out)))
    before = Ledger(out / "ledger.sqlite").rows()
    said = refused(mcn(*options(space, out)))
    assert "ledger.sqlite already holds runs; choose another --out, or go on with --resume" in said
    printed(mcn(*options(space, out), "--resume"))
    assert Ledger(out / "ledger.sqlite").rows() == before
    other = mcn(*options(space, tmp_path / "other"), "--ledger", out / "ledger.sqlite", "--resume")
    assert f"folder: {tmp_path / 'other'}, {out / 'ledger.sqlite'}" in other.out
    assert Ledger(out / "ledger.sqlite").rows() == before


@pytest.mark.slow
def test_interrupted(space: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [*map(str, options(space, out)), "--trials", "40"]
    whole = start(*words)
    deadline = time.monotonic() + 100
    ledger = out / "ledger.sqlite"
    while not (ledger.exists() and len(Ledger(ledger))) and time.monotonic() < deadline:
        time.sleep(0.05)
    whole.send_signal(signal.SIGINT)
    said = f"mcn: interrupted; go on with: {' '.join(['mcn', *words, '--resume'])}\n"
    assert ended(whole) == (130, "", said)
    assert Ledger(ledger).rows()


def test_files_of_ones_own(mcn: Run, tmp_path: Path, space: Path) -> None:
    source = write_graph(tmp_path)
    small = ["--trials", 1, "--seeds", 1, "--final-seeds", 1, "--jobs", 1, "--sampler", "grid"]
    graph = ["--graph", source.graph, "--nodes", source.nodes]
    text = printed(mcn("search", *graph, "--space", space, *small, "--out", tmp_path / "out", "--verbose"))
    assert f"train it again: mcn train --graph {source.graph} --nodes {source.nodes} --preset" in text
    assert "importance: the trials do not differ" in text
