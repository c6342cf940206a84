from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from mcn.train import MCNConfig, load_run
from tests.cli.conftest import Run, refused

QUICK = ["--max-epochs", "3", "--hidden", "4", "--heads", "2"]
FILES = [
    "config.yaml",
    "metrics.jsonl",
    "model.safetensors",
    "predictions.csv",
    "report.html",
    "summary.json",
]


def write_graph(folder: Path, labels: str = "red,blue", split: bool = False) -> tuple[Path, Path]:
    """Two wheels of 12 nodes with string ids; without a split column, one is drawn."""
    names = labels.split(",")
    rim = [(i, (i + 1) % 11) for i in range(11)] + [(i, 11) for i in range(11)]
    edges = [f"{c}{u},{c}{v}" for c in "ab" for u, v in rim] + ["a0,b0"]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    part = ["train", "train", "val", "val", "test", "test"] * 2
    lines = ["id,label,split,size,age" if split else "id,label,size,age"]
    for place, c in enumerate("ab"):
        for i in range(12):
            cells = [
                f"{c}{i}",
                names[place % len(names)],
                *([part[i]] if split else []),
                str(i + 1),
                str(50 - place),
            ]
            lines.append(",".join(cells))
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n")
    return folder / "edges.csv", folder / "nodes.csv"


def test_two_files_of_ones_own(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path)
    done = mcn("train", "--graph", edges, "--nodes", nodes, *QUICK, "--raw", "--out", tmp_path / "run")
    assert done.code == 0
    assert done.err == ""
    assert "note: features: 2 columns of the node table" in done.out
    assert "note: split: " in done.out
    assert "drawn with seed 0" in done.out
    assert "MCN" in done.out
    assert "GAT" not in done.out
    assert "protocol: " in done.out
    assert "layer 1 listens to: " in done.out
    assert done.out.splitlines()[-1] == f"files: {tmp_path / 'run'}"
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == FILES
    run = load_run(tmp_path / "run")
    assert run.config == MCNConfig(max_epochs=3, hidden=4, heads=2, normalize=False)
    assert run.source == {"dataset": None, "graph": str(edges.resolve()), "nodes": str(nodes.resolve())}
    assert run.classes == ["blue", "red"]
    assert run.memory.feature_names == ["size", "age"]


def test_json_of_several_seeds_beside_another_method(mcn: Run, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    done = mcn(
        *("train", "--dataset", "karate", *QUICK, "--motifs", "edge, triangle", "--steps", 2),
        *("--seeds", 2, "--seed", 5, "--beside", "gcn", "--out", out, "--json"),
    )
    assert done.code == 0
    assert done.err == ""
    content = json.loads(done.out)
    assert list(content) == ["dataset", "protocol", "recipe", "rows", "motif_share", "config", "out"]
    assert [row["method"] for row in content["rows"]] == ["mcn", "gcn"]
    assert all(row["seeds"] == [5, 6] and len(row["test"]) == 2 for row in content["rows"])
    assert content["config"]["steps"] == 2
    assert sorted(path.name for path in out.iterdir()) == ["seed-5", "seed-6"]
    summaries = [json.loads((out / f"seed-{s}" / "summary.json").read_text()) for s in (5, 6)]
    assert content["rows"][0]["test"] == [100 * s["test_accuracy"] for s in summaries]
    assert "there are runs in it: seed-5, seed-6" in refused(mcn("predict", out))
    taken = mcn("train", "--dataset", "karate", *QUICK, "--seeds", 2, "--seed", 6, "--out", out)
    assert f"{out / 'seed-6'} already holds a run" in refused(taken)
    assert not (out / "seed-7").exists()  # refused before anything was trained


def test_folders_of_their_own(mcn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for expected in ("karate", "karate-2"):
        done = mcn("train", "--dataset", "karate", *QUICK)
        assert done.out.splitlines()[-1] == f"files: runs/{expected}"
    again = mcn("train", "--dataset", "karate", *QUICK, "--out", "runs/karate")
    assert refused(again) == "runs/karate already holds a run; choose another folder, or resume the run"
    at_once = mcn("train", "--dataset", "karate", *QUICK, "--out", "runs/karate", "--resume")
    assert at_once.code == 0
    other = mcn("train", "--dataset", "karate", *QUICK, "--lr", "0.1", "--out", "runs/karate", "--resume")
    assert "started with lr = 0.005, now it is 0.1; resume with the same settings" in refused(other)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume"], "--resume needs --out: the folder of the run to go on with"),
        (["--steps", "0"], "steps must be an integer of at least 1, got 0"),
        (["--psi", "row-mx"], "; did you mean 'row-max'?"),
        (["--motifs", "edge,triangl"], "unknown motif 'triangl'; did you mean 'triangle'"),
        (["--motifs", " , "], "motifs must name at least one of them, got none"),
        (["--attention", "papre"], "did you mean 'paper'?"),
        (["--stopping", "acuracy"], "did you mean 'accuracy'?"),
        (
            ["--beside", "gat,gnc"],
            "--beside must be one of mcn, paper, views, gat, gcn, mlp, gat-paper, gcn-paper, majority, ",
        ),
        (
            ["--beside", "gat,gnc"],
            "got 'gnc'; did you mean 'gcn'?",
        ),
        (["--motfs", "edge"], "no option '--motfs'; did you mean '--motifs'?"),
        (["--dropout", "1.5"], "dropout must be a probability below 1, got 1.5"),
        (["--lr", "-1"], "lr must be a positive number, got -1.0"),
        (["--dataset", "kartae"], "karate"),
        (["--nodes", "nodes.csv"], "--nodes describes the nodes of --graph"),
        (["--graph", "nowhere.csv"], "nowhere.csv: no such file"),
        (["--seeds", "0"], "--seeds"),
    ],
)
def test_wrong_use(
    mcn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    dataset = [] if {"--dataset", "--graph", "--nodes"} & set(words) else ["--dataset", "karate"]
    assert message in refused(mcn("train", *dataset, *words))
    assert list(tmp_path.iterdir()) == []


def test_a_graph_that_cannot_be_trained_on(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path, labels="same", split=True)
    out = tmp_path / "run"
    text = nodes.read_text()

    def message(table: str | None) -> str:
        if table is not None:
            nodes.write_text(table)
        words = [] if table is None else ["--nodes", nodes]
        found = refused(mcn("train", "--graph", edges, *words, *QUICK, "--out", out))
        assert not out.exists()
        return found

    assert "data.y holds one class only (0)" in message(text)
    assert "the graph has no labels" in message(None)
    assert "the graph has no labels" in message(text.replace("label,split", "name,part"))
    two = text.replace("b1,same", "b1,other").replace("b0,same", "b0,other")
    assert "data.train_mask is empty" in message(two.replace("train", "test"))
    assert "data.val_mask is empty" in message(two.replace("val", "test"))
    assert "nodes.csv, line 3: 'nan' in feature column 'size'" in message(
        two.replace("train,2", "train,nan", 1)
    )
    assert "split 'tset'" in message(two.replace("test", "tset", 1))


def test_a_warning_is_one_readable_line(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path, split=True)
    text = nodes.read_text().replace("b6,blue,train", "b6,blue,test").replace("b7,blue,train", "b7,blue,test")
    nodes.write_text(text.replace("b0,blue,train", "b0,blue,test").replace("b1,blue,train", "b1,blue,test"))
    graph = ["--graph", edges, "--nodes", nodes]
    for words in (
        ["train", *graph, *QUICK, "--out", tmp_path / "run", "--json"],
        ["compare", *graph, "--max-epochs", 1, "--seeds", 1, "--json"],
    ):
        done = mcn(*words)
        assert done.code == 0
        assert json.loads(done.out)
        assert done.err == "mcn: warning: no training node of class 0: it can never be predicted\n"


def test_no_test_nodes(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path, split=True)
    nodes.write_text(nodes.read_text().replace("test", "val"))
    done = mcn(
        "train", "--graph", edges, "--nodes", nodes, *QUICK, "--beside", "gcn", "--out", tmp_path / "run"
    )
    assert done.code == 0
    assert done.out.count("no test nodes") == 2
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["test_accuracy"] is None


def test_the_settings_can_be_read_safely(mcn: Run, tmp_path: Path) -> None:
    mcn("train", "--dataset", "karate", *QUICK, "--out", tmp_path / "one")
    settings = yaml.safe_load((tmp_path / "one" / "config.yaml").read_text())
    assert list(settings) == ["mcn", "recipe", "source", "data", "config"]
    assert MCNConfig.from_dict(settings["config"]) == MCNConfig(max_epochs=3, hidden=4, heads=2)


def test_recipes(mcn: Run, tmp_path: Path) -> None:
    done = mcn(
        "train", "--dataset", "karate", "--recipe", "views", *QUICK[:4], "--out", tmp_path / "one", "--json"
    )
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert (content["recipe"], content["rows"][0]["method"]) == ("views", "views")
    assert mcn("predict", tmp_path / "one", "--out", tmp_path / "p.csv").code == 0
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 35
    paper = mcn("train", "--dataset", "karate", "--recipe", "paper", *QUICK, "--out", tmp_path / "two")
    assert "recipe: paper (" in paper.out
    assert "for another" not in paper.out
    assert "attention: paper" in (tmp_path / "two" / "config.yaml").read_text()


def test_the_recipe_by_default_is_told_with_the_others(mcn: Run, data_root: Path, tmp_path: Path) -> None:
    words = ("--max-epochs", 2, "--no-report", "--data-root", data_root)
    cora = mcn("train", "--dataset", "cora", *words, "--out", tmp_path / "one")
    assert "recipe: views (" in cora.out
    assert "); --recipe mcn or --recipe paper for another\n" in cora.out
    karate = mcn("train", "--dataset", "karate", *words, "--out", tmp_path / "two")
    assert "recipe: mcn (" in karate.out
    assert "); --recipe paper or --recipe views for another\n" in karate.out


def test_wrong_recipes(mcn: Run, tmp_path: Path) -> None:
    done = mcn("train", "--dataset", "karate", "--recipe", "view", "--out", tmp_path / "one")
    assert (done.code, done.err) == (
        2,
        "mcn: --recipe must be one of mcn, paper, views, got 'view'; did you mean 'views'?\n",
    )
    done = mcn("train", "--dataset", "karate", "--recipe", "views", "--steps", 2, "--out", tmp_path / "one")
    message = "steps is a setting of the recipes mcn and paper; the recipe views has none of that name"
    assert done.err == f"mcn: {message}\n"
    assert not (tmp_path / "one").exists()
