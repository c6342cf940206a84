"""Folders that changed since they were written: the graph, a file of a run, a packed graph, a single bit."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcn as package
from mcn.data.fields import with_checksum
from tests.cli.conftest import QUICK, Run, answered, printed, random_files, refused, write_graph

RECIPES: dict[str, list[Any]] = {
    "mcn": QUICK,
    "auto": ["--candidates", "mlp,gat,trees", "--max-epochs", 4],
    "trees": ["--max-epochs", 3],
    "views": ["--max-epochs", 2],
}
Runs = dict[str, Path]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A run of every recipe on two files, and a run on the same graph when it was packed."""
    from mcn.cli.main import main

    folder = tmp_path_factory.mktemp("runs")
    edges, nodes = random_files(folder)
    assert main(["pack", str(edges), "--nodes", str(nodes), "--out", str(folder / "graph")]) == 0
    for name, words in [*RECIPES.items(), ("packed", QUICK)]:
        given = ["--graph", folder / "graph"] if name == "packed" else ["--graph", edges, "--nodes", nodes]
        recipe = "mcn" if name == "packed" else name
        words = ["train", *given, "--recipe", recipe, *words, "--no-report", "--out", folder / name]
        assert main([str(word) for word in words]) == 0
    return {name: folder / name for name in (*RECIPES, "packed", "graph")}


def copied(runs: Runs, name: str, to: Path) -> Path:
    return Path(shutil.copytree(runs[name], to / name))


# The graph has changed.


def lines(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("edges.csv", lambda rows: rows[:31], "edges.csv has 30 edges now, 45 in training"),
        ("edges.csv", lambda rows: [*rows[:-1], "a0,b3"], "edges.csv has other edges than in training"),
        ("nodes.csv", lambda rows: [*rows, "c0,,,1,2"], "nodes.csv has 25 nodes now, 24 in training"),
        ("nodes.csv", lambda rows: [*rows[:-1], "b11,blue,test,3,9"], "nodes.csv has other columns than in"),
        (
            "nodes.csv",
            lambda rows: [row.replace("b3,blue,val", "b3,red,val") for row in rows],
            "nodes.csv has other labels than in training",
        ),
        (
            "nodes.csv",
            lambda rows: [row.replace("a11,red,test", "a11,red,val") for row in rows],
            "nodes.csv has another split than in training",
        ),
        ("nodes.csv", lambda rows: [row.replace(",val,", ",test,") for row in rows], "another split"),
        ("nodes.csv", lambda rows: [rows[0].replace("age", "years"), *rows[1:]], "age"),
    ],
)
def test_a_graph_that_changed_is_refused_and_predicted_when_it_is_named(
    mcn: Run, run_folder: Path, tmp_path: Path, file: str, change: Any, said: str
) -> None:
    lines(tmp_path / file, change)
    own = ["--graph", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv"]
    for verb in (["predict", run_folder], ["view", run_folder, "--no-open"]):
        message = refused(mcn(*verb))
        assert said in message
        if said != "age":
            assert "the graph is no longer the one the run was trained on: " in message
            assert message.endswith(f"; give {' '.join(map(str, own))} to take it as it is now")
            assert (
                mcn(*verb, *own, "--out", tmp_path / f"out.{'csv' if verb[0] == 'predict' else 'html'}").code
                == 0
            )
    assert not (run_folder / "explorer.html").exists()


def test_an_answer_in_json_says_which_graph_it_is_about(mcn: Run, run_folder: Path, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path / "new", split=True)
    lines(edges, lambda rows: rows[:31])
    graph = answered(mcn("predict", run_folder, "--graph", edges, "--nodes", nodes, "--json"))["graph"]
    assert (graph["source"], graph["nodes"], graph["edges"]) == ({"graph": str(edges)}, 24, 30)
    before = json.loads((run_folder / "summary.json").read_text())["graph"]
    assert before["edges"] == 45
    assert before["sha256"]["columns"] == graph["sha256"]["columns"]
    assert before["sha256"]["edges"] != graph["sha256"]["edges"]


def test_a_packed_graph_that_changed(mcn: Run, runs: Runs, tmp_path: Path) -> None:
    """The run finds its graph by its path; there is another one now."""
    shutil.copytree(runs["graph"], tmp_path / "kept")
    edges = runs["graph"].parent / "edges.csv"
    (tmp_path / "fewer.csv").write_text("\n".join(edges.read_text().splitlines()[:50]))
    try:
        shutil.rmtree(runs["graph"])
        nodes = runs["graph"].parent / "nodes.csv"
        printed(mcn("pack", tmp_path / "fewer.csv", "--nodes", nodes, "--out", runs["graph"]))
        assert "graph has 50 edges now, " in refused(mcn("predict", runs["packed"]))
    finally:
        shutil.rmtree(runs["graph"])
        shutil.copytree(tmp_path / "kept", runs["graph"])


# A run's summary, whose checksum fits whatever it states.


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda content: content.pop(name)


def having(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda content: content.update(changes)


def choosing(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda content: content["choosing"].update(changes)


SUMMARIES = [
    *((name, without(name)) for name in ("epochs", "remarks", "metric", "files", "scores")),
    ("val_accuracy", having(val_accuracy="0.9")),
    ("val_accuracy", having(val_accuracy=float("nan"))),
    ("seconds", having(seconds=True)),
    ("remarks", having(remarks="none")),
    ("remarks", having(remarks=[1])),
    ("scores", having(scores=[])),
    ("accuracy", having(scores={"val": {"accuracy": "x"}})),
    ("sha256", having(graph={"nodes": 1, "edges": 2, "columns": 3})),
    ("candidates", having(candidates={})),
    ("candidates does not state", having(candidates=[{"candidate": "mlp"}])),
    ("candidate_runs", having(candidate_runs=[3])),
    ("mode", choosing(mode=3)),
    ("blend", choosing(blend="x")),
    ("mlp", choosing(blend={"mlp": {}})),
    ("another run", having(weights="0" * 64)),
]


@pytest.mark.parametrize(("said", "change"), SUMMARIES)
def test_a_summary_that_was_changed_and_signed_again(
    mcn: Run, runs: Runs, tmp_path: Path, said: str, change: Any
) -> None:
    folder = copied(runs, "auto", tmp_path)
    path = folder / "summary.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(with_checksum(content)))
    data = runs["auto"].parent
    again = ["--graph", data / "edges.csv", "--nodes", data / "nodes.csv", *RECIPES["auto"], "--no-report"]
    for words in (["predict", folder], ["view", folder], ["train", *again, "--resume", "--out", folder]):
        message = refused(mcn(*words))
        assert message.startswith(f"{path}: ")
        assert said in message
    with pytest.raises(ValueError, match=r"summary\.json: "):
        package.load(folder)


@pytest.mark.parametrize("name", ["val_accuracy", "choosing", "candidates", "sha256"])
def test_a_summary_that_lacks_a_field(mcn: Run, runs: Runs, tmp_path: Path, name: str) -> None:
    """Its checksum does not fit; and what a stranger signed again is refused where the field is needed."""
    folder = copied(runs, "auto", tmp_path)
    content = json.loads((folder / "summary.json").read_text())
    content.pop(name)
    (folder / "summary.json").write_text(json.dumps(content))
    for verb in ("predict", "view"):
        assert f"{folder / 'summary.json'}: " in refused(mcn(verb, folder))
    (folder / "summary.json").write_text(json.dumps(with_checksum(content)))
    if name != "sha256":
        with pytest.raises(ValueError, match=r"summary\.json are not those of a fitted estimator"):
            package.load(folder)


@pytest.mark.parametrize("name", ["mcn", "views", "trees"])
def test_a_summary_of_another_run(mcn: Run, runs: Runs, tmp_path: Path, name: str) -> None:
    folder = copied(runs, "auto", tmp_path)
    shutil.copy(runs[name] / "summary.json", folder / "summary.json")
    for verb in ("predict", "view"):
        message = refused(mcn(verb, folder))
        assert message.startswith(f"{folder / 'summary.json'}: the summary of another run")


def test_a_log_of_another_run(mcn: Run, runs: Runs, tmp_path: Path) -> None:
    folder = copied(runs, "mcn", tmp_path)
    shutil.copy(runs["views"] / "metrics.jsonl", folder / "metrics.jsonl")
    assert f"{folder / 'metrics.jsonl'}: not the file that the run wrote" in refused(mcn("view", folder))
    printed(mcn("predict", folder))  # reads no log


# A packed graph that was changed and signed again.


@pytest.mark.parametrize("value", [2, 2**40, -2])
def test_a_label_out_of_range(mcn: Run, runs: Runs, tmp_path: Path, value: int) -> None:
    graph = copied(runs, "graph", tmp_path)
    labels = np.load(graph / "y.npy")
    labels[3] = value
    np.save(graph / "y.npy", labels)
    manifest = json.loads((graph / "manifest.json").read_text())
    manifest["arrays"]["y"]["sha256"] = hashlib.sha256(labels.tobytes()).hexdigest()
    (graph / "manifest.json").write_text(json.dumps(with_checksum(manifest)))
    for words in (
        ["predict", runs["mcn"]],
        ["view", runs["mcn"]],
        ["check"],
        ["train", "--out", tmp_path / "n"],
    ):
        message = refused(mcn(*words, "--graph", graph))
        assert message.startswith(f"{graph / 'y.npy'}: node 3 has class {value} of 2")


# A single bit, anywhere.


def answers(mcn: Run, folder: Path, page: Path, graph: Path | None = None) -> tuple[list[str], str]:
    """What a run predicts, and its page; or what is said instead, in one line that names a file."""
    given = [] if graph is None else ["--graph", graph]
    found: list[str] = []
    for words in (["predict", folder, *given], ["view", folder, *given, "--no-open", "--out", page]):
        done = mcn(*words)
        if done.code == 0:
            found.append(done.out if words[0] == "predict" else page.read_text())
        else:
            found.append("refused")
            said = refused(done)
    return found, said if "refused" in found else ""


@pytest.mark.parametrize("name", [*RECIPES, "graph"])
def test_a_single_bit_gives_the_same_answer_or_one_line(
    mcn: Run, runs: Runs, tmp_path: Path, name: str
) -> None:
    own = copied(runs, name, tmp_path)
    folder, graph = (runs["packed"], own) if name == "graph" else (own, None)
    page = tmp_path / "page.html"
    expected, _ = answers(mcn, folder, page, graph)
    assert "refused" not in expected
    draw = np.random.default_rng(list(name.encode()))
    for path in sorted(own.iterdir()):
        content = path.read_bytes()
        places = draw.integers(0, len(content), 6)
        for place in [*places.tolist(), len(content) - 1]:
            damaged = bytearray(content)
            damaged[place] ^= 1 << int(draw.integers(8))
            path.write_bytes(damaged)
            found, said = answers(mcn, folder, page, graph)
            for one, other in zip(found, expected, strict=True):
                assert one in (other, "refused"), (path.name, place)
            assert not said or str(own) in said, (path.name, place, said)
        path.write_bytes(content)
