from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from mcn.baselines import Task
from mcn.baselines._logistic import best_scores, logistic
from tests.baselines.graphs import path_task


@pytest.mark.parametrize("present", [[0, 2], [0, 1, 2], [1, 3, 2, 0]])
def test_the_same_decisions_as_scikit_learn(present: list[int]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((40, 3)), rng.choice(present, 40)
    train = np.arange(40)
    task = Task(torch.zeros(40, 3), np.empty((2, 0), np.int64), torch.from_numpy(y), train, train[:1], 4)
    weights, intercepts = logistic(x, task, 10.0)
    model = LogisticRegression(C=10.0, max_iter=2000).fit(x, y)
    np.testing.assert_array_equal((x @ weights + intercepts).argmax(1), model.predict(x))


def test_one_class_only() -> None:
    task = path_task()
    task = Task(task.x, task.edge_index, task.labels, np.array([3]), task.val, 3)
    weights, intercepts = logistic(np.ones((5, 2)), task, 1.0)
    assert not weights.any()
    assert intercepts.argmax() == 1


def test_the_first_of_equals() -> None:
    right, wrong = np.tile([1.0, 0.0], (5, 1)), np.tile([0.0, 1.0], (5, 1))
    np.testing.assert_array_equal(best_scores([wrong, right, 2 * right], path_task()), right)
