from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

import mcn
from mcn.data import SimpleGraph, check_data, degree_features, load_dataset, simple_graph, wl_features
from mcn.data.csr_graph import wl_colours


@st.composite
def graphs(draw: st.DrawFn) -> SimpleGraph:
    n = draw(st.integers(1, 12))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
    return simple_graph(np.array(pairs, np.int64).reshape(-1, 2).T, n)


def _by_definition(graph: SimpleGraph, iterations: int) -> list[list[object]]:
    around: list[list[int]] = [[] for _ in range(graph.num_nodes)]
    for u, v in graph.edge_index.T:
        around[u].append(int(v))
    colours: list[object] = [0] * graph.num_nodes
    rounds = []
    for _ in range(iterations):
        colours = [
            (colours[u], tuple(sorted(repr(colours[v]) for v in around[u]))) for u in range(graph.num_nodes)
        ]
        rounds.append(list(colours))
    return rounds


@given(graphs())
def test_colours_are_equal_exactly_when_the_definition_says_so(graph: SimpleGraph) -> None:
    for ours, theirs in zip(wl_colours(graph, 3), _by_definition(graph, 3), strict=True):
        same = ours[:, None] == ours[None, :]
        expected = [[a == b for b in theirs] for a in theirs]
        np.testing.assert_array_equal(same, expected)
        assert set(ours.tolist()) == set(range(int(ours.max()) + 1))


@given(graphs(), st.randoms(use_true_random=False))
def test_renumbering_the_nodes_only_moves_the_rows(graph: SimpleGraph, random: object) -> None:
    order = np.array(random.sample(range(graph.num_nodes), graph.num_nodes))  # type: ignore[attr-defined]
    moved = simple_graph(order[graph.edge_index], graph.num_nodes)
    for keep in ("all", "last"):
        here = wl_features(graph, keep=keep).toarray()
        there = wl_features(moved, keep=keep).toarray()
        np.testing.assert_array_equal(there[order], here)


def test_a_path_of_four_by_hand() -> None:
    path = simple_graph([[0, 1, 2], [1, 2, 3]])
    np.testing.assert_array_equal(
        wl_features(path, iterations=2).toarray(),
        # iteration 1: ends (degree 1), middle (degree 2); iteration 2: the same two kinds
        [[1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0]],
    )
    assert wl_features(path, iterations=2, keep="last").shape == (4, 2)


def test_colours_of_dd6_as_noted(shared: Path, cache: Path) -> None:
    graph = simple_graph(load_dataset("dd6", shared).edge_index, 4152)
    assert [int(colours.max()) + 1 for colours in wl_colours(graph, 3)][0::2] == [11, 4044]


def test_degree_columns_are_powers_of_two() -> None:
    star = simple_graph([[0] * 5, [1, 2, 3, 4, 5]], 7)
    columns = degree_features(star).toarray().argmax(axis=1)
    assert columns.tolist() == [3, 1, 1, 1, 1, 1, 0]  # 4 ≤ 5 < 8; 1; isolated
    assert degree_features(star).shape == (7, 32)


def test_a_graph_of_pyg_will_do() -> None:
    data = Data(edge_index=torch.tensor([[0, 0, 0, 1], [1, 2, 1, 2]]), num_nodes=4)
    with pytest.raises(ValueError, match=r"data.x = (.*)") as refused:
        check_data(data)
    line = str(refused.value).split("data.x = ")[1]
    x = eval(line, {"mcn": mcn, "data": data})
    assert x.to_dense().argmax(1).tolist() == [2, 2, 2, 0]  # a triangle, its double edge counted once
    graph = simple_graph(data.edge_index, 4)
    assert (wl_features(data) != wl_features(graph)).nnz == 0


def test_wrong_settings_are_refused() -> None:
    graph = simple_graph([[0], [1]])
    with pytest.raises(ValueError, match="iterations must be at least 1, got 0"):
        wl_features(graph, iterations=0)
    with pytest.raises(ValueError, match=r"keep must be .* got 'first'"):
        wl_features(graph, keep="first")
