from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn.baselines.manireg import laplacian_least_squares


def test_by_hand() -> None:
    """Two joined nodes with a feature each, the first labelled 1: (1+r+s) a - s b = 1, -s a + (r+s) b = 0."""
    laplacian = sp.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    w = laplacian_least_squares(
        sp.eye_array(2, format="csr"), laplacian, np.array([0]), np.array([[1.0]]), 1.0, 2.0
    )
    np.testing.assert_allclose(w, [[3 / 8], [2 / 8]], rtol=1e-5)  # 4a - 2b = 1, 3b = 2a


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.01, 1.0]), st.sampled_from([0.0, 0.1, 10.0]))
def test_the_closed_form(seed: int, ridge: float, smooth: float) -> None:
    rng = np.random.default_rng(seed)
    x, rows, targets = rng.random((12, 5)), rng.permutation(12)[:6], rng.random((6, 3))
    a = np.triu(rng.random((12, 12)) < 0.4, 1).astype(float)
    a += a.T
    laplacian = np.diag(a.sum(1)) - a
    left = x[rows].T @ x[rows] + ridge * np.eye(5) + smooth * x.T @ laplacian @ x
    expected = np.linalg.solve(left, x[rows].T @ targets)
    own = laplacian_least_squares(
        sp.csr_array(x), sp.csr_array(laplacian), rows, targets, ridge=ridge, smooth=smooth
    )
    np.testing.assert_allclose(own, expected, atol=1e-3 * abs(expected).max())
