"""What must hold for every baseline."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mcn.baselines import BASELINES, baseline, task_from_data
from mcn.train import accuracy_on_test
from tests.baselines.graphs import block_task, blocks

NAMES = sorted(BASELINES)


def test_every_row_of_the_table_is_there() -> None:
    rows = "majority deepwalk mlp lp manireg semiemb ica planetoid chebyshev monet gcn gat gcn-ensemble"
    assert set(rows.split()) | {"planetoid-t", "planetoid-i", "grand", "twins"} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_better_than_the_majority_and_blind_to_test_labels(name: str) -> None:
    data = blocks()
    scores = baseline(name)(task_from_data(data), 0)
    assert (scores.dtype, scores.shape) == (np.float32, (150, 3))
    assert np.isfinite(scores).all()
    if name not in ("majority", "twins"):  # there are no near copies of anything here
        accuracy = accuracy_on_test(data, scores.argmax(1))
        assert accuracy is not None
        assert accuracy > 0.55  # a third of the nodes are in each class
    other = data.clone()
    test = other.test_mask.nonzero().squeeze(1)
    other.y[test] = other.y[test[torch.randperm(len(test), generator=torch.Generator().manual_seed(0))]]
    assert not torch.equal(other.y, data.y)
    torch.manual_seed(17)  # what was drawn elsewhere does not matter
    np.testing.assert_array_equal(baseline(name)(task_from_data(other), 0), scores)


@pytest.mark.parametrize("name", ["deepwalk", "planetoid-t", "monet", "gcn-ensemble"])
def test_another_seed_is_another_run(name: str) -> None:
    task = block_task()
    assert not np.array_equal(baseline(name)(task, 0), baseline(name)(task, 1))


@pytest.mark.parametrize("name", ["manireg", "ica", "semiemb", "mlp"])
def test_dense_features(name: str) -> None:
    scores = baseline(name)(block_task(sparse=False), 0)
    assert block_task().val_accuracy(scores) > 0.55


def test_random_numbers_of_the_caller_are_left_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    baseline("chebyshev")(block_task(), 0)
    assert torch.equal(torch.rand(4), expected)
