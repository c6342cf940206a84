from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn.data import barabasi_albert, simple_graph
from mcn.motifs.orient import orient

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=50)


def check(graph, threads: int) -> None:
    n, m = graph.num_nodes, graph.num_edges
    g = orient(graph, threads)
    degree = np.bincount(graph.pairs.reshape(-1), minlength=n)
    ranks = np.lexsort((np.arange(n), degree))  # by degree, ties by id
    rank = np.empty(n, np.int64)
    rank[ranks] = np.arange(n)
    np.testing.assert_array_equal(g.degree, degree[ranks])

    assert g.out_ptr[0] == g.in_ptr[0] == 0
    assert g.out_ptr[-1] == g.in_ptr[-1] == len(g.out) == len(g.in_node) == m
    lows = np.repeat(np.arange(n), np.diff(g.out_ptr.astype(np.int64)))
    highs = np.repeat(np.arange(n), np.diff(g.in_ptr.astype(np.int64)))
    assert (lows < g.out).all()
    assert (g.in_node < highs).all()
    assert sorted(g.pair.tolist()) == list(range(m))
    for e in range(m):  # edge e is the pair it says it is
        ends = {int(rank[u]) for u in graph.pairs[g.pair[e]]}
        assert ends == {int(lows[e]), int(g.out[e])}
    for p in range(m):  # the in-lists name the same edges
        e = g.in_edge[p]
        assert (g.in_node[p], highs[p]) == (lows[e], g.out[e])
    for u in range(n):
        for ptr, entries in ((g.out_ptr, g.out), (g.in_ptr, g.in_node)):
            row = entries[int(ptr[u]) : int(ptr[u + 1])].tolist()
            assert row == sorted(set(row))
        assert g.out_ptr[u + 1] - g.out_ptr[u] <= math.isqrt(2 * m)


@settings(max_examples=60, deadline=None)
@given(EDGES, st.sampled_from([1, 2, 5]))
def test_small_graphs(edges: list[tuple[int, int]], threads: int) -> None:
    check(simple_graph(np.array(edges, np.int64).reshape(-1, 2).T, 12), threads)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_graph_with_hubs_and_long_lists(threads: int) -> None:
    hub = np.stack([np.zeros(300, np.int64), np.arange(1, 301)])
    check(simple_graph(np.concatenate([hub, barabasi_albert(200, 8, seed=2)], axis=1)), threads)


def test_threads_do_not_matter() -> None:
    graph = simple_graph(barabasi_albert(500, 6, seed=1))
    first = orient(graph, 1)
    for threads in (2, 3, 7):
        for mine, theirs in zip(first, orient(graph, threads), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_no_nodes() -> None:
    g = orient(simple_graph([[], []]))
    assert g.out_ptr.tolist() == g.in_ptr.tolist() == [0]
    assert len(g.out) == 0
