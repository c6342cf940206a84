from __future__ import annotations

import numpy as np

from mcn.baselines._arrays import adjacency
from mcn.baselines.ica import neighbour_counts, relabel
from tests.baselines.graphs import block_task, path_task


def test_counts_by_hand() -> None:
    counts = neighbour_counts(adjacency(path_task()), np.array([0, 1, -1, 1, 0]), 2)
    np.testing.assert_array_equal(counts, [[0, 1], [1, 0], [0, 2], [0, 0], [0, 0]])


def test_relabelling_by_hand() -> None:
    """Each node takes the class of most neighbours; node 2, asked first, turns to class 1 like node 3."""
    a = adjacency(path_task())
    labels = np.array([0, 1, 0, 1, 0])
    counts = neighbour_counts(a, labels, 2)
    own = np.zeros((5, 2))
    own[4] = [0, 1]
    relabel(np.array([2, 1, 4]), a.indptr, a.indices, own, np.eye(2), labels, counts)
    np.testing.assert_array_equal(labels, [0, 0, 1, 1, 1])  # node 1: one of each, the first class


def test_counts_stay_true() -> None:
    task = block_task()
    a, rng = adjacency(task), np.random.default_rng(0)
    labels = rng.integers(3, size=150)
    counts = neighbour_counts(a, labels, 3)
    before = labels.copy()
    relabel(
        rng.permutation(150), a.indptr, a.indices, rng.random((150, 3)), rng.random((3, 3)), labels, counts
    )
    assert (labels != before).any()
    np.testing.assert_array_equal(counts, neighbour_counts(a, labels, 3))
