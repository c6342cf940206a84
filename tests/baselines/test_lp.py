from __future__ import annotations

import numpy as np
import pytest

from mcn.baselines.lp import lp, propagated
from tests.baselines.graphs import block_task, path_task


def test_one_step_by_hand() -> None:
    """On the path 0-1-2-3, S_01 = S_23 = 1/√2 and S_12 = 1/2; node 4 is reached by nobody."""
    scores = propagated(path_task(), 1, 0.5)
    half = 0.5 / np.sqrt(2)
    expected = [[0.5, 0], [half, 0], [0, half], [0, 0.5], [0.75e-12, 0.25e-12]]
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_the_fixed_point() -> None:
    """Many steps give (1 - α)(I - αS)^-1 Y."""
    root = np.sqrt(0.5)
    s = np.array([[0, root, 0, 0], [root, 0, 0.5, 0], [0, 0.5, 0, root], [0, 0, root, 0]])
    y = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    expected = 0.3 * np.linalg.solve(np.eye(4) - 0.7 * s, y)
    np.testing.assert_allclose(propagated(path_task(), 100, 0.7)[:4], expected, rtol=1e-6)


def test_the_nearest_label_wins() -> None:
    np.testing.assert_array_equal(lp(path_task(), 0).argmax(1), [0, 0, 1, 1, 0])


def test_selected_on_validation() -> None:
    task = block_task()
    best = task.val_accuracy(lp(task, 0))
    assert best >= task.val_accuracy(propagated(task, 10, 0.9))
    assert best == pytest.approx(task.val_accuracy(lp(task, 1)))  # nothing random in it
