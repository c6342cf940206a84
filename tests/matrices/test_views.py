from __future__ import annotations

import numpy as np
import pytest

from mcn.data import load_dataset
from mcn.matrices import view_rows
from mcn.motifs import MotifCounts, count_motifs


@pytest.fixture(scope="module")
def counts() -> MotifCounts:
    data = load_dataset("karate")
    return count_motifs(data.edge_index, data.num_nodes)


def one_step(matrix: np.ndarray) -> np.ndarray:
    looped = matrix + np.eye(len(matrix))
    return looped / looped.sum(1, keepdims=True)


def test_a_motif_adds_its_counts_to_the_edges(counts: MotifCounts) -> None:
    edge, triangle = (counts.adjacency(name).toarray() for name in ("edge", "triangle"))
    rows = view_rows(counts, ["edge", "triangle"], order=1, alpha=None, top=34, tolerance=0)
    np.testing.assert_allclose(rows.matrix(0).toarray(), (np.eye(34) + one_step(edge)) / 2, atol=1e-6)
    np.testing.assert_allclose(
        rows.matrix(1).toarray(), (np.eye(34) + one_step(edge + triangle)) / 2, atol=1e-6
    )


def test_scope_pairs_joins_nodes_without_an_edge(counts: MotifCounts) -> None:
    pairs = counts.adjacency("2-star", scope="pairs").toarray()
    edge = counts.adjacency("edge").toarray()
    assert ((pairs > 0) & (edge == 0)).any()
    rows = view_rows(counts, ["2-star"], order=1, alpha=None, top=34, scope="pairs", tolerance=0)
    np.testing.assert_allclose(rows.matrix(0).toarray(), (np.eye(34) + one_step(edge + pairs)) / 2, atol=1e-6)


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
        (["trangle"], "trangle"),
        ([], "motifs is empty"),
        (["edge", "edge"], "more than once"),
    ],
)
def test_wrong_names(counts: MotifCounts, names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        view_rows(counts, names, order=1, alpha=0.5, top=4)
