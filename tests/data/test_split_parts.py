from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mcn.data.splits import fold_split, group_split, order_split, share_split

labels = st.lists(st.integers(-1, 3), min_size=1, max_size=80)
shares = st.sampled_from([(60, 20, 20), (80, 10, 10), (34, 33, 33), (10, 45, 45)])


def _counts(y: NDArray[np.int64], parts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array([[((y == c) & (parts == p)).sum() for p in range(3)] for c in np.unique(y[y >= 0])])


@given(labels, shares, st.integers(0, 5))
def test_shares_cover_the_labelled_nodes_and_are_stratified(
    classes: list[int], wanted: tuple[int, int, int], seed: int
) -> None:
    y = np.array(classes, np.int64)
    parts = share_split(y, wanted, seed=seed)
    np.testing.assert_array_equal(parts >= 0, y >= 0)
    np.testing.assert_array_equal(parts, share_split(y, wanted, seed=seed))
    for row in _counts(y, parts):
        size = row.sum()
        assert row[0] >= 1
        if size >= 3:
            assert row.min() >= 1
        if size >= 10:
            assert np.abs(row - size * np.array(wanted) / 100).max() <= 1


@given(labels, st.integers(0, 12))
def test_what_is_above_the_most_goes_to_training(classes: list[int], most: int) -> None:
    y = np.array(classes, np.int64)
    parts = share_split(y, most=most)
    np.testing.assert_array_equal(parts >= 0, y >= 0)
    assert (parts == 1).sum() <= most
    assert (parts == 2).sum() <= most
    large = share_split(np.arange(1000) % 7, most=100)
    assert np.bincount(large).tolist() == [804, 98, 98]  # 14 of each class
    assert _counts(np.arange(1000) % 7, large).min() >= 14


@given(labels.filter(lambda y: sum(c >= 0 for c in y) >= 2), st.integers(2, 5), st.integers(0, 3))
def test_folds_test_every_node_once(classes: list[int], folds: int, seed: int) -> None:
    y = np.array(classes, np.int64)
    folds = min(folds, int((y >= 0).sum()))
    tested = np.zeros(len(y), np.int64)
    for index in range(folds):
        parts = fold_split(y, folds, index, seed=seed)
        np.testing.assert_array_equal(parts >= 0, y >= 0)
        tested += parts == 2
        for label in range(4):
            assert abs(((y == label) & (parts == 2)).sum() - (y == label).sum() / folds) < 1
    np.testing.assert_array_equal(tested, y >= 0)
    rest = fold_split(np.arange(100) % 2, 5, 1)
    assert np.bincount(rest).tolist() == [64, 16, 20]


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 12)), min_size=1, max_size=80), st.integers(0, 3)
)
def test_groups_are_never_cut(rows: list[tuple[int, int]], seed: int) -> None:
    y, groups = np.array(rows, np.int64).T
    split: Callable[[], NDArray[np.int64]]
    for split in (lambda: group_split(y, groups, seed=seed), lambda: order_split(y, groups)):
        parts = split()
        np.testing.assert_array_equal(parts >= 0, y >= 0)
        np.testing.assert_array_equal(parts, split())
        for group in range(13):
            assert len(set(parts[(groups == group) & (y >= 0)].tolist())) <= 1
        if len(set(groups[y >= 0].tolist())) >= 3:
            assert set(parts[y >= 0].tolist()) == {0, 1, 2}


@given(st.lists(st.integers(0, 12), min_size=3, max_size=80))
def test_later_values_are_for_later_parts(times: list[int]) -> None:
    values = np.array(times)
    parts = order_split(np.zeros(len(values), np.int64), values)
    order = np.argsort(values, kind="stable")
    assert (np.diff(parts[order]) >= 0).all()
    if len(set(times)) >= 3:
        assert set(parts.tolist()) == {0, 1, 2}


def test_groups_and_times_meet_the_shares() -> None:
    y, groups = np.zeros(1000, np.int64), np.arange(1000) // 10
    assert np.bincount(group_split(y, groups)).tolist() == [600, 200, 200]
    assert np.bincount(order_split(y, groups)).tolist() == [600, 200, 200]
    assert np.bincount(order_split(y, np.arange(1000) % 2)).tolist() == [500, 500]
    assert not np.array_equal(group_split(y, groups), group_split(y, groups, seed=1))
    sizes = np.repeat(np.arange(40), np.arange(40))  # no two groups of the same size
    drawn = {group_split(np.zeros(780, np.int64), sizes, seed=seed).tobytes() for seed in range(5)}
    assert len(drawn) == 5
    assert not np.array_equal(share_split(y), share_split(y, seed=1))


def test_wrong_folds() -> None:
    y = np.zeros(4, np.int64)
    with pytest.raises(
        ValueError, match=r"folds must be from 2 to the number of labelled nodes \(4\), got 5"
    ):
        fold_split(y, 5, 0)
    with pytest.raises(ValueError, match="split_index 3: there are 3 folds, from 0 to 2"):
        fold_split(y, 3, 3)
