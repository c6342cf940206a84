"""Ψ on matrices: by hand, against the dense formula, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mcn.matrices import PSI_NAMES, apply_psi
from tests.matrices.dense import dense_psi

# Node 0 shares 2 instances with 1 and 1 with 2; node 3 is in none.
A = np.array([[0, 2, 1, 0], [2, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])


ROOT = 1 / np.sqrt(np.array([5, 4, 2]))  # of D = 3 + 2, 2 + 2, 1 + 1


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("unweighted", [[1, 1, 1], [1, 1, 0], [1, 0, 1]]),
        ("row-max", [[2, 2, 1], [2, 2, 0], [1, 0, 1]]),
        ("transition", [[0.4, 0.4, 0.2], [0.5, 0.5, 0], [0.5, 0, 0.5]]),
        ("laplacian", [[3, 2, 1], [2, 2, 0], [1, 0, 1]]),
        ("symmetric", np.array([[2, 2, 1], [2, 2, 0], [1, 0, 1]]) * np.outer(ROOT, ROOT)),
    ],
)
def test_by_hand(name, rows):
    expected = np.eye(4)  # node 3 becomes a self-loop
    expected[:3, :3] = rows
    np.testing.assert_allclose(apply_psi(A, name).toarray(), expected, rtol=1e-15)


def test_a_diagonal_is_taken_literally():
    P = np.array([[4, 1], [1, 0]])
    assert apply_psi(P, "row-max").toarray().tolist() == [[8, 1], [1, 1]]
    assert apply_psi(P, "laplacian").toarray().tolist() == [[9, 1], [1, 1]]
    assert apply_psi(P, "unweighted").toarray().tolist() == [[1, 1], [1, 1]]


square = hnp.array_shapes(min_dims=1, max_dims=1, max_side=8).map(lambda s: (s[0], s[0]))
weights = st.one_of(st.just(0.0), st.floats(1e-3, 1e6))


@pytest.mark.parametrize("name", PSI_NAMES)
@settings(max_examples=40, deadline=None)
@given(P=hnp.arrays(np.float64, square, elements=weights))
def test_equals_the_dense_formula_on_any_matrix(name, P):
    result = apply_psi(sp.csr_array(P), name)
    assert result.dtype == np.float64
    assert result.has_canonical_format
    np.testing.assert_allclose(result.toarray(), dense_psi(P, name), rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(P=hnp.arrays(np.float64, square, elements=weights))
def test_rows_of_transition_sum_to_one_and_symmetric_is_symmetric(P):
    np.testing.assert_allclose(apply_psi(P, "transition").sum(axis=1), 1, rtol=1e-12)
    balanced = apply_psi(P + P.T, "symmetric").toarray()
    assert np.array_equal(balanced, balanced.T)


def test_input_forms_and_no_change_to_the_input():
    stored_zero = sp.csr_array((np.array([2, 0, 2]), ([0, 0, 1], [1, 2, 0])), shape=(3, 3))
    before = stored_zero.copy()
    result = apply_psi(stored_zero, "unweighted")
    assert result.toarray().tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert result.nnz == 5
    assert stored_zero.nnz == before.nnz == 3
    doubled = sp.coo_array((np.array([1, 1, 2]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert apply_psi(doubled, "row-max").toarray().tolist() == [[2, 2], [2, 2]]
    assert apply_psi(sp.csr_matrix((0, 0)), "symmetric").shape == (0, 0)


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (np.ones((2, 3)), r"A has shape \(2, 3\); expected a square matrix"),
        (np.ones(3), r"A has shape \[3\]"),
        (np.array([[0, -1.0], [0, 0]]), r"A has the value -1.0 at \(0, 1\)"),
        (np.array([[0, 0], [np.nan, 0]]), r"A has the value nan at \(1, 0\)"),
    ],
)
def test_bad_matrices_are_named(bad, text):
    with pytest.raises(ValueError, match=text):
        apply_psi(bad, "row-max")
