"""`mcn check`: a graph before any training."""

import json
import re
from pathlib import Path

import pytest

from mcn.data import load_dataset
from mcn.train.check import check_graph
from tests.cli.conftest import Run, answered, printed, write_graph

KEYS = [
    *("graph", "notes", "nodes", "edges", "degrees", "components", "task", "classes", "features", "split"),
    *("homophily", "alone", "alone_auc", "memory", "remarks", "epoch_seconds"),
]


def facts(lines: list[str]) -> dict[str, str]:
    """The names and values of the lines of a table."""
    return dict(re.split(r"  +", line.strip(), maxsplit=1) for line in lines if line.startswith("  "))


def test_text_and_the_embedded_graph_without_arguments(mcn: Run) -> None:
    first, *lines = printed(mcn("check", "--dataset", "karate")).splitlines()
    assert first == "karate: 34 nodes, 78 edges, 2 classes"
    seen = check_graph(load_dataset("karate"))
    shown = facts(lines)
    assert re.fullmatch(r"[0-9.e-]+ s", shown.pop("an epoch of MCN with edge and triangle"))
    assert shown == {
        "feature columns": "34",
        "training nodes": "4",
        "validation nodes": "15",
        "test nodes": "15",
        "validation accuracy by the largest class": f"{100 * seen['alone']['guess']:.1f} %",
        "validation accuracy by features alone": f"{100 * seen['alone']['features']:.1f} %"
        f", ROC-AUC {100 * seen['alone_auc']['features']:.1f} %",
        "validation accuracy by the graph alone": f"{100 * seen['alone']['graph']:.1f} %"
        f", ROC-AUC {100 * seen['alone_auc']['graph']:.1f} %",
        "neighbours of the same class by edge": f"{100 * seen['homophily']['edge'][0]:.1f} %",
        "neighbours of the same class by triangle": f"{100 * seen['homophily']['triangle'][0]:.1f} %",
    }
    said = [f"remark: {remark}" for remark in seen["remarks"]]
    assert lines[10:] == [*said, "to train: mcn train --dataset karate"]
    assert seen["remarks"]  # two training nodes of each class
    assert len(lines) < 15
    lines = mcn("check").out.splitlines()
    assert lines[0] == "strong-ties: 2,000 nodes, 9,048 edges, 5 classes"
    assert len(lines) <= 15


def test_verbose(mcn: Run) -> None:
    text = printed(mcn("check", "--dataset", "karate", "--verbose"))
    seen, shown = check_graph(load_dataset("karate")), facts(text.splitlines())
    assert (shown["median degree"], shown["largest degree"], shown["nodes without edges"]) == ("3", "17", "0")
    assert (shown["components"], shown["nodes in the largest component"]) == ("1", "100.0 %")
    for motif, (share, adjusted) in seen["homophily"].items():
        assert shown[f"neighbours of the same class by {motif}"] == f"{100 * share:.1f} %"
        assert shown[f"beyond chance by {motif} (0: as by chance, 1: all)"] == f"{adjusted:.2f}"
    assert set(seen["homophily"]) == {"edge", "triangle", "4-cycle", "4-clique"}
    for label, share in seen["classes"].items():
        assert shown[f"labelled as {label}"] == f"{100 * share:.1f} %"
    assert f"note: values: {seen['features']}" in text


def test_json(mcn: Run) -> None:
    content = answered(mcn("check", "--dataset", "karate", "--json"))
    assert list(content) == KEYS
    assert (content["graph"], content["nodes"], content["edges"]) == ("karate", 34, 78)
    assert content.pop("epoch_seconds") > 0
    assert content.pop("notes") == load_dataset("karate").report
    assert content == {"graph": "karate", **json.loads(json.dumps(check_graph(load_dataset("karate"))))}
    assert sum(content["classes"].values()) == pytest.approx(1)
    assert content["degrees"] == {"median": 3.0, "max": 17, "isolated": 0}
    assert content["components"] == {"number": 1, "largest": 1.0}
    assert content["split"] == "4 training, 15 validation, 15 test nodes"


def test_a_column_that_copies_the_label_is_said_first(mcn: Run, tmp_path: Path) -> None:
    """However much else there is to say, by `check` as by `train`."""
    edges, nodes = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    edges.write_text("id;from;to\n" + "".join(f"{i};{i};{(i + j) % 60}\n" for i in range(60) for j in (2, 4)))
    rows = (f"{i};{i % 2};{i % 2 + 3};{i % 7},5;{i % 5}\n" for i in range(60))
    nodes.write_text("id;label;code;score;ward\n" + "".join(rows))
    few = ["--minutes", "0.01", "--max-epochs", "2", "--no-report", "--out", tmp_path / "run"]
    for words in (["check"], ["train", *few]):
        lines = printed(mcn(*words, "--graph", edges, "--nodes", nodes)).splitlines()
        said = [line for line in lines if line.startswith(("note", "remark"))]
        assert said[0].startswith("note: column 'code' copies the label")
        assert len(lines) <= 15 + (words[0] == "train")  # whose times have a line of their own


def test_a_graph_of_ones_own(mcn: Run, here: Path) -> None:
    edges, nodes = write_graph(here, split=True)
    words = ["check", "--graph", edges, "--nodes", nodes]
    lines = printed(mcn(*words)).splitlines()
    assert lines[0] == f"{edges}: 24 nodes, 45 edges, 2 classes"
    assert [facts(lines)[f"{part} nodes"] for part in ("training", "validation", "test")] == ["8", "8", "8"]
    assert not any(line.startswith("note: labels") for line in lines)
    assert any(line.startswith("note: features: 2 columns of the node table") for line in lines)
    assert lines[-1] == f"to train: mcn train --graph {edges} --nodes {nodes}"
    assert len(lines) <= 15
    content = answered(mcn(*words, "--json"))
    assert list(content) == KEYS
    assert content["classes"] == {"blue": 0.5, "red": 0.5}
    # 44 of the 45 edges join nodes of one class; those with a test node at an end are not looked at.
    assert content["homophily"]["edge"][0] > 0.9
    assert sorted(path.name for path in here.iterdir()) == ["edges.csv", "nodes.csv"]


def test_all_problems_at_once(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    edges.write_text("who,whom,since\nx1,x2,2019\nx2,x3,2020\nx3,x1,2021\n")
    rows = (f"n{i},{i % 2},{'train' if i else 'tset'}\n" for i in range(9))
    nodes.write_text("key,status,part\n" + "".join(rows))
    files = ["--graph", edges, "--nodes", nodes]
    expected = {
        "--label": ("stat", r"nodes.csv: no label column 'stat'; did you mean 'status'\?"),
        "--split": ("part", r"nodes.csv, line 2: split 'tset' in column 'part'; expected train, val"),
        "--drop": ("nothing", r"nodes.csv: no dropped column 'nothing'; there is 'key', 'status', 'part'"),
        "--weights": ("size", r"edges.csv: no weight column 'size' after the two ids"),
    }
    strangers = (
        r"edges.csv, line 2: node id 'x1' is not in the node table .*nor is any other: edges have 'x1'"
    )
    words = [word for option, (value, _) in expected.items() for word in (option, value)]
    ended = mcn("check", *files, *words)
    assert (ended.code, ended.out) == (2, "")
    said = ended.err.splitlines()
    for problem in (*(problem for _, problem in expected.values()), strangers):
        assert sum(re.search(problem, line) is not None for line in said) == 1, (problem, said)
    assert len(said) == 5
    assert all(line.startswith("mcn: ") for line in said)
    # What depends on columns that are not there is not looked at: no ids without the edge's columns.
    ended = mcn("check", *files, "--source", "follower", "--target", "whom")
    assert [line.split(": ")[2][:9] for line in ended.err.splitlines()] == ["no column", "no labels"]
    # `train` ends at the first.
    assert len(mcn("train", *files, *words).err.splitlines()) == 1
    # One that there is only one of is said once, and so are two files that are not there.
    assert len(mcn("check", *files, "--label", "status").err.splitlines()) == 1
    gone = mcn("check", "--graph", tmp_path / "a.csv", "--nodes", tmp_path / "b.csv")
    assert [line[-19:] for line in gone.err.splitlines()] == ["a.csv: no such file", "b.csv: no such file"]


def test_the_largest_class_and_skew(mcn: Run, tmp_path: Path, data_root: Path) -> None:
    """The guess is the best there is on validation nodes, also where training nodes are as many of each."""
    data = load_dataset("cora", root=data_root)
    seen = check_graph(data)
    shares = data.y[data.val_mask].bincount() / int(data.val_mask.sum())
    assert seen["alone"]["guess"] == pytest.approx(float(shares.max()))
    assert any(remark.startswith("classes are skewed: ") for remark in seen["remarks"])
    assert 0.5 < seen["alone_auc"]["features"] < 1


def test_test_labels_are_never_read(mcn: Run, tmp_path: Path) -> None:
    """The same words whatever the labels of test nodes say, and if they say nothing."""
    edges, nodes = write_graph(tmp_path, split=True)
    text = nodes.read_text()
    said = set()
    for old, new in (("", ""), ("red,test", "blue,test"), ("blue,test", "red,test")):
        nodes.write_text(text.replace(old, new) if old else text)
        for words in ([], ["--json"]):
            shown = printed(mcn("check", "--graph", edges, "--nodes", nodes, *words))
            said.add(re.sub(r'an epoch of MCN.*|"epoch_seconds": \S+| +', "", shown))  # measured anew
    assert len(said) == 2
