"""`mcn pack`, the verbs that take a packed graph, and one that does not fit into memory."""

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import mcn as package
from mcn.store import pack_graph
from mcn.train import load_run
from tests.cli.conftest import Run, answered, printed, random_files, refused
from tests.conftest import python


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return random_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def packed(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack_graph(*files, out=tmp_path_factory.mktemp("packed") / "graph").path


def test_pack_and_check(mcn: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    given = ("pack", files[0], "--nodes", files[1], "--memory", "2MB")
    found = answered(mcn(*given, "--out", tmp_path / "graph", "--split", "50/25/25", "--json"))
    assert found["nodes"] == 60
    assert found["classes"] == ["a", "b"]
    assert any("50/25/25" in note for note in found["notes"])
    assert mcn("pack", tmp_path / "graph", "--check").out.endswith("every check sum is right\n")
    assert "holds a packed graph already" in refused(mcn(*given, "--out", tmp_path / "graph"))
    with (tmp_path / "graph" / "x.npy").open("r+b") as file:
        file.seek(200)
        file.write(b"\0\1\2\3")
    assert "x.npy: SHA-256 is" in refused(mcn("pack", tmp_path / "graph", "--check"))


def test_wrong_use(mcn: Run, files: tuple[Path, Path], tmp_path: Path, packed: Path) -> None:
    assert "--out is missing" in refused(mcn("pack", files[0]))
    said = refused(mcn("pack", files[0], "--out", tmp_path / "g", "--memory", "much"))
    assert said == "--memory must be a size such as 500MB or 1GB, got much"
    assert "no such file" in refused(mcn("pack", tmp_path / "none.csv", "--out", tmp_path / "g"))
    assert "holds no packed graph" in refused(mcn("motifs", "--graph", tmp_path))
    said = refused(mcn("train", "--graph", packed, "--nodes", files[1], "--out", tmp_path / "run"))
    assert "nodes cannot be given for a packed graph" in said
    said = refused(mcn("train", "--graph", packed, "--split", "20-per-class", "--out", tmp_path / "run"))
    assert "split cannot be given for a packed graph" in said


def test_a_disk_that_takes_no_more_is_one_line(files: tuple[Path, Path], tmp_path: Path) -> None:
    code = (
        "import sys, mcn.cli.main as m, resource, signal\n"
        "graph = sys.argv[2]\n"
        "first = graph + '-first'\n"
        "count = ['motifs', '--graph', first, '--motifs', 'triangle', '--memory', '1MB', '--out']\n"
        "m.main(['pack', sys.argv[1], '--out', first])\n"  # compiled, loaded
        "m.main([*count, graph + '-counts'])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
        "packed = m.main(['pack', sys.argv[1], '--out', graph])\n"
        "sys.exit(packed + m.main([*count, graph + '-more']))\n"
    )
    done = python("-B", "-c", code, files[0], tmp_path / "graph", check=False)
    assert done.returncode == 2, done.stderr
    said = done.stderr.splitlines()
    assert len(said) == 2
    assert re.search(r"graph/\S+: File too large", said[0])
    assert re.search(r"graph-more/\S+: File too large", said[1])
    assert not (tmp_path / "graph" / "manifest.json").exists()
    assert not (tmp_path / "graph-more" / "manifest.json").exists()


def test_motifs_of_a_packed_graph(mcn: Run, files: tuple[Path, Path], packed: Path, tmp_path: Path) -> None:
    whole = answered(mcn("motifs", "--graph", files[0], "--json"))
    by_orbit = {line["orbit"]: line for line in whole["orbits"]}
    found = answered(mcn("motifs", "--graph", packed, "--json"))
    assert found["orbits"] == whole["orbits"]
    one = answered(mcn("motifs", "--graph", packed, "--motifs", "triangle", "--json"))
    assert one["orbits"] == [by_orbit["triangle"]]
    out = tmp_path / "counts"
    some = ("motifs", "--graph", packed, "--motifs", "edge,triangle,4-cycle")
    for line in answered(mcn(*some, "--out", out, "--memory", "1MB", "--json"))["orbits"]:
        for name in ("per_edge", "edges", "nodes"):
            assert line[name] == by_orbit[line["graphlet"]][name]
    written = {file.name for file in out.iterdir()}
    assert written == {"count.4-cycle.npy", "count.triangle.npy", "manifest.json"}
    assert "triangle" in printed(mcn(*some, "--out", packed))
    stored = package.GraphStore.open(packed).counts["triangle"]
    assert np.array_equal(stored, np.load(out / "count.triangle.npy"))


def test_estimates(mcn: Run, files: tuple[Path, Path], packed: Path, tmp_path: Path) -> None:
    words = ("motifs", "--graph", packed, "--approximate", "0.1")
    found = answered(mcn(*words, "--json"))
    exact = answered(mcn("motifs", "--graph", files[0], "--json"))
    true = {line["graphlet"]: line["instances"] for line in exact["orbits"]}
    assert {line["graphlet"] for line in found["orbits"]} == set(true)
    triangle = next(line for line in found["orbits"] if line["graphlet"] == "triangle")
    assert triangle["low"] == triangle["instances"] == triangle["high"] == true["triangle"]
    assert "exact: counting takes less work" in printed(mcn(*words))
    assert "--approximate gives totals alone" in refused(mcn(*words, "--out", tmp_path / "c.npz"))


def test_train_and_predict(mcn: Run, files: tuple[Path, Path], packed: Path, tmp_path: Path) -> None:
    quick = ("--recipe", "mcn", "--max-epochs", "2", "--hidden", "4", "--heads", "1", "--no-report", "--json")
    one = answered(mcn("train", "--graph", packed, *quick, "--out", tmp_path / "one"))
    graph = ("--graph", files[0], "--nodes", files[1])
    two = answered(mcn("train", *graph, *quick, "--out", tmp_path / "two"))
    assert one["scores"] == two["scores"]
    own = printed(mcn("predict", tmp_path / "one"))
    assert own == printed(mcn("predict", tmp_path / "one", "--graph", packed))
    assert own == printed(mcn("predict", tmp_path / "two"))
    raw = pack_graph(*files, out=tmp_path / "raw", scaling="raw").path
    said = refused(mcn("predict", tmp_path / "one", "--graph", raw))
    assert "features that were not treated as those trained on" in said


# A packed graph that does not fit into memory.

QUICK = ("--max-epochs", "2", "--hidden", "4", "--json")


@pytest.fixture
def own_packed(packed: Path, tmp_path: Path) -> Path:
    """A copy that a command may write into."""
    return Path(shutil.copytree(packed, tmp_path / "graph"))


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcn.train.memory.free_bytes", lambda: 1e4)


@pytest.mark.usefixtures("little_memory")
def test_from_the_graph_to_its_predictions(mcn: Run, own_packed: Path, tmp_path: Path) -> None:
    found = answered(mcn("train", "--graph", own_packed, *QUICK, "--seeds", "2", "--out", tmp_path / "runs"))
    assert found["recipe"] == "mcn"
    assert (found["config"]["attention"], found["config"]["batch_size"]) == ("gated", 1024)
    for words in ("9.77 KiB are free: the recipe mcn", "1,024 nodes with 10 neighbours", "no report"):
        assert words in found["memory"]
    assert "triangle" in package.GraphStore.open(own_packed).counts  # counted on the way
    assert found["alone"]["guess"] is not None
    assert found["alone"]["graph"] is None
    folder = tmp_path / "runs" / "seed-0"
    assert not (folder / "report.html").exists()
    table = list(csv.DictReader((folder / "predictions.csv").read_text().splitlines()))
    assert [row["node"] for row in table] == list(package.GraphStore.open(own_packed).ids)
    assert load_run(folder).memory.feature_names == ["size"]
    own = printed(mcn("predict", folder))
    assert own == (folder / "predictions.csv").read_text()
    assert printed(mcn("predict", folder, "--graph", own_packed)) == own
    printed(mcn("predict", folder, "--out", tmp_path / "again.csv"))
    assert (tmp_path / "again.csv").read_text() == own
    assert "its graph stays on disk" in refused(mcn("view", folder, "--no-open"))


@pytest.mark.usefixtures("little_memory")
def test_a_run_is_resumed_as_it_was_begun(
    mcn: Run, own_packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["train", "--graph", own_packed, *QUICK, "--batch-size", "5", "--out"]
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
def test_what_needs_the_graph_in_memory(mcn: Run, own_packed: Path, tmp_path: Path) -> None:
    given = ("train", "--graph", own_packed, "--out", tmp_path / "run")
    assert "candidates is a setting of the recipe auto" in refused(mcn(*given, "--candidates", "mlp,gat"))
    assert (
        "a graph that stays on disk does not go with --beside gcn: it needs the whole graph in memory"
        in refused(mcn(*given, "--beside", "gcn"))
    )
    assert not (tmp_path / "run").exists()


def test_mini_batches_where_the_graph_fits(mcn: Run, own_packed: Path, tmp_path: Path) -> None:
    some = ("--batch-size", "8", "--neighbours", "3,2", "--no-report")
    words = [*QUICK, *some, "--candidates", "gcn,gat", "--minutes", "0.02", "--out", tmp_path / "auto"]
    found = answered(mcn("train", "--graph", own_packed, *words))
    assert found["recipe"] == "auto"
    assert found["config"]["batch_size"] == 8
    assert {row["candidate"] for row in found["candidates"]} == {"gcn", "gat"}


def test_a_packed_graph_without_test_nodes_is_trained_on(mcn: Run, tmp_path: Path) -> None:
    data = package.load_dataset("karate")
    masks = {"train_mask": data.train_mask, "val_mask": data.val_mask}
    packed = tmp_path / "graph"
    package.GraphStore.write(packed, [data.edge_index], 34, x=data.x.to_dense(), y=data.y, **masks)
    words = ["train", "--graph", packed, "--recipe", "mcn", "--max-epochs", "3", "--json"]
    answered(mcn(*words, "--out", tmp_path / "run"))
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["test_accuracy"] is None
    assert summary["val_accuracy"] is not None
