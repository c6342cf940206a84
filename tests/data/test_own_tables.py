"""Node tables as people have them: what is taken for what, what is left out, and what a refusal says."""

from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas as pd
import pytest
from torch_geometric.data import Data

import mcn
from mcn.cli import _options
from mcn.cli.main import main
from mcn.store import pack_graph, read_graph
from tests.conftest import refuses

EDGES = "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(59))


def _load(tmp_path: Path, nodes: str, edges: str = EDGES, name: str = "n.csv", **options: Any) -> Data:
    (tmp_path / "e.csv").write_text(edges)
    (tmp_path / name).write_text(nodes)
    return mcn.load_graph(tmp_path / "e.csv", tmp_path / name, **options)


def _rows(header: str, *columns: Any, mark: str = ",") -> str:
    """A table of 60 nodes; a column is a function of the node's number."""
    rows = [mark.join([str(i), *(str(column(i)) for column in columns)]) for i in range(60)]
    return "\n".join([header, *rows]) + "\n"


def test_decimal_commas_are_numbers(tmp_path: Path) -> None:
    columns = (lambda i: "xy"[i % 2], lambda i: f"{i},808", lambda i: f"1,{i:03}")
    comma = _rows("id;label;a;b", *columns, mark=";")
    point = comma.replace(",", ".").replace(";", ",")
    data, same = _load(tmp_path, comma), _load(tmp_path, point)
    assert data.feature_names == same.feature_names == ["a", "b"]
    assert data.x.equal(same.x)
    assert "decimal commas read as points (0,5 is 0.5) in 'a', 'b'" in data.report
    assert not any("decimal" in line for line in same.report)


def test_a_column_that_copies_the_label_is_named(tmp_path: Path) -> None:
    """Test nodes are not looked at: there the copy may be anything."""
    columns = [lambda i: "xyz"[i % 3], lambda i: ["train", "val", "test"][i % 5 // 2]]
    columns += [lambda i: 10 * (1 + i % 3) if i % 5 < 4 else 10, lambda i: i % 2, lambda i: i]
    table = _rows("id,label,split,code,noise,unique", *columns)
    (note,) = [line for line in _load(tmp_path, table).report if "copies the label" in line]
    assert note.startswith("column 'code' copies the label: each value belongs to one class in all 48 ")
    other = table.replace("\n0,x,train,10", "\n0,x,train,20")
    for data in (_load(tmp_path, table, drop=["code"]), _load(tmp_path, other)):
        assert not any("copies" in line for line in data.report)


def test_columns_can_be_left_out_or_named(tmp_path: Path) -> None:
    columns = (lambda i: "xy"[i % 2], lambda i: f"2020-01-{1 + i % 28:02}", lambda i: i)
    table = _rows("id,label,joined,f", *columns)
    refuses(r"'2020-01-.*' in feature column 'joined' is a date; leave it out with", _load, tmp_path, table)
    assert _load(tmp_path, table, drop=["joined"]).feature_names == ["f"]
    data = _load(tmp_path, table, features=["joined"], scaling="raw")
    assert data.x[:2, 0].tolist() == [18262, 18263]
    assert "dates in 'joined' made into days since 1970-01-01" in data.report
    assert _load(tmp_path, table, treatment=data.treatment).x.equal(data.x)
    refuses(r"n\.csv: no dropped column 'join'; did you mean 'joined'", _load, tmp_path, table, drop=["join"])
    files, wrong = (tmp_path / "e.csv", tmp_path / "n.csv"), table.replace("2020-01-01", "2020-02-31")
    message = r"n\.csv, line 2: '2020-02-31' in feature column 'joined'; there is no such"
    refuses(message, _load, tmp_path, wrong, features=["joined"])
    packed = pack_graph(*files, out=tmp_path / "p", drop=["joined"], label="label")
    assert packed.about["feature_names"] == ["f"]


def test_edges_to_ids_that_are_not_in_the_table(tmp_path: Path) -> None:
    table, edges = "id,label,f\n1,x,1\n2,y,2\n3,x,4\n", "source,target,w\n1,2,1\n2,9,2\nann,3,3\n3,1,4\n"
    message = r"e\.csv, line 3: node id '9' is not in .*nor 'ann'; add them there, .*unknown_ids='add'"
    refuses(message, _load, tmp_path, table, edges)
    files = tmp_path / "e.csv", tmp_path / "n.csv"
    skipped = "edges skipped, as an end is not in the node table: 2"
    added = "nodes added that the node table lacks, without features and label: 2"
    every = [[0, 0, 1, 1, 2, 2, 3, 4], [1, 2, 0, 3, 0, 4, 1, 2]]
    for way, ids, edge_index, note in (
        ("skip", [1, 2, 3], [[0, 0, 1, 2], [1, 2, 0, 0]], skipped),
        ("add", ["1", "2", "3", "9", "ann"], every, added),
    ):
        data = _load(tmp_path, table, edges, unknown_ids=way, weights="w")
        packed = pack_graph(*files, out=tmp_path / way, unknown_ids=way).to_data()
        for found in (data, packed):
            assert found.node_ids.tolist() == ids
            assert found.edge_index.tolist() == edge_index
            assert note in found.report
            assert found.y.tolist() == [0, 1, 0, -1, -1][: len(ids)]
        assert len(data.edge_weight) == data.edge_index.shape[1]
    message = "unknown_ids must be one of error, skip, add, got 'drop'"
    refuses(message, _load, tmp_path, table, unknown_ids="drop")


@pytest.mark.parametrize(
    "edges, table, message",
    [
        ("n1,n2\nn2,n3\n", "id\n1\n2\n3\n", "edges have 'n1', 'n2', 'n3', the table has '1', '2', '3'; id="),
        ("fan,star\na,c\n", "id\na\nb\n", "line 1: node id 'fan' .*if this line names the columns"),
    ],
)
def test_ids_that_do_not_meet(edges: str, table: str, message: str, tmp_path: Path) -> None:
    refuses(message, _load, tmp_path, table, edges)
    refuses(message, pack_graph, tmp_path / "e.csv", tmp_path / "n.csv", out=tmp_path / "packed")


def test_refusals_say_what_to_do(tmp_path: Path) -> None:
    data = _load(tmp_path, _rows("id,status,f", lambda i: "ab"[i % 2], lambda i: i))
    assert data.report[-1].endswith("label= takes one of 'id', 'status', 'f'")
    classes = _rows("id,label", lambda i: "ab"[i % 2])
    refuses(r"n\.csv: 100 folds of 60 labelled nodes; ask for fewer", _load, tmp_path, classes, folds=100)
    message = r"split '50/20/20': expected .* such as 60/20/20 or 80/20"
    refuses(message, _load, tmp_path, classes, split="50/20/20")
    for name, kind in {"n.xlsx": "Excel", "n.xls": "Excel", "n.json": "JSON"}.items():
        told = rf"{name}: {kind} is not read; save the"
        refuses(f"{told} table as CSV or Parquet", _load, tmp_path, classes, name=name)
        refuses(f"{told} edges as CSV or Parquet", mcn.load_graph, tmp_path / name)
    (tmp_path / "n.csv").write_bytes(classes.encode("utf-16"))
    files = tmp_path / "e.csv", tmp_path / "n.csv"
    refuses(r"n\.csv: UTF-16 text; save the file as UTF-8", mcn.load_graph, *files)


def test_a_split_without_validation_nodes(tmp_path: Path) -> None:
    table = _rows("id,label,split", lambda i: "ab"[i % 2], lambda i: "train" if i < 40 else "test")
    drawn = "it has no val: a fifth of the training nodes drawn for validation with seed 0"
    shares = "80/20 of each class, a fifth of the first for validation, drawn with seed 0"
    for split, sizes, note in ((None, [32, 8, 20], drawn), ("80/20", [38, 10, 12], shares)):
        data = _load(tmp_path, table, split=split)
        assert [int(mask.sum()) for mask in (data.train_mask, data.val_mask, data.test_mask)] == sizes
        assert data.report[-1].endswith(note)
        assert split or not data.val_mask[40:].any()


def test_index_columns_are_no_features(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": range(3), "label": list("xyx"), "f": [1.5, 2, 3]})
    data = _load(tmp_path, frame.to_csv(), "0,1\n1,2\n")
    assert data.feature_names == ["f"]
    assert "column '' looks like the index of a data frame: left out" in data.report
    data = _load(tmp_path, frame.set_index("id").rename_axis(None).to_csv(), "0,1\n1,2\n")
    assert (data.feature_names, data.node_ids.tolist()) == (["f"], [0, 1, 2])
    assert "column '' looks like the index of a data frame: taken for the ids" in data.report
    frame[1:].to_parquet(tmp_path / "n.parquet")
    data = mcn.load_graph(pd.DataFrame({"u": [1], "v": [2]}), tmp_path / "n.parquet")
    assert data.feature_names == ["f"]


def test_names_of_gml_are_ids(tmp_path: Path) -> None:
    graph = networkx.path_graph(["ann", "bob", "eve"])
    networkx.write_gml(graph, tmp_path / "g.gml")
    data = mcn.load_graph(tmp_path / "g.gml")
    assert data.node_ids.tolist() == ["ann", "bob", "eve"]
    assert np.array_equal(data.edge_index, [[0, 1, 1, 2], [1, 0, 2, 1]])
    text = (tmp_path / "g.gml").read_text().replace("bob", "ann")
    (tmp_path / "g.gml").write_text(text)
    assert mcn.load_graph(tmp_path / "g.gml", label="label").node_ids.tolist() == [0, 1, 2]


def test_the_command_line_has_these_options(tmp_path: Path) -> None:
    given = {"columns": "a, b", "drop": "c", "split": "60/20/20"}
    taken = {"features": ("a", "b"), "drop": ("c",), "split": "60/20/20"}
    assert _options.loader_options(given) == taken
    (tmp_path / "e.csv").write_text("n,fan,star\n0,a,b\n1,b,z\n")
    (tmp_path / "n.csv").write_text("id,label,f,g\na,x,1,2\nb,y,2,3\n")
    words = ["pack", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--out", tmp_path / "packed"]
    words += ["--json", "--source", "fan", "--target", "star", "--unknown-ids", "skip", "--drop", "g"]
    assert main(list(map(str, words))) == 0
    assert read_graph(tmp_path / "packed").feature_names == ["f"]
