from __future__ import annotations

import gzip
from pathlib import Path

import networkx
import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from mcn.data import load_graph

PATH = [[0, 1], [1, 2], [2, 3]]  # a path of four nodes


def _pairs(path: Path) -> list[list[int]]:
    return [[u, v] for u, v in load_graph(path).edge_index.T.tolist() if u < v]


@pytest.fixture
def matrix() -> sparse.csr_array:
    dense = np.zeros((5, 5))
    for u, v in PATH:
        dense[u, v] = dense[v, u] = 1
    return sparse.csr_array(dense)


def test_matrix_market(tmp_path: Path, matrix: sparse.csr_array) -> None:
    scipy_io.mmwrite(tmp_path / "a.mtx", matrix)
    data = load_graph(tmp_path / "a.mtx")
    assert _pairs(tmp_path / "a.mtx") == PATH
    assert data.num_nodes == 5
    assert data.node_ids.tolist() == [1, 2, 3, 4, 5]
    (tmp_path / "b.mtx.gz").write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    assert _pairs(tmp_path / "b.mtx.gz") == PATH


def test_matrix_market_pattern_weights_and_zeros(tmp_path: Path) -> None:
    head = "%%MatrixMarket matrix coordinate {} general\n% a comment\n4 4 3\n"
    (tmp_path / "p.mtx").write_text(head.format("pattern") + "1 2\n2 3\n3 4\n")
    assert _pairs(tmp_path / "p.mtx") == PATH
    (tmp_path / "w.mtx").write_text(head.format("real") + "1 2 0.5\n2 3 0\n3 4 2\n")
    data = load_graph(tmp_path / "w.mtx")
    assert _pairs(tmp_path / "w.mtx") == [[0, 1], [2, 3]]
    assert "1 stored zeros are no edges" in data.report
    assert any("weights" in line for line in data.report)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "not a readable Matrix Market file"),
        (
            "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n",
            r"shape \[2, 3\]; expected a square",
        ),
        (
            "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 9\n",
            "not a readable Matrix Market file",
        ),
        ("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n", "not a readable Matrix Market file"),
    ],
)
def test_bad_matrix_market(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.mtx").write_text(text)
    with pytest.raises(ValueError, match=rf"a\.mtx: .*{message}"):
        load_graph(tmp_path / "a.mtx")


def test_npz(tmp_path: Path, matrix: sparse.csr_array) -> None:
    np.savez(tmp_path / "a.npz", edge=np.array(PATH, np.int32), n=np.int64(6))
    assert _pairs(tmp_path / "a.npz") == PATH
    assert load_graph(tmp_path / "a.npz").num_nodes == 6
    np.savez(tmp_path / "b.npz", edge_index=np.array(PATH).T)
    assert _pairs(tmp_path / "b.npz") == PATH
    assert load_graph(tmp_path / "b.npz").num_nodes == 4
    sparse.save_npz(tmp_path / "c.npz", matrix)
    assert _pairs(tmp_path / "c.npz") == PATH
    assert load_graph(tmp_path / "c.npz").num_nodes == 5


def test_bad_npz(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"

    def refused(message: str) -> None:
        with pytest.raises(ValueError, match=rf"a\.npz: {message}"):
            load_graph(path)

    np.savez(path, edge=np.array([[0, 1], [2, -3]]))
    refused(r"negative node id in edge 1: \[2, -3\]")
    np.savez(path, edge=np.array([[0, 1], [2, 9]]), n=5)
    refused(r"edge 1 is \[2, 9\], but n is 5")
    np.savez(path, edge=np.array([[0.0, np.nan]]))
    refused("edges of shape .* dtype float64; expected integer pairs")
    np.savez(path, edge=np.array([[0, 1, 2]]))
    refused(r"edges of shape \[1, 3\]")
    np.savez(path, edge=np.array([[0, 1]]), n=2.5)
    refused("n is .*; expected one integer")
    np.savez(path, edge=np.array([[0, 2**31]]))
    refused("2147483649 nodes; at most")
    np.savez(path, other=np.arange(3))
    refused("has 'other'; expected 'edge'")
    np.savez(path, edge=np.array([[0, 1]]))
    path.write_bytes(path.read_bytes()[:-40])
    refused("not a readable .npz file")
    path.write_bytes(b"")
    refused("not a readable .npz file")


def test_npz_with_a_pickle_is_refused(tmp_path: Path) -> None:
    marker = tmp_path / "ran"

    class Evil:
        def __reduce__(self) -> object:
            import os

            return os.system, (f"touch {marker}",)

    np.savez(tmp_path / "a.npz", edge=np.array([Evil()], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="without pickles"):
        load_graph(tmp_path / "a.npz")
    assert not marker.exists()


@pytest.mark.parametrize("suffix", ["graphml", "gexf", "gml"])
def test_networkx_formats(suffix: str, tmp_path: Path) -> None:
    graph = networkx.Graph(PATH)
    graph.add_node(9)
    networkx.set_node_attributes(graph, {node: {"team": "ab"[node % 2], "size": node / 2} for node in graph})
    path = tmp_path / f"a.{suffix}"
    getattr(networkx, f"write_{suffix}")(graph, path)
    data = load_graph(path)
    assert _pairs(path) == PATH
    assert len(data.node_ids) == 5
    with_labels = load_graph(path, label="team", features=["size"], scaling="raw")
    assert [with_labels.classes[y] for y in with_labels.y] == ["a", "b", "a", "b", "b"]
    assert with_labels.x.reshape(-1).tolist() == [0, 0.5, 1, 1.5, 4.5]
    (tmp_path / f"b.{suffix}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert _pairs(tmp_path / f"b.{suffix}.gz") == PATH


def test_directed_weighted_graphml(tmp_path: Path) -> None:
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([("b", "a", 2.0), ("a", "b", 2.0), ("b", "c", 1.0)])
    networkx.write_graphml(graph, tmp_path / "a.graphml")
    data = load_graph(tmp_path / "a.graphml")
    assert data.node_ids.tolist() == ["a", "b", "c"]
    assert _pairs(tmp_path / "a.graphml") == [[0, 1], [1, 2]]
    assert any("weights" in line for line in data.report)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
def test_entity_bombs_are_refused(suffix: str, encoding: str, tmp_path: Path) -> None:
    bomb = f'<?xml version="1.0" encoding="{encoding}"?>'
    bomb += '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    (tmp_path / f"a.{suffix}").write_bytes(bomb.encode(encoding))
    with pytest.raises(ValueError, match="refused, the XML declares a document type"):
        load_graph(tmp_path / f"a.{suffix}")


@pytest.mark.parametrize("name", ["a.graphml", "a.gexf", "a.gml"])
def test_broken_graph_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("<graph><node" if name != "a.gml" else "graph [ node [ id")
    with pytest.raises(ValueError, match=f"{name}.*not (well-formed|a readable)"):
        load_graph(tmp_path / name)


def test_unknown_format_and_missing_file(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("")
    with pytest.raises(ValueError, match=r"unknown format '\.xlsx'; expected one of \.csv"):
        load_graph(tmp_path / "a.xlsx")
    with pytest.raises(FileNotFoundError, match=r"b\.csv: no such file"):
        load_graph(tmp_path / "b.csv")


@pytest.mark.parametrize("encoding", ["klingon", "utf-7x", "idna", "base64"])
@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
def test_an_unknown_encoding_names_the_line(suffix: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n<graphml></graphml>')
    with pytest.raises(ValueError, match=rf"a\.{suffix}(, line 1)?: not (well-formed|a readable)"):
        load_graph(path)


@pytest.mark.parametrize("weight", ["[ a 1 ]", '"heavy"', "1" * 400, "2", '""'])
def test_odd_gml_weights_are_weights(weight: str, tmp_path: Path) -> None:
    (tmp_path / "a.gml").write_text(
        "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight W ] ]".replace("W", weight)
    )
    data = load_graph(tmp_path / "a.gml")
    assert "edge weights accepted, not used: the graph is unweighted" in data.report
    assert data.edge_index.tolist() == [[0, 1], [1, 0]]


def test_gml_ids_that_are_spelled_alike(tmp_path: Path) -> None:
    (tmp_path / "a.gml").write_text('graph [ node [ id 1 ] node [ id "1" ] node [ id 2 ] ]')
    with pytest.raises(ValueError, match=r"a\.gml: node id '1' occurs twice, as text and as a number"):
        load_graph(tmp_path / "a.gml")


def test_deeply_nested_gml(tmp_path: Path) -> None:
    (tmp_path / "a.gml").write_text("graph [ " + "a [ " * 100_000)
    with pytest.raises(ValueError, match=r"a\.gml: not a readable \.gml file"):
        load_graph(tmp_path / "a.gml")


def test_attributes_that_make_a_huge_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = networkx.Graph()
    for node in range(300):
        graph.add_node(node, **{f"k{node}": node})
    networkx.write_graphml(graph, tmp_path / "a.graphml")
    monkeypatch.setenv("MCN_MAX_BYTES", "600000")
    with pytest.raises(ValueError, match=r"a\.graphml: has node attributes that make a table of more than"):
        load_graph(tmp_path / "a.graphml", label="k1")
