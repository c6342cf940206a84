"""`SimpleGraph`: what is made simple and what is refused."""

import re
from typing import Any

import numpy as np
import pytest
from conftest import refuses
from scipy import sparse

import graphmotifs
from graphmotifs import SimpleGraph, simple_graph


def columns(edges: list[tuple[int, int]]) -> np.ndarray:
    return np.array(edges, np.int64).reshape(-1, 2).T


@pytest.mark.parametrize("seed", range(60))
def test_equals_python_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = list(map(tuple, rng.integers(0, 10, (int(rng.integers(0, 41)), 2)).tolist()))
    isolated = seed % 4
    n = max((max(e) for e in edges), default=-1) + 1 + isolated
    graph = simple_graph(columns(edges), n)
    proper = [(u, v) for u, v in edges if u != v]
    directed = set(proper)
    undirected = {(min(e), max(e)) for e in proper}
    assert (graph.num_nodes, graph.num_edges) == (n, len(undirected))
    assert graph.indptr.dtype == graph.pairs.dtype == graph.edge_index.dtype == np.int64
    assert graph.indices.dtype == np.uint32
    assert graph.pairs.tolist() == [list(e) for e in sorted(undirected)]
    assert graph.indices.tolist() == [v for _, v in sorted(undirected)]
    assert np.diff(graph.indptr).tolist() == [sum(u == w for u, _ in undirected) for w in range(n)]
    assert graph.edge_index.T.tolist() == [list(e) for e in sorted(directed | {(v, u) for u, v in directed})]
    assert graph.self_loops == len(edges) - len(proper)
    assert graph.duplicates == len(proper) - len(directed)
    assert graph.one_way == sum((v, u) not in directed for u, v in directed)
    assert graph.degrees.tolist() == [sum(w in e for e in undirected) for w in range(n)]


def test_forms_of_input_and_no_edges() -> None:
    edges = np.array([[0, 1, 2], [1, 2, 2]])
    wide = np.zeros((4, 6), np.int64)
    wide[::2, ::2] = edges
    locked = edges.copy()
    locked.flags.writeable = False
    layouts = [wide[::2, ::2], edges.T.copy().T, locked, edges[:, ::-1], edges[::-1]]
    kinds = [edges.astype(kind) for kind in (np.int8, np.uint64, np.int32, ">i4")]
    for form in (edges.tolist(), tuple(map(tuple, edges.tolist())), *layouts, *kinds):
        graph = simple_graph(form)
        assert graph.pairs.tolist() == [[0, 1], [1, 2]]
        assert (graph.num_nodes, graph.self_loops) == (3, 1)
    for empty in (np.empty((2, 0)), [[], []]):
        assert simple_graph(empty).num_nodes == 0
        graph = simple_graph(empty, 4)
        assert (graph.num_nodes, graph.edge_index.shape, graph.pairs.shape) == (4, (2, 0), (0, 2))


def test_a_graph_is_carried_on() -> None:
    graph = simple_graph([[0, 1], [1, 2]])
    assert simple_graph(graph) is simple_graph(graph, 3) is graph
    assert graphmotifs.count(graph).num_edges == 2
    refuses("num_nodes is 4, but the graph has 3 nodes", simple_graph, graph, 4)
    messy = simple_graph([[0, 1, 1, 1, 2], [1, 0, 2, 2, 2]])
    assert (messy.self_loops, messy.duplicates, messy.one_way) == (1, 1, 1)


INTEGERS = "edge_index must hold integer node ids, got dtype"
TOO_MANY = "2,147,483,649 nodes: at most 2**31 = 2,147,483,648 are supported; compact the ids first"


@pytest.mark.parametrize(
    ("edge_index", "num_nodes", "message"),
    [
        ([[0, 4, 1], [1, -2, 2]], None, "edge_index holds a negative node id: -2 in column 1 (4, -2)"),
        ([[0, 1], [1, 7]], 5, "edge_index holds a node id outside 0..4 (num_nodes=5): 7 in column 1 (1, 7)"),
        (np.array([[0.0, 1.5], [1.0, 2.0]]), None, f"{INTEGERS} float64 (value 1.5 in column 1)"),
        (np.array([[0.0, 1.0], [1.0, np.nan]]), None, f"{INTEGERS} float64 (value nan in column 1)"),
        (np.array([[0.0, 1.0], [1.0, 2.0]]), None,
            f"{INTEGERS} float64; convert it with .astype(int) if the values are meant as ids"),
        ([["a"], ["b"]], None, f"{INTEGERS} <U1"),
        (np.ones((2, 2), bool), None, f"{INTEGERS} bool"),
        (np.array([[1j], [0]]), None, f"{INTEGERS} complex128"),
        (np.array([[None], [1]]), None, f"{INTEGERS} object"),
        ([[2**70], [0]], None, f"{INTEGERS} object"),
        ([[0], [1]], 2**31 + 1, TOO_MANY),
        (np.array([[0], [2**31]], np.int64), None, TOO_MANY),
        (np.array([[0], [2**62]], np.int64), None, TOO_MANY.replace("2,147,483,649", f"{2**62 + 1:,}", 1)),
        ([[0], [1]], 2**90, TOO_MANY.replace("2,147,483,649", f"{2**90:,}", 1)),
        (np.array([[0], [2**63]], np.uint64), None,
            "edge_index holds node id 9223372036854775808; at most 2**31 nodes are supported"),
        (np.array([[0], [2**31]], np.uint32), None,
            "edge_index holds node id 2147483648; at most 2**31 nodes are supported"),
        ([0, 1, 2], None, "edge_index must have shape [2, E], got [3]"),
        (np.zeros((3, 4), int), None, "edge_index must have shape [2, E], got [3, 4]"),
        (np.zeros((2, 2, 2), int), None, "edge_index must have shape [2, E], got [2, 2, 2]"),
        (np.zeros((5, 2), int), None, "edge_index must have shape [2, E], got [5, 2]; transpose it"),
        (None, None, "edge_index must have shape [2, E], got []"),
        ({1: 2}, None, "edge_index must have shape [2, E], got []"),
        ([[], []], -1, "num_nodes must not be negative, got -1"),
    ],
)  # fmt: skip
def test_bad_input(edge_index: Any, num_nodes: Any, message: str) -> None:
    refuses(f"^{re.escape(message)}$", simple_graph, edge_index, num_nodes)


@pytest.mark.parametrize(
    "edge_index, message",
    [
        (sparse.csr_array(np.eye(2)), "edge_index is a sparse matrix"),
        (sparse.coo_matrix(np.eye(2)), "edge_index is a sparse matrix"),
        ([[0, 1], [2]], "must have shape [2, E], got no array"),
    ],
)
def test_edges_that_are_none(edge_index: Any, message: str) -> None:
    refuses(re.escape(message), simple_graph, edge_index)


NO_NUMBERS: list[Any] = [
    *(float("inf"), float("-inf"), float("nan"), np.float64("inf"), 2.5, 3 + 0j, True, np.bool_(True), "3"),
    *([3], np.array([3, 4]), object()),
]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_num_nodes_that_are_no_number(value: Any) -> None:
    refuses(r"^num_nodes must be an integer, got ", simple_graph, [[0], [1]], value)


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), np.array(3)])
def test_num_nodes_that_are_a_number(value: Any) -> None:
    assert simple_graph([[0], [1]], value).num_nodes == 3


def test_more_nodes_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmotifs.graph.total_bytes", lambda: 10**6)
    assert simple_graph([[0], [40_000]]).num_nodes == 40_001
    refuses(r"^50,001 nodes take more memory than this machine has; compact", simple_graph, [[0], [50_000]])


@pytest.mark.parametrize(
    "indptr, indices, message",
    [
        ([0, 1, 600], [1], "the graph: row pointers from 0 to 600; expected 0 to 1"),
        ([0, 1, 1], [7], r"the graph: entry 0 \(in row 0\) is in column 7; expected columns in 0..1"),
        ([0, 1], [1], "the graph: 2 row pointers for a matrix of shape"),
    ],
)
def test_a_graph_made_by_hand_is_checked(indptr: Any, indices: Any, message: str) -> None:
    refuses(message, SimpleGraph, 2, np.array(indptr), np.array(indices, np.uint32))
