from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import powerlaw_cluster

import mcn
from mcn.data.csr_graph import simple_graph
from mcn.motifs import enumerate as enumeration
from mcn.motifs.orient import orient
from tests.motifs.brute_force import GRAPHLET, count, small_graphs


def edge_array(edges):
    return np.array(edges, np.int64).reshape(-1, 2).T


@settings(max_examples=250, deadline=None)
@given(small_graphs(), st.booleans())
def test_equals_brute_force(graph, induced):
    n, edges = graph
    counts = mcn.count_motifs(edge_array(edges), n, induced=induced)
    per_edge, per_node, _ = count(n, edges, induced)
    assert counts.pairs.tolist() == sorted([min(e), max(e)] for e in edges)
    np.testing.assert_array_equal(counts.per_edge, per_edge)
    np.testing.assert_array_equal(counts.per_node, per_node)
    assert counts.per_edge.dtype == counts.per_node.dtype == counts.pairs.dtype == np.int64


@settings(max_examples=150, deadline=None)
@given(small_graphs(7), st.booleans())
def test_pairs_equal_brute_force(graph, induced):
    n, edges = graph
    counts = mcn.count_motifs(edge_array(edges), n, induced=induced)
    _, _, pairs = count(n, edges, induced)
    for name in GRAPHLET.values():
        matrix = counts.adjacency(name, scope="pairs")
        assert matrix.dtype == np.int64
        np.testing.assert_array_equal(matrix.toarray(), pairs[name], err_msg=name)


def test_by_hand():
    # A triangle 0-1-2 with the tail 2-3.
    counts = mcn.count_motifs([[0, 1, 2, 3], [1, 2, 0, 2]])
    assert counts.pairs.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]
    named = dict(zip(mcn.EDGE_ORBITS, counts.per_edge.T.tolist(), strict=True))
    assert named["triangle"] == [1, 1, 1, 0]
    assert named["2-star"] == [0, 1, 1, 2]
    assert named["tailed-triangle-tail"] == [0, 0, 0, 1]
    assert named["tailed-triangle-center"] == [0, 1, 1, 0]
    assert named["tailed-triangle-edge"] == [1, 0, 0, 0]
    assert all(
        sum(named[orbit]) == 0 for orbit in named if "4-" in orbit or "3-" in orbit or "chord" in orbit
    )
    node = dict(zip(mcn.NODE_ORBITS, counts.per_node.T.tolist(), strict=True))
    assert node["edge"] == [2, 2, 3, 1]
    assert node["tailed-triangle-center"] == [0, 0, 1, 0]
    assert node["tailed-triangle-edge"] == [1, 1, 0, 0]


def test_karate_totals():
    graph = nx.karate_club_graph()
    totals = {
        line.graphlet: line.instances
        for line in mcn.count_motifs(list(zip(*graph.edges, strict=True))).totals()
    }
    assert totals["edge"] == 78
    assert totals["triangle"] == sum(nx.triangles(graph).values()) // 3 == 45
    assert totals["4-clique"] == sum(len(c) == 4 for c in nx.enumerate_all_cliques(graph)) == 11


@pytest.fixture(scope="module")
def larger():
    """Big enough to be shared out: 120,000 edges with hubs and many triangles."""
    edges = powerlaw_cluster(6000, 20, 0.6, seed=3)
    widest = int(np.diff(orient(simple_graph(edges)).out_ptr).max())
    assert edges.shape[1] >= enumeration.SMALL
    assert edges.shape[1] * widest >= enumeration._LITTLE
    return edges


def test_threads_do_not_matter(larger):
    first = mcn.count_motifs(larger, threads=1)
    for threads in (2, 3, 1024, None):
        other = mcn.count_motifs(larger, threads=threads)
        np.testing.assert_array_equal(first.per_edge, other.per_edge)
    triangles = nx.triangles(nx.Graph(larger.T.tolist()))
    assert first.per_node[:, 3].tolist() == [triangles[u] for u in range(first.num_nodes)]


def test_progress_ends_at_one(larger):
    seen: list[float] = []
    mcn.count_motifs(larger, progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) > 50  # three phases in some dozens of chunks
    assert seen[-1] == pytest.approx(1)


def test_wide_counters(monkeypatch):
    """Where 32 bits might not hold a count, 64 are used, with the same result."""
    edges = np.array(nx.powerlaw_cluster_graph(60, 8, 0.8, seed=1).edges).T
    narrow = mcn.count_motifs(edges)
    monkeypatch.setattr(enumeration, "_WORD", 1000)
    wide = mcn.count_motifs(edges)
    assert narrow.enumerated.c.dtype == np.uint32
    assert wide.enumerated.c.dtype == wide.enumerated.k.dtype == np.uint64
    np.testing.assert_array_equal(narrow.per_edge, wide.per_edge)


def test_empty_graphs():
    for edges in ([[], []], np.empty((2, 0)), torch.empty(2, 0)):
        counts = mcn.count_motifs(edges, 3)
        assert counts.per_edge.shape == (0, 13)
        assert counts.per_node.tolist() == [[0] * 15] * 3
        assert counts.adjacency("triangle").shape == (3, 3)
        assert counts.adjacency("4-path", scope="pairs").nnz == 0
    assert mcn.count_motifs([[], []]).num_nodes == 0


@pytest.mark.parametrize(
    "threads", [0, -1, 1.5, True, 10**5, 1025, float("inf"), float("nan"), "2", [2], 2**70, torch.ones(2)]
)
def test_bad_threads(threads):
    with pytest.raises(ValueError, match="threads must be a positive integer up to 1024, got "):
        mcn.count_motifs([[0], [1]], threads=threads)
