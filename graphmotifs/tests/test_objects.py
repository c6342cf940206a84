"""Graphs in objects of other libraries, and counts as frames of theirs."""

import sys
from typing import Any

import numpy as np
import pytest
from conftest import refuses
from scipy import sparse

import graphmotifs

TRIANGLE_AND_TAIL = [("c", "a"), ("a", "b"), ("b", "c"), ("c", "=d")]
EDGES = [[0, 0, 1, 2, 3, 0], [1, 2, 2, 3, 4, 4]]


def test_graphs_of_networkx() -> None:
    nx = pytest.importorskip("networkx")
    counts = graphmotifs.count(nx.Graph(TRIANGLE_AND_TAIL))
    assert counts.node_ids.tolist() == ["=d", "a", "b", "c"]
    assert counts.column("triangle").tolist() == [0, 1, 1, 1]
    assert graphmotifs.count(nx.Graph([(7, 30), (30, 4), (7, 4)])).node_ids.tolist() == [4, 7, 30]
    assert graphmotifs.count(nx.MultiGraph([(0, 1), (0, 1), (1, 2)])).num_edges == 2
    refuses("node id '1' occurs twice, as text and as a number", graphmotifs.count, nx.Graph([(1, "1")]))
    triangle = graphmotifs.count(nx.Graph(TRIANGLE_AND_TAIL), approximate=0.1).totals()[2]
    assert triangle.instances == pytest.approx(1, abs=0.2)
    arcs = nx.DiGraph(TRIANGLE_AND_TAIL)
    assert graphmotifs.count(arcs, directed=True).column("cycle").tolist() == [1, 1, 0, 1]
    assert graphmotifs.count(nx.Graph(TRIANGLE_AND_TAIL), directed=True).instances()["clique"] == 1


def test_graphs_of_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    counts = graphmotifs.count(igraph.Graph.TupleList(TRIANGLE_AND_TAIL))
    assert counts.node_ids.tolist() == ["=d", "a", "b", "c"]
    assert counts.column("triangle").tolist() == [0, 1, 1, 1]
    assert graphmotifs.count(igraph.Graph([(0, 1)], n=3)).num_nodes == 3


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_matrices_of_scipy(form: str) -> None:
    expected = graphmotifs.count(EDGES, 6).per_edge
    dense = np.zeros((6, 6))
    dense[tuple(np.array(EDGES))] = 2.5
    matrix = sparse.csr_array(dense)
    matrix.data[0] = 0  # a stored zero is no edge
    dense[0, 1] = 0
    assert graphmotifs.count(matrix.asformat(form)).num_edges == 5
    counts = graphmotifs.count(sparse.csr_matrix(dense + dense.T + (dense.T > 0) * 0).asformat(form))
    assert counts.num_edges == 5
    full = sparse.coo_array((np.ones(6), tuple(np.array(EDGES))), shape=(6, 6)).asformat(form)
    np.testing.assert_array_equal(graphmotifs.count(full).per_edge, expected)


def test_matrices_that_are_no_graphs() -> None:
    refuses("expected a square adjacency matrix", graphmotifs.count, sparse.csr_array((2, 3)))
    wild = sparse.csr_array(np.eye(3))
    wild.indices[1] = 10**6
    refuses("^the matrix is not sound", graphmotifs.count, wild)
    lists = sparse.lil_array(np.eye(3))
    lists.rows[0] = [0, 1]
    refuses("^the matrix is not sound", graphmotifs.count, lists)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of(library: str) -> None:
    package = pytest.importorskip(library)
    make = package.table if library == "pyarrow" else package.DataFrame
    numbers = make({"weight": [1.0] * 4, "source": [30, 4, 4, 7], "target": [4, 7, 30, 30]})
    counts = graphmotifs.count(numbers)
    assert counts.node_ids.tolist() == [4, 7, 30]
    assert counts.column("triangle").tolist() == [1, 1, 1]
    ends = list(zip(*TRIANGLE_AND_TAIL, strict=True))
    names = make({"one": list(ends[0]), "other": list(ends[1]), "year": [1, 2, 3, 4]})
    counts = graphmotifs.count(names)
    assert counts.node_ids.tolist() == ["=d", "a", "b", "c"]
    assert counts.column("triangle").tolist() == [0, 1, 1, 1]
    assert graphmotifs.count(names, directed=True).column("cycle").tolist() == [1, 1, 0, 1]
    refuses("row 1 has no node id in column 'b'", graphmotifs.count, make({"a": [1, 2], "b": [2, None]}))
    refuses(
        "row 0 has no node id in column 'a'", graphmotifs.count, make({"a": [None, "x"], "b": ["y", "z"]})
    )
    refuses("holds fractions; expected node ids", graphmotifs.count, make({"a": [1.5, 2.0], "b": [1, 2]}))
    refuses("has 1 columns; expected two", graphmotifs.count, make({"a": [1]}))


def test_whatever_has_an_array_interface(tmp_path: Any) -> None:
    expected = graphmotifs.count(EDGES).per_edge
    np.save(tmp_path / "edges.npy", np.array(EDGES))
    mapped = np.load(tmp_path / "edges.npy", mmap_mode="r")
    np.testing.assert_array_equal(graphmotifs.count(mapped).per_edge, expected)

    class Tensor:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array(EDGES)

    np.testing.assert_array_equal(graphmotifs.count(Tensor()).per_edge, expected)
    torch = sys.modules.get("torch")
    if torch is not None:
        np.testing.assert_array_equal(graphmotifs.count(torch.tensor(EDGES)).per_edge, expected)


def test_counts_as_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    counts = graphmotifs.count(EDGES, 6)
    edges, nodes = counts.to_frame(), counts.to_frame("node")
    assert list(edges) == ["source", "target", *graphmotifs.EDGE_ORBITS]
    assert list(nodes) == ["node", *graphmotifs.NODE_ORBITS]
    np.testing.assert_array_equal(edges.to_numpy(), np.hstack([counts.pairs, counts.per_edge]))
    np.testing.assert_array_equal(nodes.to_numpy()[:, 1:], counts.per_node)
    refuses("of must be one of edge, node", counts.to_frame, "nodes")
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    refuses("to_frame needs pandas or polars: pip install pandas", counts.to_frame)
    monkeypatch.setitem(sys.modules, "pyarrow", None)


def test_tables_in_files(tmp_path: Any) -> None:
    counts = graphmotifs.count(EDGES, 6, motifs=["triangle"])
    counts.save(tmp_path / "counts.csv")
    lines = (tmp_path / "counts.csv").read_text().splitlines()
    assert lines[:2] == ["source,target,edge,2-star,triangle", "0,1,1,1,1"]
    parquet = pytest.importorskip("pyarrow.parquet")
    counts.save(tmp_path / "counts.parquet")
    table = parquet.read_table(tmp_path / "counts.parquet")
    assert table.column("triangle").to_pylist() == counts.column("triangle").tolist()
