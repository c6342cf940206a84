"""Graphs from files of one's own: edges with and without a node table."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import mcn
from mcn.data import check_data, feature_csr, simple_graph, wl_features
from tests.conftest import refuses


def _files(tmp_path: Path, edges: str, nodes: str | None = None) -> tuple[Path, Path | None]:
    (tmp_path / "e.csv").write_text(edges)
    if nodes is None:
        return tmp_path / "e.csv", None
    (tmp_path / "n.csv").write_text(nodes)
    return tmp_path / "e.csv", tmp_path / "n.csv"


def test_edges_alone(tmp_path: Path) -> None:
    data = mcn.load_graph(_files(tmp_path, "30,10\n10,30\n30,20\n30,20\n10,10\n")[0])
    assert data.node_ids.tolist() == [10, 20, 30]
    assert data.edge_index.tolist() == [[0, 1, 2, 2], [2, 2, 0, 1]]
    assert data.num_nodes == 3
    assert "y" not in data
    assert data.x.to_dense().argmax(dim=1).tolist() == [1, 1, 2]
    report = "\n".join(data.report)
    for part in ("3 nodes, 2 undirected edges", "1 self-loops dropped", "1 repeated", "no labels", "degree"):
        assert part in report


def test_a_table_orders_the_nodes_and_keeps_isolated_ones(tmp_path: Path) -> None:
    nodes = "id,label,split,f\nzoe,x,train,1\neve,x,val,2\nbob,y,train,3\nann,,test,4\nian,y,test,5\n"
    nodes += "kim,y,val,6\n"
    data = mcn.load_graph(*_files(tmp_path, "ann,bob\nbob,eve\n", nodes), scaling="raw")
    assert data.node_ids.tolist() == ["zoe", "eve", "bob", "ann", "ian", "kim"]
    assert data.edge_index.tolist() == [[1, 2, 2, 3], [2, 1, 3, 2]]
    assert data.y.tolist() == [0, 0, 1, -1, 1, 1]
    assert data.classes == ["x", "y"]
    assert data.train_mask.tolist() == [True, False, True, False, False, False]
    assert data.test_mask.tolist() == [False, False, False, False, True, False]  # ann has no label
    assert data.x.tolist() == [[1], [2], [3], [4], [5], [6]]
    assert data.feature_names == ["f"]
    assert any("3 nodes without edges, kept" in line for line in data.report)
    assert any("2 training, 2 validation, 1 test nodes, from the node table" in line for line in data.report)
    check_data(data)


def test_ids_of_text_and_integers_meet(tmp_path: Path) -> None:
    for edges, nodes in (("1,2\n2,x\n", "id\n1\n2\nx\n"), ("1,2\n2,3\n", "id\n1\n2\n3\n")):
        data = mcn.load_graph(*_files(tmp_path, edges, nodes))
        assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    np.savez(tmp_path / "e.npz", edge=np.array([[0, 1]]), n=2)  # a format of numbers alone
    (tmp_path / "n.csv").write_text("id\n1\nx\n0\n")
    data = mcn.load_graph(tmp_path / "e.npz", tmp_path / "n.csv")
    assert (data.num_nodes, data.edge_index.tolist()) == (3, [[0, 2], [2, 0]])


@pytest.mark.parametrize(
    "edges, nodes, message",
    [
        ("# c\n1,2\n\n2,7\n", "id\n1\n2\n", r"e\.csv, line 4: node id '7' is not in the node table .*n\.csv"),
        ("a,b\nb,c\n", "id\na\nb\n", r"e\.csv, line 2: node id 'c'"),
        ("1,2\n2,c\n", "id\n1\n2\n", r"e\.csv, line 2: node id 'c'"),
        ("01,2\n", "id\nx\n1\n2\n", r"e\.csv, line 1: node id '01'"),
    ],
)
def test_an_end_that_is_not_in_the_table(edges: str, nodes: str, message: str, tmp_path: Path) -> None:
    refuses(message, mcn.load_graph, *_files(tmp_path, edges, nodes))


def _table(tmp_path: Path, text: str, **options: Any) -> Data:
    """A graph of this node table; it has no edges but a self-loop of the node `1`."""
    return mcn.load_graph(*_files(tmp_path, "1,1\n", text), **options)


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    rows = ["30,b,1,hello,train,0.5", "40,a,y,,val,-1", "50,,z,,,1e2", "60,a,w,,TEST,0\n"]
    data = _table(tmp_path, "\n".join(["# who\nage,Label,id,note,Split,score", *rows]))
    assert data.node_ids.tolist() == ["1", "y", "z", "w"]
    assert data.classes == ["a", "b"]
    assert data.y.tolist() == [1, 0, -1, 0]
    masks = (data.train_mask, data.val_mask, data.test_mask)
    assert [mask.nonzero().flatten().tolist() for mask in masks] == [[0], [1], [3]]
    assert [column.name for column in data.treatment.columns] == ["age", "note", "score"]


def test_columns_can_be_named_and_labels_missing_or_negative(tmp_path: Path) -> None:
    data = _table(tmp_path, "k\tg\tf\n1\t10\t1\n6\t9\t2\n", id="k", label="g", features=["f"])
    assert (data.node_ids.tolist(), data.y.tolist()) == ([1, 6], [1, 0])
    assert (data.classes, data.feature_names) == (["9", "10"], ["f"])
    data = _table(tmp_path, "id,y\n1,-1\n2,1\n3,NA\n4,?\n5,nan\n")
    assert (data.classes, data.y.tolist()) == (["-1", "1"], [0, 1, -1, -1, -1])


@pytest.mark.parametrize(
    "text, options, message",
    [
        ("", {}, ": empty; expected a header line"),
        ("id,label\n", {}, ": a header but no nodes"),
        ("1,0,0.5\n2,1,0.5\n", {}, ", line 1: expected a header naming the columns, found '1,0,0.5'"),
        ("id,x,x\n1,2,3\n", {}, ", line 1: column 'x' occurs twice"),
        ("id,x\n1,2\n\n3\n", {}, ", line 4: 1 fields, expected 2 as in the header: '3'"),
        ("id,x\na,1\nb,2\na,3\n", {}, ", line 4: node id 'a' again; first in .*line 2"),
        ("id,x\n,1\n", {}, ", line 2: an empty node id in column 'id'"),
        ("id,split\n1,train\n2,trian\n", {}, ", line 3: split 'trian' in column 'split'; expected train"),
        ("id,group\n1,x\n", {"label": "grup"}, ": no label column 'grup'; did you mean 'group'\\?$"),
        ("id,group\n1,x\n", {"label": "team"}, ": no label column 'team'; there is 'id', 'group'$"),
    ],
)
def test_errors_in_the_table_name_the_place(text: str, options: Any, message: str, tmp_path: Path) -> None:
    refuses(rf"n\.csv{message}", _table, tmp_path, text, **options)


def test_a_table_of_very_many_columns(tmp_path: Path) -> None:
    """Its header was compared name by name: 20 s for this table."""
    names = [f"c{c}" for c in range(20_000)]
    text = ",".join(["id", *names]) + "\n" + ",".join(["1", *(["0.5"] * 10_000), *(["x"] * 10_000)]) + "\n"
    assert [column.name for column in _table(tmp_path, text).treatment.columns] == names
    chosen = _table(tmp_path, text, features=names[5_000:10_000][::-1])
    assert chosen.feature_names == names[5_000:10_000][::-1]
    refuses(r"n\.csv, line 1: column 'c7' occurs twice", _table, tmp_path, text.replace("c19999", "c7"))


CELLS = ["1", "-2.5", "", "x", "NA", " 3", "1e5", "1e999", "é", '"q"', "#c", "1_0", "nan", "+.5", "."]


@given(
    rows=st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=3), max_size=6),
    mark=st.sampled_from([",", "\t", ";"]),
    tidy=st.booleans(),
)
@settings(max_examples=300)
def test_the_quick_way_reads_what_the_careful_one_reads(rows: list[list[str]], mark: str, tidy: bool) -> None:
    """A comment leaves a table to the careful reader; `tidy` rows have the width of the header."""
    cells = [[str(at), *([*row, "", ""][:3] if tidy else row)] for at, row in enumerate(rows, 1)]
    text = "\n".join(mark.join(row) for row in [list("iabc"), *cells])
    found: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "\n# careful"):
            try:
                data = _table(Path(folder), text + end, dense=True, scaling="raw")
                read = data.node_ids.tolist(), data.x.tolist(), data.get("feature_names"), data.report
                found.append(read)
            except ValueError as error:
                found.append(str(error))
    assert repr(found[0]) == repr(found[1])  # NaN, too


def test_a_missing_split_is_drawn_and_stated(tmp_path: Path) -> None:
    nodes = "id,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(100))
    files = _files(tmp_path, "0,1\n", nodes)
    data = mcn.load_graph(*files, seed=4)
    assert torch.bincount(data.y[data.train_mask]).tolist() == [30, 30]
    assert int(data.val_mask.sum()) == int(data.test_mask.sum()) == 20
    note = "60 training, 20 validation, 20 test nodes, 60/20/20 of each class, drawn with seed 4"
    assert data.report[-1].endswith(note)
    assert torch.equal(mcn.load_graph(*files, seed=4).train_mask, data.train_mask)
    assert torch.equal(mcn.load_graph(*files, seed=1, split_index=3).train_mask, data.train_mask)
    assert not torch.equal(mcn.load_graph(*files, seed=5).train_mask, data.train_mask)


def test_features_from_the_graph_on_request_and_from_sparse_tables(tmp_path: Path) -> None:
    edges, nodes = _files(tmp_path, "0,1\n1,2\n2,3\n", "id,f\n0,1\n1,2\n2,3\n3,4\n")
    graph = simple_graph([[0, 1, 2], [1, 2, 3]])
    data = mcn.load_graph(edges, nodes, features="wl")
    np.testing.assert_array_equal(feature_csr(data.x).toarray(), wl_features(graph).toarray())
    assert mcn.load_graph(edges, nodes, features="degree").x.shape == (4, 32)
    assert mcn.load_graph(edges, nodes).x.shape == (4, 1)
    header = ",".join(["id", *(f"w{c}" for c in range(20))])
    rows = [",".join([str(i), *("1" if c == i else "0" for c in range(20))]) for i in range(3)]
    files = _files(tmp_path, "0,1\n", "\n".join([header, *rows]))
    data = mcn.load_graph(*files)
    assert data.x.layout == torch.sparse_csr
    assert torch.equal(mcn.load_graph(*files, dense=True).x, data.x.to_dense())


@pytest.mark.parametrize(
    "options, message",
    [
        ({"features": "motifs"}, 'features must be column names, "degree" or "wl", got \'motifs\''),
        ({"label": "y"}, "no node table"),
        ({"delimiter": "::"}, "delimiter must be one character, got '::'"),
        *(({"delimiter": odd}, "delimiter must be neither a quote nor a line end") for odd in '"\n\r'),
    ],
)
def test_wrong_use(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    edges, _ = _files(tmp_path, "0,1\n")
    refuses(message, mcn.load_graph, edges, **options)
    refuses(r"none\.csv: no such file", mcn.load_graph, edges, tmp_path / "none.csv", error=FileNotFoundError)


def test_an_edge_to_an_id_with_a_trailing_null_goes_to_that_node(tmp_path: Path) -> None:
    long = "x" * 100_000
    data = mcn.load_graph(*_files(tmp_path, "a\0,b\n", f"id\na\na\0\nb\n{long}\n"))
    assert data.node_ids.tolist() == ["a", "a\0", "b", long]
    assert data.edge_index.tolist() == [[1, 2], [2, 1]]


def test_a_class_for_every_node(tmp_path: Path) -> None:
    """Drawing a split took classes times nodes steps."""
    n = 50_000
    data = mcn.load_graph(*_files(tmp_path, "0,1\n", "id,label\n" + "".join(f"{i},l{i}\n" for i in range(n))))
    assert len(data.classes) == int(data.train_mask.sum()) == n
