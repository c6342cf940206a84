"""Row lengths, their upper bounds and reach, against dense powers."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn.matrices.pattern import most_entries, reach, row_lengths
from tests.matrices.dense import adjacencies, dense_power, dense_psi


def parts(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    csr = sp.csr_array(A)
    return csr.indptr.astype(np.int64), csr.indices.astype(np.uint32)


def lengths_of(A: np.ndarray, steps: int) -> np.ndarray:
    n = len(A)
    lengths = np.zeros((1, steps, n), np.int32)
    seen, queue = np.zeros(2 * n, np.uint8), np.empty(2 * n, np.uint64)
    row_lengths(steps, n, *parts(A), 0, 0, n, lengths, seen, queue)
    assert not seen.any()
    return lengths[0]


@settings(max_examples=60, deadline=None)
@given(A=adjacencies())
def test_lengths_are_exact(A):
    expected = [(dense_psi(dense_power(A, k), "unweighted") > 0).sum(axis=1) for k in range(1, 6)]
    assert np.array_equal(lengths_of(A, 5), expected)


def test_lengths_on_a_path_by_hand():
    A = np.diag([1, 1, 1, 1], 1) + np.diag([1, 1, 1, 1], -1)  # 0-1-2-3-4
    assert lengths_of(A, 3).tolist() == [[2, 3, 3, 3, 2], [2, 2, 3, 2, 2], [3, 4, 3, 4, 3]]


@settings(max_examples=40, deadline=None)
@given(A=adjacencies())
def test_bounds_are_never_below(A):
    bounds, true = most_entries(*parts(A), 4), lengths_of(A, 4).sum(axis=1)
    assert (bounds >= true).all()
    assert bounds[0] == true[0]
    assert (bounds <= len(A) ** 2).all()


@settings(max_examples=40, deadline=None)
@given(A=adjacencies(), depth=st.integers(1, 4), data=st.data())
def test_reach_is_the_ball_around_the_targets(A, depth, data):
    n = len(A)
    targets = np.array(data.draw(st.lists(st.integers(0, n - 1), unique=True)), np.int64)
    marked = np.zeros(n, np.bool_)
    reach(*parts(A), 0, depth, targets, marked)
    walks = np.linalg.matrix_power((A + np.eye(n)).astype(float), depth)
    assert np.array_equal(marked, (walks[targets] > 0).any(axis=0))
