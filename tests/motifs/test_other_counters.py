"""Cross-checks against counters from PyPI, where they are installed (`make bench` does that)."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from random_graphs import barabasi_albert, erdos_renyi, powerlaw_cluster, rmat

import mcn

# Column of ours for each column of orbit-count, whose order swaps two of the tailed triangle's orbits.
ORBIT_COUNT_ORDER = [1, 2, 3, 4, 5, 6, 7, 9, 8, 10, 11, 12]

RANDOM = {
    "sparse": lambda: erdos_renyi(300, 900, seed=1),
    "dense": lambda: erdos_renyi(60, 900, seed=2),
    "hubs": lambda: barabasi_albert(400, 5, seed=3),
    "triangles": lambda: powerlaw_cluster(400, 6, 0.7, seed=4),
    "skewed": lambda: rmat(8, 1200, seed=5),
}


@pytest.fixture(params=[*RANDOM, "ca-GrQc"])
def edges(request: pytest.FixtureRequest) -> np.ndarray:
    """int64 [2, M], u < v, sorted."""
    if request.param in RANDOM:
        return RANDOM[request.param]()
    folder: Path = request.getfixturevalue("data_root")
    with np.load(folder / "graphs" / f"{request.param}.npz", allow_pickle=False) as file:
        return mcn.count_motifs(file["edge"].T).pairs.T.copy()


def test_orbit_count(edges: np.ndarray) -> None:
    orbit_count = pytest.importorskip("orbit_count")
    graph = nx.Graph()
    graph.add_nodes_from(range(edges.max() + 1))
    graph.add_edges_from(edges.T.tolist())
    counts = mcn.count_motifs(edges)
    nodes = orbit_count.node_orbit_counts(graph, graphlet_size=4)
    np.testing.assert_array_equal(np.asarray(nodes), counts.per_node)
    found = orbit_count.edge_orbit_counts(graph, graphlet_size=4)
    order = [tuple(sorted(edge)) for edge in graph.edges]
    of_pair = {pair: row for row, pair in enumerate(map(tuple, counts.pairs.tolist()))}
    ours = counts.per_edge[[of_pair[pair] for pair in order]][:, ORBIT_COUNT_ORDER]
    np.testing.assert_array_equal(np.asarray(found), ours)


def test_networkit_triangles(edges: np.ndarray) -> None:
    networkit = pytest.importorskip("networkit")
    graph = networkit.GraphFromCoo((np.ones(edges.shape[1]), tuple(edges)), int(edges.max()) + 1)
    graph.indexEdges()
    scores = networkit.sparsification.TriangleEdgeScore(graph)
    scores.run()
    score = scores.scores()
    found = {tuple(sorted((u, v))): int(score[graph.edgeId(u, v)]) for u, v in graph.iterEdges()}
    counts = mcn.count_motifs(edges)
    triangles = counts.column("triangle").tolist()
    assert found == dict(zip(map(tuple, counts.pairs.tolist()), triangles, strict=True))


def test_igraph_totals(edges: np.ndarray) -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=int(edges.max()) + 1, edges=edges.T.tolist())
    totals = {line.graphlet: line.instances for line in mcn.count_motifs(edges).totals()}
    assert [int(n) for n in graph.motifs_randesu(size=3)[2:]] == [totals["2-star"], totals["triangle"]]
    # igraph's classes of connected graphs on 4 nodes, named by isomorphism.
    found = graph.motifs_randesu(size=4)
    for kind in (4, 6, 7, 8, 9, 10):
        small = nx.Graph(igraph.Graph.Isoclass(n=4, cls=kind, directed=False).get_edgelist())
        name = next(
            g.name
            for g in mcn.motifs.catalogue.CATALOGUE
            if g.size == 4 and nx.is_isomorphic(small, nx.Graph(g.edges))
        )
        assert int(found[kind]) == totals[name], name
