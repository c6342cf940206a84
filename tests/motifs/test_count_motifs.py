"""`mcn.count_motifs` where it does more than the engine: a PyG `Data`, tensors, frames of counts."""

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mcn
from tests.conftest import refuses

EDGES = [[0, 0, 1, 2, 3, 0], [1, 2, 2, 3, 4, 4]]  # a triangle and a 4-cycle that share the edge 0-2


@pytest.fixture
def counts() -> mcn.MotifCounts:
    return mcn.count_motifs(EDGES, 6)


def named_triangle() -> nx.Graph:
    return nx.Graph([("c", "a"), ("a", "b"), ("b", "c"), ("c", "=d")])


def test_objects_are_counted_in(counts: mcn.MotifCounts) -> None:
    graph = named_triangle()
    found = mcn.count_motifs(graph)
    assert found.node_ids.tolist() == ["=d", "a", "b", "c"]
    assert found.column("triangle").tolist() == [0, 1, 1, 1]
    matrix = nx.to_scipy_sparse_array(graph, nodelist=["a", "b", "c", "=d"])
    assert mcn.count_motifs(matrix).column("triangle").tolist() == [1, 1, 1, 0]
    assert mcn.count_motifs(graph, approximate=0.1).totals()[2].instances == pytest.approx(1, abs=0.2)
    both = torch.tensor(EDGES)
    data = Data(edge_index=torch.cat([both, both.flip(0)], 1), num_nodes=6)
    np.testing.assert_array_equal(mcn.count_motifs(data).per_edge, counts.per_edge)
    data.edge_attr = torch.rand(12, 2)
    with pytest.warns(UserWarning, match=r"data\.edge_attr \[12, 2\] of the edges: not used$"):
        mcn.count_motifs(data)
    with pytest.warns(UserWarning, match="6 edges are given in one direction only"):
        mcn.count_motifs(Data(edge_index=both, num_nodes=6))
    refuses(r"edge_index must have shape \[2, E\]", mcn.count_motifs, Data(num_nodes=3))


def test_frames(counts: mcn.MotifCounts, monkeypatch: pytest.MonkeyPatch) -> None:
    edges, nodes = counts.to_frame(), counts.to_frame("node")
    assert list(edges) == ["source", "target", *mcn.EDGE_ORBITS]
    assert list(nodes) == ["node", *mcn.NODE_ORBITS]
    np.testing.assert_array_equal(edges.to_numpy(), np.hstack([counts.pairs, counts.per_edge]))
    np.testing.assert_array_equal(nodes.to_numpy()[:, 1:], counts.per_node)
    named = mcn.count_motifs(named_triangle(), motifs=["triangle"]).to_frame()
    expected = {"source": "a", "target": "b", "edge": 1, "2-star": 0, "triangle": 1}
    assert named.loc[1].to_dict() == expected
    refuses("of must be one of edge, node", counts.to_frame, "nodes")
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    refuses("to_frame needs pandas or polars: pip install pandas", counts.to_frame)


def test_arcs_of_pyg_and_of_stores(tmp_path: Path) -> None:
    data = Data(edge_index=torch.tensor([[2, 0, 1], [0, 1, 2]]), num_nodes=3)
    assert mcn.count_motifs(data, directed=True).instances()["cycle"] == 1
    (tmp_path / "edges.csv").write_text("0,1\n1,2\n")
    store = mcn.store.pack_graph(tmp_path / "edges.csv", out=tmp_path / "packed")
    refuses(r"^this graph has no directions", mcn.count_motifs, store, directed=True)
    refuses(
        "^motif_significance does not go with an mcn.GraphStore: give the edges",
        mcn.motif_significance,
        store,
    )
