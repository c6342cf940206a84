"""Targets in node tables: classes, numbers and several yes/no columns; their splits, notes and refusals."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mcn
from mcn.cli import _options
from mcn.cli.main import main
from mcn.data.targets import target_kind
from mcn.store import pack_graph
from tests.conftest import refuses

NAN = float("nan")


def _load(tmp_path: Path, header: str, *columns: Any, **options: Any) -> Data:
    """A path of 60 nodes; a column is a function of the node's number."""
    rows = [";".join([str(i), *(str(column(i)) for column in columns)]) for i in range(60)]
    (tmp_path / "n.csv").write_text("\n".join(["id;" + header.replace(",", ";"), *rows]) + "\n")
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(59)))
    return mcn.load_graph(tmp_path / "e.csv", tmp_path / "n.csv", **options)


NUMERIC = "label: numbers (60 different values): a numeric target; task='classes' takes them as classes"
WHOLE = (
    "label: 12 different whole numbers, taken as classes; task='regression' takes them as a numeric target"
)
ALIKE = (
    "label: 'X', 'x' differ in case or blanks alone, and are classes of their own; spell them alike in the "
)
COMMAS = "decimal commas read as points (0,5 is 0.5) in 'y'"
ONE_COLUMN: list[tuple[Any, str | None, str, list[float], list[str]]] = [
    (lambda i: i / 8, None, "regression", [0.0, 0.125], [NUMERIC]),
    (lambda i: i / 8, "classes", "classes", [0, 1], []),
    (lambda i: i, None, "regression", [0, 1], [NUMERIC]),
    (lambda i: 20 + i % 20, None, "regression", [20, 21], [NUMERIC.replace("60", "20")]),  # ages
    (lambda i: 1990 + i % 11, None, "regression", [1990, 1991], [NUMERIC.replace("60", "11")]),  # years
    (lambda i: i % 12, None, "classes", [0, 1], [WHOLE]),  # numbers of classes
    (lambda i: 10115 + 997 * (i % 12), None, "classes", [0, 1], [WHOLE]),  # codes
    (lambda i: i % 10 + 1, None, "classes", [0, 1], []),
    (lambda i: "xXyz"[i % 4], None, "classes", [1, 0], [f"{ALIKE}table if they are the same"]),
    (lambda i: i, "regression", "regression", [0, 1], []),
    (lambda i: i % 3 + 0.5, None, "classes", [0, 1], []),  # few numbers are classes
    (lambda i: f"{i},5", None, "regression", [0.5, 1.5], [COMMAS, NUMERIC]),
    (lambda i: f"{i},5" if i else "NA", "regression", "regression", [NAN, 1.5], [COMMAS]),
    (
        lambda i: i % 12 if i < 24 else "",
        None,
        "regression",
        [0, 1],
        [NUMERIC.replace("60", "12")],
    ),  # two of each
]


@pytest.mark.parametrize("cell, task, kind, first, notes", ONE_COLUMN)
def test_one_column(cell: Any, task: Any, kind: str, first: Any, notes: list[str], tmp_path: Path) -> None:
    data = _load(tmp_path, "y,f", cell, lambda i: i, task=task)
    assert (target_kind(data.y), data.feature_names) == (kind, ["f"])
    np.testing.assert_array_equal(data.y[:2], first)
    assert [line for line in data.report if line.startswith(("label:", "decimal"))] == notes
    assert kind == "classes" or (data.classes == ["y"] and data.y.dtype == torch.float32)
    assert not bool((data.train_mask | data.val_mask | data.test_mask)[data.y.isnan()].any())


@pytest.mark.parametrize("label", ["a, b", ["a", "b"]])
def test_several_columns_are_yes_and_no(label: Any, tmp_path: Path) -> None:
    cells = (lambda i: ["Yes", "no"][i % 2]), (lambda i: "?" if i < 3 else ["1.0", "FALSE"][i % 2])
    data = _load(tmp_path, "a,b,f", *cells, lambda i: i, label=label)
    assert (data.classes, data.feature_names, data.y.dtype) == (["a", "b"], ["f"], torch.float32)
    np.testing.assert_array_equal(data.y[:5], [[NAN, NAN]] * 3 + [[0, 0], [1, 1]])
    assert "nodes with some of their targets, but not all, count as unlabelled: 3" in data.report
    assert "labels: 2 yes/no targets, 3 nodes without a label" in data.report


REFUSED = [
    ("a,n", None, None, "n.csv, line 4: '2' in label column 'n'; expected true or false, yes or no, 1 or 0"),
    ("odd", None, None, "n.csv, line 7: 'n/k' in label column 'odd'; expected a finite number"),
    ("far", None, None, "n.csv, line 7: 'inf' in label column 'far'; expected a finite number"),
    ("a", "multilabel", None, "task='multilabel' needs several label columns (a,b,c), got 'a'"),
    ("a,n", "regression", None, "task='regression' needs one label column, got 'a', 'n'"),
    ("a", "regresion", None, "got 'regresion'; did you mean 'regression'?"),
    ("n", "regression", "20-per-class", "n.csv: split '20-per-class' is for classes, not regression"),
]


@pytest.mark.parametrize("label, task, split, message", REFUSED)
def test_what_is_refused(label: str, task: Any, split: Any, message: str, tmp_path: Path) -> None:
    columns = [lambda i: i % 2, *(lambda i, w=w: i / 7 if i != 5 else w for w in ("n/k", "inf")), lambda i: i]
    options: Any = {"label": label, "task": task, "split": split}
    options["drop"] = [name for name in ("odd", "far") if name != label]
    refuses(re.escape(message), _load, tmp_path, "a,odd,far,n", *columns, **options)


@pytest.mark.parametrize("label", ["y", "a,b"])
@pytest.mark.parametrize(
    "options, sizes, words",
    [
        ({"folds": 5, "split_index": 1}, [32, 8, 10], "fold 1 of 5"),
        ({"split_by": "team"}, [30, 10, 10], "by column 'team': 10 groups"),
        ({"split_by": "year"}, [30, 10, 10], "by column 'year': the largest values"),
        ({"split": "part"}, [32, 8, 10], "a fifth of the training nodes drawn"),
        ({}, [30, 10, 10], "drawn with seed 0"),
    ],
)
def test_splits(label: str, options: dict[str, Any], sizes: list[int], words: str, tmp_path: Path) -> None:
    columns = (lambda i: "" if i < 10 else i / 7, lambda i: "" if i < 10 else i % 2, lambda i: i // 9 % 2)
    others = (lambda i: f"t{i // 5}", lambda i: 2000 + i, lambda i: "test" if i % 5 == 0 else "train")
    data = _load(tmp_path, "y,a,b,team,year,part", *columns, *others, label=label, **options)
    assert [int(mask.sum()) for mask in (data.train_mask, data.val_mask, data.test_mask)] == sizes
    assert words in data.report[-1]
    assert "class" not in data.report[-1]


def test_columns_that_copy_a_target(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(size=(2, 60)).round(6)
    y, near = noise[0], noise[0] + noise[1] / 50
    columns = (lambda i: y[i], lambda i: y[i], lambda i: 3 - 2 * y[i], lambda i: near[i])
    notes = [line for line in _load(tmp_path, "y,same,line,near", *columns).report if "copies" in line]
    assert [note.split("'")[1] for note in notes] == ["same", "line"]
    assert "copies the label: the two lie on a line in all 48 training and validation nodes" in notes[1]
    columns = (lambda i: i % 2, lambda i: i // 2 % 2, lambda i: "xz"[i // 2 % 2], lambda i: i % 7)
    notes = [line for line in _load(tmp_path, "a,b,code,f", *columns, label="a,b").report if "copies" in line]
    (note,) = notes
    assert note.startswith("column 'code' copies the label 'b': each value belongs to one target in all")


def test_packed_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _load(tmp_path, "y,a,b", lambda i: i / 7, lambda i: i % 2, lambda i: i % 3 % 2)
    files = tmp_path / "e.csv", tmp_path / "n.csv"
    message = r"csv: a packed graph holds one class per node; numeric"
    for options in ({}, {"label": "a,b"}, {"unknown_ids": "add"}):
        refuses(message, pack_graph, *files, out=tmp_path / "packed", **options)
    words = ["pack", files[0], "--nodes", files[1], "--out", tmp_path / "packed", "--json", "--task"]
    assert (main([*map(str, words), "regression"]), capsys.readouterr().err.count("\n")) == (2, 1)
    assert main([*map(str, words), "classes"]) == 0


@pytest.mark.parametrize(
    "source, table, y",
    [
        ({"task": "regression"}, "id,f,y\n0,1,4\n1,2,5\n", [4.0, 5.0]),
        ({"task": "multilabel", "label": "a,b"}, "id,f,a,b\n0,1,yes,no\n1,2,,no\n", [[1, 0], [NAN, NAN]]),
        ({"task": "multilabel", "label": "a,b"}, "id,f,a\n0,1,yes\n1,2,no\n", None),
        ({}, "id,f,y\n0,1,0.25\n1,2,0.5\n", [0, 1]),
    ],
)
def test_a_new_graph_is_read_like_that_of_the_run(source: Any, table: str, y: Any, tmp_path: Path) -> None:
    treatment = _load(tmp_path, "y,f", lambda i: i % 2, lambda i: i).treatment
    (tmp_path / "new.csv").write_text("0,1\n")
    (tmp_path / "n.csv").write_text(table)
    run: Any = SimpleNamespace(source=source, treatment=treatment)
    data = _options.read_for_run(run, tmp_path / "new.csv", tmp_path / "n.csv", None)
    assert data.y is None if y is None else np.array_equal(data.y, y, equal_nan=True)


def test_graphs_of_networkx() -> None:
    graph = networkx.path_graph(60)
    for i in graph:
        graph.nodes[i].update(y=i / 7, a=i % 2 == 0, b=i % 3 == 0)
    assert mcn.load_graph(graph, task="regression").y[7].item() == mcn.load_graph(graph, label="y").y[7] == 1
    assert mcn.load_graph(graph, label="a,b").y[:3].tolist() == [[1, 1], [0, 0], [1, 0]]
