import csv
import io
from pathlib import Path
from typing import Any

import yaml

from mcn.train.checkpoint import load_tensors, save_tensors
from mcn.train.folder import settings_digest
from tests.cli.conftest import QUICK, Run, answered, printed, refused, write_graph

COLUMNS = ["node", "split", "true", "predicted", "probability", "motif_1", "step_1", "motif_2", "step_2"]
COLUMNS += ["p_blue", "p_red"]
SIZES = {"nodes": 24, "edges": 45, "columns": 2}


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_its_own_graph_into_a_file_and_as_json(mcn: Run, run_folder: Path, tmp_path: Path) -> None:
    text = printed(mcn("predict", run_folder))
    assert text == (run_folder / "predictions.csv").read_text()
    rows = table(text)
    assert list(rows[0]) == COLUMNS
    assert [row["node"] for row in rows[:2]] == ["a0", "a1"]
    assert {row["true"] for row in rows} == {"red", "blue"}
    assert len(rows) == 24
    done = mcn("predict", run_folder, "--out", tmp_path / "own.csv")
    assert done == (0, f"the predictions of 24 nodes are in {tmp_path / 'own.csv'}\n", "")
    assert (tmp_path / "own.csv").read_text() == text
    told = answered(mcn("predict", run_folder, "--out", tmp_path / "own.csv", "--json"))
    graph = told.pop("graph")
    assert told == {"run": str(run_folder), "nodes": 24, "out": str(tmp_path / "own.csv")}
    assert graph.pop("source")["graph"] == str(tmp_path / "edges.csv")
    assert {name: graph[name] for name in ("nodes", "edges", "columns")} == SIZES
    content = answered(mcn("predict", run_folder, "--json"))
    assert list(content) == ["run", "nodes", "graph", "out", "predictions"]
    assert len(content["predictions"]) == content["nodes"] == 24
    first = content["predictions"][0]
    assert list(first) == COLUMNS
    assert (first["node"], first["split"], first["true"], first["step_1"]) == ("a0", "train", "red", 1)


def test_a_grown_graph_whose_table_lacks_a_class(mcn: Run, run_folder: Path, tmp_path: Path) -> None:
    """New nodes get predictions; labels are compared by name, however the new table numbers them."""
    new = tmp_path / "new"
    edges, nodes = write_graph(new, split=True)
    edges.write_text(edges.read_text() + "b3,zoe\nb4,zoe\n")
    text = nodes.read_text().replace("blue", "").replace("a5,red", "a5,violet")
    nodes.write_text(text + "zoe,,,3,49\n")
    done = mcn("predict", run_folder, "--graph", edges, "--nodes", nodes)
    assert (done.code, done.err) == (
        0,
        "mcn: note: another graph than the run was trained on: nodes.csv has 25 nodes, 24 in training; "
        "edges.csv has 47 edges, 45 in training\n",
    )
    text = done.out
    rows = {row["node"]: row for row in table(text)}
    assert len(rows) == 25
    assert rows["zoe"]["predicted"] in ("red", "blue")
    assert rows["zoe"]["true"] == rows["b0"]["true"] == ""
    assert rows["a0"]["true"] == "red"
    assert rows["a5"]["true"] == ""  # violet is none of the classes trained on


def test_weights_are_read_again(mcn: Run, tmp_path: Path) -> None:
    """The weight column is kept in the run, and new files must have it."""
    edges, nodes = write_graph(tmp_path, split=True)
    head, *lines = edges.read_text().splitlines()
    text = [f"{head},strength", *(f"{line},{1 + place % 3}" for place, line in enumerate(lines))]
    edges.write_text("\n".join(text) + "\n")
    words = ["--graph", edges, "--nodes", nodes, "--recipe", "auto", "--candidates", "gat,views"]
    words += ["--max-epochs", 2, "--weights", "strength", "--out", tmp_path / "run"]
    assert "note: edge weights from 'strength'" in printed(mcn("train", *words))
    assert "--weights strength" in (tmp_path / "run" / "report.html").read_text()
    own = (tmp_path / "run" / "predictions.csv").read_text()
    assert printed(mcn("predict", tmp_path / "run")) == own
    again = ["predict", tmp_path / "run", "--graph", edges, "--nodes", nodes]
    assert printed(mcn(*again)) == own
    edges.write_text("\n".join(text).replace("strength", "w") + "\n")
    assert "no weight column 'strength' after the two ids" in refused(mcn(*again))
    assert printed(mcn(*again, "--weights", "w")) == own
    message = refused(mcn("compare", *words[:4], "--weights", "w", "--methods", "mcn,lp"))
    assert message.startswith(
        "a graph with edge weights does not go with the baseline 'lp': compare mcn, gat"
    )


def test_columns_by_other_names_and_new_categories(mcn: Run, tmp_path: Path) -> None:
    """`--label` and `--id` are kept with the run; a category that training did not have is said."""
    edges, nodes = write_graph(tmp_path)
    head, *rows = nodes.read_text().splitlines()
    text = [f"colour,{head}".replace("label", "outcome").replace("id,", "who,")]
    text += [f"{['red', 'blue'][place % 2]},{row}" for place, row in enumerate(rows)]
    nodes.write_text("\n".join(text) + "\n")
    named = ["--graph", edges, "--nodes", nodes, "--label", "outcome", "--id", "who"]
    run = tmp_path / "run"
    printed(mcn("train", *named, "--recipe", "mcn", *QUICK, "--no-report", "--out", run))
    assert printed(mcn("predict", run)) == (run / "predictions.csv").read_text()
    nodes.write_text("\n".join([text[0], text[1].replace("red", "mauve"), *text[2:]]) + "\n")
    again = mcn("predict", run, "--graph", edges, "--nodes", nodes)
    assert again.code == 0
    assert again.err == (
        "mcn: note: column 'colour': 1 cells with a category that no training node has, all zeros "
        f"(for instance 'mauve', {nodes}, line 2)\n"
        "mcn: note: another graph than the run was trained on: nodes.csv has other columns than in training\n"
    )
    said = refused(mcn("check", *named[:4], "--id", "who", "--label", "outcomes"))
    assert "no label column 'outcomes'; did you mean 'outcome'?" in said


def test_other_features(mcn: Run, run_folder: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    edges, nodes = write_graph(new)
    nodes.write_text(nodes.read_text().replace("size,age", "size,weight"))
    message = refused(mcn("predict", run_folder, "--graph", edges, "--nodes", nodes))
    assert message == f"{nodes}: no feature column 'age', which training had; expected the same columns"
    assert refused(mcn("predict", run_folder, "--graph", edges)) == (
        f"{edges}: the network was trained on columns of a node table (size, age), but there is no node "
        "table; give one by --nodes"
    )


def test_wrong_use(mcn: Run, run_folder: Path, tmp_path: Path) -> None:
    assert "must end in .csv" in refused(mcn("predict", run_folder, "--out", tmp_path / "own.txt"))
    model = run_folder / "model.safetensors"
    content = model.read_bytes()
    model.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert "the checksum does not fit" in refused(mcn("predict", run_folder, "--out", tmp_path / "own.csv"))
    assert not (tmp_path / "own.csv").exists()
    for verb in ("predict", "view"):
        assert "config.yaml is missing" in refused(mcn(verb, tmp_path / "nowhere"))
        said = refused(mcn(verb, run_folder, "--nodes", "n.csv"))
        assert "--nodes describes the nodes of --graph" in said


def test_the_graph_is_gone_and_trust_is_asked_for_again(mcn: Run, run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").unlink()
    for verb in ("predict", "view"):
        assert "edges.csv: no such file" in refused(mcn(verb, run_folder))
    with_source(run_folder, {"dataset": None})
    assert "does not say where its graph came from; give --graph" in refused(mcn("predict", run_folder))
    # That a folder says its graph needs unpickling does not make it trusted.
    with_source(run_folder, {"dataset": "pyg:Planetoid/Cora", "trust": True})
    for verb in ("predict", "view"):
        assert "give --trust to allow that here too" in refused(mcn(verb, run_folder))


def with_source(folder: Path, source: dict[str, Any]) -> None:
    """Say that the run's graph came from elsewhere, with the checksum of that."""
    tensors, state = load_tensors(folder / "model.safetensors")
    content = yaml.safe_load((folder / "config.yaml").read_text()) | {"source": source}
    (folder / "config.yaml").write_text(yaml.safe_dump(content))
    save_tensors(folder / "model.safetensors", tensors, state | {"settings": settings_digest(content)})
