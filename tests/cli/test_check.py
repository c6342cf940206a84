"""`mcn check`: a graph before any training."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch

from mcn.data import load_dataset
from mcn.train.look import look
from tests.cli.conftest import Run, refused
from tests.cli.test_train import write_graph

KEYS = [
    *("graph", "nodes", "edges", "degrees", "components", "classes", "features", "split", "homophily"),
    *("alone", "memory", "remarks", "epoch_seconds"),
]


def test_text(mcn: Run) -> None:
    done = mcn("check", "--dataset", "karate")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "karate"
    assert "degrees: 3 in the middle, 17 at most, 0 nodes without edges" in lines
    assert "components: 1, the largest with 100% of the nodes" in lines
    assert "split: 4 training, 15 validation, 15 test nodes" in lines
    assert any(
        re.match(r"time: an epoch with edge and triangle takes [0-9.e-]+ s here, ", line) for line in lines
    )
    found = look(load_dataset("karate"))
    for motif, (share, adjusted) in found["homophily"].items():
        line = f"neighbours of the same class by {motif}: {share:.1%}, adjusted for chance {adjusted:.2f}"
        assert line in lines
    alone = found["alone"]
    assert (
        f"accuracy on validation nodes: the largest class {alone['guess']:.1%}, features alone "
        f"{alone['features']:.1%}, the graph alone {alone['graph']:.1%}"
    ) in lines
    assert f"features: {found['features']}" in lines
    assert [line for line in lines if line.startswith("remark: ")] == [
        f"remark: {remark}" for remark in found["remarks"]
    ]
    assert found["remarks"]  # two training nodes of each class


def test_json(mcn: Run) -> None:
    done = mcn("check", "--dataset", "karate", "--json")
    assert (done.code, done.err) == (0, "")
    content = json.loads(done.out)
    assert list(content) == KEYS
    assert (content["graph"], content["nodes"], content["edges"]) == ("karate", 34, 78)
    assert content.pop("epoch_seconds") > 0
    assert content == {"graph": "karate", **json.loads(json.dumps(look(load_dataset("karate"))))}
    assert sum(content["classes"].values()) == pytest.approx(1)
    assert content["degrees"] == {"median": 3.0, "max": 17, "isolated": 0}


def test_the_embedded_graph_without_arguments(mcn: Run) -> None:
    assert mcn("check").out.splitlines()[0] == "strong-ties"


def test_a_graph_of_ones_own(mcn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edges, nodes = write_graph(tmp_path, split=True)
    monkeypatch.chdir(tmp_path)
    done = mcn("check", "--graph", edges, "--nodes", nodes)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == str(edges)
    assert "note: 24 nodes, 45 undirected edges" in lines
    assert "classes (training and validation nodes): blue 50.0%, red 50.0%" in lines
    assert "split: 8 training, 8 validation, 8 test nodes" in lines
    content = json.loads(mcn("check", "--graph", edges, "--nodes", nodes, "--json").out)
    assert list(content) == KEYS
    assert content["classes"] == {"blue": 0.5, "red": 0.5}
    # 44 of the 45 edges join nodes of one class; those with a test node at an end are not looked at.
    assert content["homophily"]["edge"][0] > 0.9
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "nodes.csv"]


def test_test_labels_are_never_read(mcn: Run, tmp_path: Path) -> None:
    """The same words whatever the labels of test nodes say, and if they say nothing."""
    edges, nodes = write_graph(tmp_path, split=True)
    text = nodes.read_text()
    said = set()
    for old, new in (("", ""), ("red,test", "blue,test"), ("blue,test", "red,test")):
        nodes.write_text(text.replace(old, new) if old else text)
        for words in ([], ["--json"]):
            done = mcn("check", "--graph", edges, "--nodes", nodes, *words)
            assert done.code == 0, done.err
            said.add(re.sub(r'takes \S+ s here|"epoch_seconds": \S+', "", done.out))  # measured anew
    assert len(said) == 2


def test_test_labels_of_a_data_set_are_never_read() -> None:
    data = load_dataset("karate")
    other = data.clone()
    other.y = torch.where(data.test_mask, 1 - data.y, data.y)
    assert look(other) == look(data)


def test_wrong_input(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path, labels="same", split=True)
    text = nodes.read_text()
    graph = ["--graph", edges, "--nodes", nodes]
    assert "data.y holds one class only (0)" in refused(mcn("check", *graph))
    assert "the graph has no labels" in refused(mcn("check", "--graph", edges))
    two = text.replace("b1,same", "b1,other").replace("b0,same", "b0,other")
    nodes.write_text(two.replace("train", "test"))
    assert "data.train_mask is empty" in refused(mcn("check", *graph))
    nodes.write_text(two.replace("val", "test"))
    assert "data.val_mask is empty" in refused(mcn("check", *graph))
    nodes.write_text(two.replace("train,2", "train,inf", 1))
    assert "nodes.csv, line 3: 'inf' in feature column 'size'" in refused(mcn("check", *graph))
    edges.write_text("source,target\na0,zz\n")
    nodes.write_text(two)
    assert "'zz'" in refused(mcn("check", *graph))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--graph", "none.csv"], "none.csv: no such file"),
        (["--nodes", "nodes.csv"], "--nodes describes the nodes of --graph; give that too"),
        (["--dataset", "karate", "--graph", "e.csv"], "give --dataset or --graph, not both"),
        (["--dataset", "kartae"], "did you mean 'karate'?"),
        (["--jsn"], "no option '--jsn'; did you mean '--json'?"),
    ],
)
def test_wrong_use(
    mcn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(mcn("check", *words))
