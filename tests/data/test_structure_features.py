"""Features from the graph alone; and tensors as edges, which the engine reads without importing torch."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

import mcn
from mcn.data import SimpleGraph, check_data, degree_features, load_dataset, simple_graph, wl_features
from tests.conftest import refuses

SPARSE = torch.eye(2).long().to_sparse()
INTEGERS = "edge_index must hold integer node ids, got dtype"


def columns(edges: list[tuple[int, int]]) -> np.ndarray:
    return np.array(edges, np.int64).reshape(-1, 2).T


@pytest.mark.parametrize(
    ("edge_index", "message"),
    [
        (torch.tensor([[0.0, 1.0], [1.0, np.inf]]), f"{INTEGERS} float32 (value inf in column 1)"),
        (torch.tensor([[0.0], [0.5]]).half(), f"{INTEGERS} float16 (value 0.5 in column 0)"),
        (torch.tensor([[True], [False]]), f"{INTEGERS} bool"),
        (torch.tensor([[0], [1]], dtype=torch.complex64), f"{INTEGERS} complex64"),
        (torch.tensor(3), "edge_index must have shape [2, E], got []"),
        (SPARSE, "has the layout torch.sparse_coo; expected a dense tensor of shape"),
        (torch.tensor([[0.0], [1]], dtype=torch.bfloat16), "holds torch.bfloat16, which NumPy does not have"),
        (torch.empty(2, 3, dtype=torch.int64, device="meta"), "of torch.int64 cannot be read"),
    ],
)
def test_tensors_that_are_no_edges(edge_index: Any, message: str) -> None:
    refuses(re.escape(message), simple_graph, edge_index)


def test_tensors_as_edges_and_as_numbers() -> None:
    edges = torch.tensor([[0, 1, 2], [1, 2, 2]])
    for form in (edges, edges.int()):
        assert simple_graph(form, torch.tensor(3)).pairs.tolist() == [[0, 1], [1, 2]]
    assert simple_graph(torch.empty(2, 0)).num_nodes == 0
    for value in (torch.tensor([1, 2]), torch.tensor(2.5)):
        refuses(r"^num_nodes must be an integer, got ", simple_graph, edges, value)
    refuses("threads must be a positive integer", mcn.count_motifs, edges, threads=torch.ones(2))


@st.composite
def graphs(draw: st.DrawFn) -> SimpleGraph:
    n = draw(st.integers(1, 12))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
    return simple_graph(columns(pairs), n)


def _by_definition(graph: SimpleGraph, iterations: int) -> list[list[object]]:
    around: list[list[int]] = [[] for _ in range(graph.num_nodes)]
    for u, v in graph.edge_index.T:
        around[u].append(int(v))
    colours: list[object] = [0] * graph.num_nodes
    rounds = []
    for _ in range(iterations):
        near = [tuple(sorted(repr(colours[v]) for v in nodes)) for nodes in around]
        colours = list(zip(colours, near, strict=True))
        rounds.append(colours)
    return rounds


def last_colours(graph: SimpleGraph, iterations: int) -> Any:
    """The columns of the last iteration alone."""
    before = wl_features(graph, iterations - 1).shape[1] if iterations > 1 else 0
    return wl_features(graph, iterations)[:, before:]


@given(graphs())
def test_colours_are_equal_exactly_when_the_definition_says_so(graph: SimpleGraph) -> None:
    for iteration, theirs in enumerate(_by_definition(graph, 3), 1):
        ours = last_colours(graph, iteration).toarray().argmax(axis=1)
        expected = [[a == b for b in theirs] for a in theirs]
        np.testing.assert_array_equal(ours[:, None] == ours[None, :], expected)
        assert set(ours.tolist()) == set(range(int(ours.max()) + 1))


@given(graphs(), st.randoms(use_true_random=False))
def test_renumbering_the_nodes_only_moves_the_rows(graph: SimpleGraph, random: object) -> None:
    order = np.array(random.sample(range(graph.num_nodes), graph.num_nodes))  # type: ignore[attr-defined]
    moved = simple_graph(order[graph.edge_index], graph.num_nodes)
    np.testing.assert_array_equal(wl_features(moved).toarray()[order], wl_features(graph).toarray())


def test_a_path_of_four_by_hand() -> None:
    path = simple_graph([[0, 1, 2], [1, 2, 3]])
    end, middle = [1, 0, 1, 0], [0, 1, 0, 1]  # iteration 1: degree 1 or 2; iteration 2: the same two kinds
    assert wl_features(path, iterations=2).toarray().tolist() == [end, middle, middle, end]
    assert last_colours(path, 2).shape == (4, 2)
    refuses("iterations must be at least 1, got 0", wl_features, path, iterations=0)


def test_colours_of_dd6_as_noted(shared: Path, cache: Path) -> None:
    graph = simple_graph(load_dataset("dd6", shared).edge_index, 4152)
    assert [last_colours(graph, rounds).shape[1] for rounds in (1, 3)] == [11, 4044]


def test_degree_columns_are_powers_of_two() -> None:
    star = simple_graph([[0] * 5, [1, 2, 3, 4, 5]], 7)
    columns = degree_features(star).toarray().argmax(axis=1)
    assert columns.tolist() == [3, 1, 1, 1, 1, 1, 0]  # 4 ≤ 5 < 8; 1; isolated
    assert degree_features(star).shape == (7, 32)


def test_a_graph_of_pyg_will_do() -> None:
    data = Data(edge_index=torch.tensor([[0, 0, 0, 1], [1, 2, 1, 2]]), num_nodes=4)
    line = refuses(r"data.x = (.*)", check_data, data).split("data.x = ")[1]
    x = eval(line, {"mcn": mcn, "data": data})
    assert x.to_dense().argmax(1).tolist() == [2, 2, 2, 0]  # a triangle, its double edge counted once
    graph = simple_graph(data.edge_index, 4)
    assert (wl_features(data) != wl_features(graph)).nnz == 0
