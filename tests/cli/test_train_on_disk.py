"""`mcn train`, `predict` and `view` on a packed graph that does not fit into memory."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import mcn as package
from mcn.store import pack_graph
from mcn.train import load_run
from tests.cli.conftest import Run, answered, printed, random_files, refused

QUICK = ("--max-epochs", "2", "--hidden", "4", "--json")


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    return pack_graph(*random_files(tmp_path), out=tmp_path / "graph").path


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcn.train.memory.free_bytes", lambda: 1e4)


@pytest.mark.usefixtures("little_memory")
def test_from_the_graph_to_its_predictions(mcn: Run, packed: Path, tmp_path: Path) -> None:
    found = answered(mcn("train", "--graph", packed, *QUICK, "--seeds", "2", "--out", tmp_path / "runs"))
    assert found["recipe"] == "mcn"
    assert (found["config"]["attention"], found["config"]["batch_size"]) == ("gated", 1024)
    for words in ("9.77 KiB are free: the recipe mcn", "1,024 nodes with 10 neighbours", "no report"):
        assert words in found["memory"]
    assert "triangle" in package.GraphStore.open(packed).counts  # counted on the way
    assert found["alone"]["guess"] is not None
    assert found["alone"]["graph"] is None
    folder = tmp_path / "runs" / "seed-0"
    assert not (folder / "report.html").exists()
    table = list(csv.DictReader((folder / "predictions.csv").read_text().splitlines()))
    assert [row["node"] for row in table] == list(package.GraphStore.open(packed).ids)
    assert load_run(folder).memory.feature_names == ["size"]
    own = printed(mcn("predict", folder))
    assert own == (folder / "predictions.csv").read_text()
    assert printed(mcn("predict", folder, "--graph", packed)) == own
    printed(mcn("predict", folder, "--out", tmp_path / "again.csv"))
    assert (tmp_path / "again.csv").read_text() == own
    assert "its graph stays on disk" in refused(mcn("view", folder, "--no-open"))


@pytest.mark.usefixtures("little_memory")
def test_a_run_is_resumed_as_it_was_begun(
    mcn: Run, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["train", "--graph", packed, *QUICK, "--batch-size", "5", "--out"]
    whole = answered(mcn(*words, tmp_path / "whole"))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("mcn.train.run._write_results", stop)
        with pytest.raises(SystemExit):
            mcn(*words, tmp_path / "run")
    monkeypatch.setattr("mcn.train.memory.free_bytes", lambda: 1e12)  # now it would fit
    found = json.loads(mcn(*words, tmp_path / "run", "--resume").out)
    assert found["scores"] == whole["scores"]
    assert "as the run was begun: the recipe mcn trains on the graph on disk" in found["memory"]


@pytest.mark.usefixtures("little_memory")
def test_what_needs_the_graph_in_memory(mcn: Run, packed: Path, tmp_path: Path) -> None:
    given = ("train", "--graph", packed, "--out", tmp_path / "run")
    assert "the recipe auto needs the graph in memory" in refused(mcn(*given, "--recipe", "auto"))
    assert "candidates is a setting of the recipe auto" in refused(mcn(*given, "--candidates", "mlp,gat"))
    assert "needs the graph in memory, and it stays on disk" in refused(mcn(*given, "--beside", "gcn"))
    assert "steps = 2 needs the whole graph in memory" in refused(
        mcn(*given, "--recipe", "mcn", "--steps", "2")
    )
    assert not (tmp_path / "run").exists()


def test_mini_batches_where_the_graph_fits(mcn: Run, packed: Path, tmp_path: Path) -> None:
    some = ("--batch-size", "8", "--neighbours", "3,2", "--no-report")
    words = [*QUICK, *some, "--candidates", "gcn,gat", "--out", tmp_path / "auto"]
    found = answered(mcn("train", "--graph", packed, *words))
    assert found["recipe"] == "auto"
    assert found["config"]["batch_size"] == 8
    assert {row["candidate"] for row in found["candidates"]} == {"gcn", "gat"}
