from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from mcn.data import load_dataset
from mcn.matrices import pagerank_rows, view_rows, walk_weights
from mcn.motifs import MotifCounts, count_motifs
from tests.conftest import refuses
from tests.matrices.dense import random_adjacency


def dense(matrix: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Σ c_n P^n written out."""
    looped = matrix + np.eye(len(matrix))
    walk = looped / looped.sum(1, keepdims=True)
    return sum(c * np.linalg.matrix_power(walk, n) for n, c in enumerate(weights))  # type: ignore[return-value]


@st.composite
def weighted_graphs(draw: st.DrawFn) -> np.ndarray:
    n = draw(st.integers(1, 9))
    values = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, 7]), min_size=n * n, max_size=n * n))
    upper = np.triu(np.array(values, float).reshape(n, n), 1)
    return upper + upper.T


@settings(max_examples=60, deadline=None)
@given(weighted_graphs(), st.integers(0, 5), st.sampled_from([None, 0.2, 0.5, 1.0]), st.integers(1, 9))
def test_rows_hold_the_largest_entries(matrix: np.ndarray, order: int, alpha: float | None, top: int) -> None:
    weights = walk_weights(order, alpha)
    rows = pagerank_rows([csr_array(matrix)], weights, top, tolerance=0)
    full = dense(matrix, weights)
    width = min(top, len(matrix))
    np.testing.assert_allclose(rows.weights[0], -np.sort(-full, axis=1)[:, :width], atol=1e-6)
    for i, (nodes, values) in enumerate(zip(rows.indices[0], rows.weights[0], strict=True)):
        kept = nodes[values > 0]
        assert len(set(kept.tolist())) == len(kept)
        np.testing.assert_allclose(values[values > 0], full[i, kept], atol=1e-6)


def test_weights_of_walks_and_a_node_without_neighbours_that_stays_where_it_is() -> None:
    np.testing.assert_allclose(walk_weights(2, 0.5), [0.5, 0.25, 0.125])
    np.testing.assert_allclose(walk_weights(3, None), [0.25] * 4)
    refuses("alpha must be above 0 and at most 1, got 0", walk_weights, 2, 0.0)
    refuses("order must be 0 or more, got -1", walk_weights, -1, 0.5)
    refuses("top must be 1 or more, got 0", pagerank_rows, [np.eye(2)], walk_weights(1, 0.5), 0)
    one_step = pagerank_rows([[[0, 3, 0], [3, 0, 0], [0, 0, 0]]], np.array([0.0, 1.0]), 3)
    np.testing.assert_allclose(one_step.matrix(0).toarray(), [[0.25, 0.75, 0], [0.75, 0.25, 0], [0, 0, 1]])


def test_tolerance_loses_little_threads_change_nothing_and_matrices_have_their_weights() -> None:
    matrix = csr_array(random_adjacency(60, 0.08, seed=0))
    weights = walk_weights(8, 0.2)
    exact = pagerank_rows([matrix], weights, 60, tolerance=0)
    rough = pagerank_rows([matrix], weights, 60, tolerance=1e-4, threads=1)
    many = pagerank_rows([matrix], weights, 60, tolerance=1e-4, threads=3)
    gap = abs(exact.matrix(0) - rough.matrix(0)).sum(1)
    assert 0 < gap.max() < 0.05
    np.testing.assert_array_equal(rough.indices, many.indices)
    np.testing.assert_array_equal(rough.weights, many.weights)
    path = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    first, second = walk_weights(3, 0.5), walk_weights(1, 0.1)
    rows = pagerank_rows([csr_array(path), csr_array(path)], [first, second], 3, tolerance=0)
    np.testing.assert_allclose(rows.matrix(0).toarray(), dense(path, first), atol=1e-6)
    np.testing.assert_allclose(rows.matrix(1).toarray(), dense(path, second), atol=1e-6)
    assert (rows.num_views, rows.num_nodes) == (2, 3)


@settings(max_examples=40, deadline=None)
@given(weighted_graphs(), st.integers(0, 5), st.sampled_from([None, 0.3]))
def test_symmetric_rows_of_the_symmetric_walk(matrix: np.ndarray, order: int, alpha: float | None) -> None:
    weights = walk_weights(order, alpha)
    rows = pagerank_rows([csr_array(matrix)], weights, len(matrix), symmetric=True, tolerance=0)
    looped = matrix + np.eye(len(matrix))
    root = 1 / np.sqrt(looped.sum(1))
    walk = root[:, None] * looped * root
    full: np.ndarray = sum(c * np.linalg.matrix_power(walk, n) for n, c in enumerate(weights))  # type: ignore[assignment]
    own = rows.matrix(0).toarray()
    np.testing.assert_allclose(own / own.sum(1, keepdims=True), full / full.sum(1, keepdims=True), atol=1e-6)


def test_selected_rows_and_their_mean() -> None:
    graph = random_adjacency(20, 0.2, seed=1)
    rows = pagerank_rows([graph, 5 * graph], walk_weights(3, 0.3), 6)
    full = [m / m.sum(1, keepdims=True) for m in (rows.matrix(t).toarray() for t in range(2))]
    views = np.random.default_rng(1).integers(0, 2, 20)
    chosen = rows.select(views).matrix(20).toarray()
    np.testing.assert_allclose(chosen, [full[t][i] for i, t in enumerate(views)], atol=1e-6)
    np.testing.assert_allclose(rows.mean.matrix(20).toarray(), (full[0] + full[1]) / 2, atol=1e-6)


@pytest.fixture(scope="module")
def counts() -> MotifCounts:
    data = load_dataset("karate")
    return count_motifs(data.edge_index, data.num_nodes)


def test_a_motif_adds_its_counts_to_the_edges_and_scope_pairs_joins_others(counts: MotifCounts) -> None:
    edge, triangle = (counts.adjacency(name).toarray() for name in ("edge", "triangle"))
    rows = view_rows(counts, ["edge", "triangle"], order=1, alpha=None, top=34, tolerance=0)
    for view, adjacency in enumerate((edge, edge + triangle)):
        np.testing.assert_allclose(rows.matrix(view).toarray(), dense(adjacency, [0.5, 0.5]), atol=1e-6)
    pairs = counts.adjacency("2-star", scope="pairs").toarray()
    assert ((pairs > 0) & (edge == 0)).any()
    rows = view_rows(counts, ["2-star"], order=1, alpha=None, top=34, scope="pairs", tolerance=0)
    np.testing.assert_allclose(rows.matrix(0).toarray(), dense(edge + pairs, [0.5, 0.5]), atol=1e-6)


def test_views_without_motifs(counts: MotifCounts) -> None:
    edge = counts.adjacency("edge").toarray()
    rows = view_rows(counts, ["alpha=1", "random=3", "random=4"], order=1, alpha=0.5, top=34, tolerance=0)
    np.testing.assert_allclose(rows.matrix(0).toarray(), np.eye(34))  # stops at once
    first, second = rows.matrix(1).toarray(), rows.matrix(2).toarray()
    # The pattern is that of the edges, the weights are others, and others again with another seed.
    np.testing.assert_array_equal(first > 0, (edge + np.eye(34)) > 0)
    assert abs(first - second).max() > 0.01
    again = view_rows(counts, ["random=3"], order=1, alpha=0.5, top=34, tolerance=0)
    np.testing.assert_array_equal(first, again.matrix(0).toarray())


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["alpha=x"], "view 'alpha=x': expected a number after '=', got 'x'"),
        (["alpha=0"], "alpha must be above 0"),
        (["order=inf"], "view 'order=inf': expected a whole number from 0 to 1000"),
        (["order=1e12"], "expected a whole number from 0 to 1000"),
        (["order=2.5"], "expected a whole number from 0 to 1000"),
        (["random=nan"], "view 'random=nan': expected a whole number"),
        (["random=-1"], "expected a whole number"),
        (["trangle"], "trangle"),
        ([], "motifs is empty"),
        (["edge", "edge"], "more than once"),
    ],
)
def test_wrong_names(counts: MotifCounts, names: list[str], message: str) -> None:
    refuses(message, view_rows, counts, names, order=1, alpha=0.5, top=4)
