from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mcn.baselines._twin_extend import Extensions
from mcn.baselines._twin_matrix import believed, best_of_rows, best_of_sparse, twin_matrix, votes
from mcn.baselines._twin_similarity import similarity
from tests.baselines.copies import contacts, copies, matrix


@pytest.mark.parametrize("seed", [1, 2])
def test_planted_twins_are_found(seed: int) -> None:
    a, place = copies(seed=seed)
    alike = (place[similarity(a).argmax(1)] == place).mean()
    found = (place[twin_matrix(a).toarray().argmax(1)] == place).mean()
    assert found > 0.7
    assert found > alike + 0.25


def test_relabelled_nodes_have_the_same_twins() -> None:
    """Not bit for bit: ties (nodes that can be swapped) are broken by the numbers of the nodes."""
    a, _ = copies(seed=1)
    order = np.random.default_rng(9).permutation(400)
    first, second = twin_matrix(a).toarray(), twin_matrix(a[order][:, order]).toarray()
    again = second[np.argsort(order)][:, np.argsort(order)]
    assert (first.argmax(1) == again.argmax(1)).mean() > 0.85
    assert np.corrcoef(first.ravel(), again.ravel())[0, 1] > 0.95


def test_same_graph_same_matrix_and_its_form() -> None:
    a, _ = copies(nodes=40, number=3)
    found = twin_matrix(a)
    assert found.dtype == np.float32
    assert found.shape == (120, 120)
    assert (found.data > 0).all()
    np.testing.assert_allclose(found.toarray(), found.T.toarray(), rtol=1e-5)
    assert np.isfinite(similarity(a)[found.nonzero()]).all()
    np.testing.assert_array_equal(found.toarray(), twin_matrix(a).toarray())


def test_isolated_nodes_have_no_twins() -> None:
    pairs = contacts(40, 0)
    both = np.concatenate([pairs, pairs + 40])
    found = twin_matrix(matrix(both, 85))
    assert found[80:].nnz == found[:, 80:].nnz == 0
    assert found.nnz > 80


@pytest.mark.parametrize("pairs", [np.empty((0, 2), np.int64), np.array([[0, 1], [1, 2], [0, 2]])])
def test_no_pair_can_be_twins(pairs: np.ndarray) -> None:
    assert twin_matrix(matrix(pairs, 3)).nnz == 0


def test_two_edges_apart_are_twins() -> None:
    """0 - 1 and 2 - 3: each node matches both of the other edge equally, M_ij = 1 up to a factor.

    Rows of N are (1/2, 1/2) over the two of the other edge; N² only has entries within an edge.
    """
    found = twin_matrix(matrix(np.array([[0, 1], [2, 3]]), 4)).toarray()
    np.testing.assert_allclose(found[:2, :2], 0)
    np.testing.assert_allclose(found[:2, 2:], 0.5, rtol=1e-6)


def test_votes_by_hand() -> None:
    """Extensions of scores 0 and 2 and size 10: weights e^-1 and 1. M is that of the path 0 - 1 - 2."""
    pairs = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
    found = Extensions(np.array([0.0, 2.0]), np.array([1, 1]), *pairs, np.array([1.0, 0.5], np.float32))
    e = np.exp(-1)
    m = np.array([[0, e, 0], [e, 0, 0.5], [0, 0.5, 0]])
    n = m / np.sqrt(m.sum(0) * m.sum(0)[:, None])
    expected = n + n @ n
    base = np.zeros((3, 3), np.float32)
    np.testing.assert_allclose(votes(found, 10, base).toarray(), expected, rtol=1e-6)
    np.fill_diagonal(base, -np.inf)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(votes(found, 10, base).toarray(), expected, rtol=1e-6)


def test_votes_of_huge_scores_do_not_overflow() -> None:
    one = np.array([0], np.int32), np.array([1], np.int32), np.array([1.0], np.float32)
    found = votes(Extensions(np.array([1e6]), np.array([1]), *one), 40, np.zeros((2, 2), np.float32))
    np.testing.assert_allclose(found.toarray(), 1)  # N is the swap, N² the identity


def test_what_is_believed_next() -> None:
    base = np.array([[-np.inf, -2.0], [-2.0, -np.inf]], np.float32)
    twins = sp.csr_array(np.array([[0, 0.2], [0, 0]], np.float32))
    expected = [[-np.inf, -0.6 + np.log(0.201) - np.log(0.001)], [-0.6, -np.inf]]
    np.testing.assert_allclose(believed(base, twins), expected, rtol=1e-6)


def test_the_best_of_each_row() -> None:
    never = -np.inf
    rows = np.array([[never, 1, 3, 2], [never, never, never, 5], [never] * 4, [4, 3, 2, 1]], np.float32)
    first, second = best_of_rows(rows, 2)
    assert {*zip(first.tolist(), second.tolist(), strict=True)} == {(0, 2), (0, 3), (1, 3), (3, 0), (3, 1)}
    stored = sp.csr_array(np.where(np.isfinite(rows), rows, 0))
    first, second = best_of_sparse(stored, 2)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 2), (0, 3), (1, 3), (3, 0), (3, 1)]
    assert len(best_of_rows(rows, 9)[0]) == stored.nnz
