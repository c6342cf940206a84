from __future__ import annotations

import numpy as np

from mcn.baselines._arrays import adjacency, one_hot, symmetric, unit_features
from tests.baselines.graphs import block_task, path_task


def test_matrices_by_hand() -> None:
    a = adjacency(path_task())
    expected = np.zeros((5, 5))
    expected[[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]] = 1
    np.testing.assert_array_equal(a.toarray(), expected)
    degree = np.array([1, 2, 2, 1, 1])
    np.testing.assert_allclose(symmetric(a).toarray(), expected / np.sqrt(np.outer(degree, degree)))


def test_lengths() -> None:
    np.testing.assert_allclose((unit_features(block_task()).toarray() ** 2).sum(1), 1)


def test_one_hot() -> None:
    np.testing.assert_array_equal(one_hot(np.array([1, -1, 0]), 2), [[0, 1], [0, 0], [1, 0]])
