from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mcn.data import random_split
from mcn.data.splits import capped_train_counts


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=60), st.integers(0, 5))
def test_parts_are_disjoint_labelled_and_complete(labels: list[int], seed: int) -> None:
    y = np.array(labels, np.int64)
    train, val, test = random_split(y, train_per_class=capped_train_counts(y, 5), seed=seed)
    together = train.int() + val.int() + test.int()
    np.testing.assert_array_equal(together.numpy(), y >= 0)
    sizes = np.bincount(y[y >= 0], minlength=4)
    expected = [min(5, max(1, size // 2)) if size else 0 for size in sizes]
    assert np.bincount(y[train.numpy()], minlength=4).tolist() == expected
    assert int(test.sum()) - int(val.sum()) in (0, 1)


def test_given_sizes_are_met_and_the_seed_decides() -> None:
    y = torch.arange(100) % 4
    parts = random_split(y, train_per_class=5, val=30, test=20, seed=1)
    assert [int(part.sum()) for part in parts] == [20, 30, 20]
    again = random_split(y, train_per_class=5, val=30, test=20, seed=1)
    assert all(torch.equal(a, b) for a, b in zip(parts, again, strict=True))
    other = random_split(y, train_per_class=5, val=30, test=20, seed=2)
    assert not torch.equal(parts[0], other[0])


@pytest.mark.parametrize(
    "val, test, expected", [(30, None, (30, 50)), (None, 30, (50, 30)), (None, None, (40, 40))]
)
def test_what_is_not_given_is_what_is_left(
    val: int | None, test: int | None, expected: tuple[int, int]
) -> None:
    _, drawn_val, drawn_test = random_split(np.arange(100) % 4, train_per_class=5, val=val, test=test)
    assert (int(drawn_val.sum()), int(drawn_test.sum())) == expected


def test_every_node_is_equally_likely_to_train() -> None:
    y = np.zeros(10, np.int64)
    hits = sum(random_split(y, train_per_class=5, seed=seed)[0].int() for seed in range(400))
    assert isinstance(hits, torch.Tensor)
    assert int(hits.min()) > 150
    assert int(hits.max()) < 250


def test_too_much_is_refused() -> None:
    y = np.array([0, 0, 0, 1, -1])
    with pytest.raises(ValueError, match="cannot draw 2 training nodes of class 1: it has 1"):
        random_split(y, train_per_class=2)
    with pytest.raises(
        ValueError, match="cannot draw 1 validation and 2 test nodes: 2 labelled nodes are left"
    ):
        random_split(y, train_per_class=1, val=1, test=2)
    with pytest.raises(ValueError, match="train_per_class has 3 numbers for 2 classes"):
        random_split(y, train_per_class=[1, 1, 1])
    with pytest.raises(ValueError, match="cannot draw -1 training nodes"):
        random_split(y, train_per_class=-1)
