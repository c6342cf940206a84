"""Edges from memory and from Parquet and Feather files, and edge weights."""

import datetime
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import feather, parquet
from scipy import sparse
from torch_geometric.data import Data

import mcn
from tests.conftest import refuses

COLUMNS = {"source": ["ann", "bob", "bob"], "target": ["bob", "eve", "ann"], "w": [1.5, 2.0, 0.5]}
NODES = {"id": ["eve", "bob", "ann"], "label": ["x", None, "y"], "age": [1.0, float("nan"), 3.0]}


def _weights(data: Data) -> dict[tuple[Any, Any], float]:
    ends = data.node_ids[data.edge_index.T.numpy()].tolist()
    return dict(zip(map(tuple, ends), data.edge_weight.tolist(), strict=True))


def _check(data: Data) -> None:
    assert data.node_ids.tolist() == ["eve", "bob", "ann"]
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.y.tolist() == [0, -1, 1]
    assert data.feature_names == ["age"]
    assert data.edge_weight.tolist() == [2, 2, 2, 2]
    assert data.edge_weight.dtype == torch.float32
    assert data.report[1] == "edge weights from 'w'; those of repeated edges are summed"


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames(package: str) -> None:
    frame = pytest.importorskip(package).DataFrame
    _check(mcn.load_graph(frame(COLUMNS), frame(NODES), weights="w"))
    numbers, zero = {"a": [30, 30, 10], "b": [10, 20, 30]}, COLUMNS | {"w": [1, 0, 2]}
    assert mcn.load_graph(frame(numbers)).node_ids.tolist() == [10, 20, 30]
    for edges, nodes, weights, message in (
        (COLUMNS, None, "x", "edges: no weight column 'x' after the two ids"),
        (zero, None, "w", "edges, row 2: '0' in weight column 'w'; expected a positive"),
        ({"a": ["x", "y"], "b": ["y", None]}, None, None, "edges, row 2: an empty node id in column 'b'"),
        ({"a": [-1], "b": [2]}, None, None, r"edges, row 1: negative node id in \[-1, 2\]"),
        ({"a": [1.0, 1.5], "b": [2.0, 3.0]}, None, None, r"edges, row 2: node id '1\.5'; expected a non-neg"),
        (numbers, {"id": ["u", "u"]}, None, "nodes, row 2: node id 'u' again; first in nodes, row 1"),
        (COLUMNS, {"id": ["bob"]}, None, "edges, edge 0: node id 'ann' is not in the node table nodes"),
    ):
        table = None if nodes is None else frame(nodes)
        refuses(message, mcn.load_graph, frame(edges), table, weights=weights)


def test_networkx_graphs() -> None:
    graph = networkx.Graph()
    graph.add_edge("ann", "bob", w=2)
    graph.add_edge("bob", "eve", w=3)
    networkx.set_node_attributes(graph, {"ann": "x", "bob": "y", "eve": "x"}, "team")
    data = mcn.load_graph(graph, label="team", weights="w")
    assert data.node_ids.tolist() == ["ann", "bob", "eve"]
    assert data.classes == ["x", "y"]
    assert _weights(data)["eve", "bob"] == 3
    assert mcn.load_graph(networkx.path_graph(4)).node_ids.tolist() == [0, 1, 2, 3]
    del graph["bob"]["eve"]["w"]
    refuses(r"edge \('bob', 'eve'\): 'None' in weight column 'w'", mcn.load_graph, graph, weights="w")


def test_igraph_graphs() -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (1, 2)])
    assert mcn.load_graph(graph).edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    graph.vs["name"], graph.vs["team"], graph.es["w"] = ["b", "a", "c"], ["x", "y", "x"], [1, 2]
    data = mcn.load_graph(graph, label="team", weights="w")
    assert data.node_ids.tolist() == ["a", "b", "c"]
    assert data.y.tolist() == [1, 0, 0]
    assert _weights(data) == {("a", "b"): 1, ("b", "a"): 1, ("a", "c"): 2, ("c", "a"): 2}


def test_matrices_and_what_is_no_graph() -> None:
    values = np.array([[0, 2, 0], [2, 0, 3], [0, 3, 0]])
    for form in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        data = mcn.load_graph(form(values), weights="value")
        assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
        assert data.edge_weight.tolist() == [2, 2, 3, 3]  # both directions alike: counted once
        assert data.report[1] == "edge weights from 'value'"
    assert "values of the matrix are not used" in mcn.load_graph(sparse.csr_array(values)).report[1]
    wide, negative = sparse.csr_array(np.ones((2, 3))), sparse.csr_array(np.array([[0, 1], [-2, 0]]))
    refuses(r"edges: a matrix of shape \[2, 3\]; expected a square", mcn.load_graph, wide)
    refuses(r"entry \(1, 0\): '-2.*' in weight column 'value'", mcn.load_graph, negative, weights="value")
    for thing in (3, object(), [(0, 1)]):
        refuses("expected a path, a pandas or polars frame", mcn.load_graph, thing)


def _write(path: Path, columns: dict[str, Any], packing: str = "none") -> Path:
    table = pa.table(columns)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, compression=packing)
    else:
        feather.write_feather(table, str(path), compression="uncompressed" if packing == "none" else packing)
    return path


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow"])
def test_arrow_files(suffix: str, tmp_path: Path) -> None:
    edges, nodes = tmp_path / f"e.{suffix}", tmp_path / f"n.{suffix}"
    _check(mcn.load_graph(_write(edges, COLUMNS), _write(nodes, NODES), weights="w"))
    _write(edges, {"a": [3, 3], "b": [1, 2]})
    assert mcn.load_graph(edges).node_ids.tolist() == [1, 2, 3]
    _write(edges, {"a": [3, None], "b": [1, 2]})
    refuses(rf"e\.{suffix}, row 2: an empty node id in column 'a'", mcn.load_graph, edges)
    _write(nodes, {"id": ["1", "2"], "age": ["3", "old"]})
    _write(edges, {"a": [1], "b": [2]})
    refuses(rf"n\.{suffix}, row 2: 'old' in feature column 'age'", mcn.load_graph, edges, nodes)
    edges.write_bytes(edges.read_bytes()[:-9])
    refuses(rf"e\.{suffix}: not a readable \.{suffix} file", mcn.load_graph, edges)


def test_weights_of_other_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "e.npz", edge=np.array([[0, 1]]))
    message = r"a \.npz file has no columns to take weights from"
    refuses(message, mcn.load_graph, tmp_path / "e.npz", weights="w")
    graph = networkx.Graph()
    graph.add_edge(1, 2, w=2.5)
    networkx.write_graphml(graph, tmp_path / "e.graphml")
    assert mcn.load_graph(tmp_path / "e.graphml", weights="w").edge_weight.tolist() == [2.5, 2.5]


def test_cells() -> None:
    """Values of a frame are read as the text that a CSV file would have."""
    day, hour = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 5)
    cells = [None, float("nan"), True, np.bool_(False), 3, 3.0, 0.1, " x ", day, hour]
    pandas = pytest.importorskip("pandas")
    nodes = pandas.DataFrame({"id": range(len(cells)), "label": pandas.Series(cells, dtype=object)})
    data = mcn.load_graph(networkx.path_graph(2), nodes, label="label", features=[])
    assert [data.classes[y] if y >= 0 else "" for y in data.y] == [
        "", "", "true", "false", "3", "3", "0.1", "x", "2024-01-31", "2024-01-31T05:00:00",
    ]  # fmt: skip


@pytest.mark.parametrize("packing", ["none", "lz4", "zstd"])
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_every_packing_is_read(suffix: str, packing: str, tmp_path: Path) -> None:
    named = pa.array(["x", "y", "x"]).dictionary_encode()
    table = {"a": ["p", "q", "p"], "b": named, "c": [[1, 2], [], None], "d": [{"e": 1}] * 3}
    data = mcn.load_graph(_write(tmp_path / f"t{suffix}", table, packing))
    assert data.node_ids.tolist() == ["p", "q", "x", "y"]
    assert data.edge_index.tolist() == [[0, 1, 2, 3], [2, 3, 0, 1]]


ZEROS = pa.array(np.zeros(2**20, np.int64))
LONG_TEXT = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2000, np.int32)), pa.array(["x" * 10_000]))
LISTS = pa.FixedSizeListArray.from_arrays(pa.nulls(10**8), 10**8)


@pytest.mark.parametrize(
    "column, name, packing, message",
    [
        (ZEROS, "t.parquet", "zstd", "holds rows that take"),
        (ZEROS, "t.feather", "zstd", "unpacks to"),
        (LONG_TEXT, "t.parquet", "zstd", "has values up to column 'a' that take"),
        (LONG_TEXT, "t.feather", "zstd", "has values up to column 'a' that take"),
        (LISTS, "t.feather", "none", "has values up to column 'a' that take"),
        (pa.nulls(10**6), "t.feather", "none", "holds rows that take"),
    ],
)
def test_a_small_file_that_is_huge_in_memory_is_refused(
    column: Any, name: str, packing: str, message: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("MCN_MAX_BYTES", "1000000")
    path = _write(tmp_path / name, {"a": column}, packing)
    assert path.stat().st_size < 50_000
    refuses(rf"{name}: {message} more than 1,000,000 bytes; raise the limit", mcn.load_graph, path)


def test_offsets_that_point_outside_are_refused(tmp_path: Path) -> None:
    """pyarrow reads such a file without a word, and follows the offset when the text is asked for."""
    texts = ["only", "a", "few", "words"]
    path = _write(tmp_path / "t.feather", {"a": texts})
    offsets = np.cumsum([0, *map(len, texts)]).astype("<i4").tobytes()
    content = path.read_bytes()
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, np.array([0, 4, 5, 8, 2**30], "<i4").tobytes()))
    refuses(r"t\.feather: not a readable \.feather file \(.*offset", mcn.load_graph, path)


@pytest.mark.parametrize("content", [b"", b"ARROW1", b"FEA1" + bytes(20), b"1,2\n"])
def test_other_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.feather").write_bytes(content)
    message = r"t\.feather: .* \(not a Feather file of version 2, or truncated"
    refuses(message, mcn.load_graph, tmp_path / "t.feather")
