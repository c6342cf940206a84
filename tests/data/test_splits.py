"""Splits: drawn masks, parts by shares, folds, groups and time, and what a user may ask for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch_geometric.data import Data

import mcn
from mcn.data import random_split
from mcn.data.splits import capped_train_counts, fold_split, group_split, order_split, share_split
from tests.conftest import refuses


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
    for val, test, left in ((30, None, [30, 50]), (None, 30, [50, 30]), (None, None, [40, 40])):
        _, *drawn = random_split(y, train_per_class=5, val=val, test=test)
        assert [int(part.sum()) for part in drawn] == left


def test_every_node_is_equally_likely_to_train() -> None:
    y = np.zeros(10, np.int64)
    hits = sum(random_split(y, train_per_class=5, seed=seed)[0].int() for seed in range(400))
    assert isinstance(hits, torch.Tensor)
    assert int(hits.min()) > 150
    assert int(hits.max()) < 250


def test_too_much_is_refused() -> None:
    y = np.array([0, 0, 0, 1, -1])
    refuses("cannot draw 2 training nodes of class 1: it has 1", random_split, y, train_per_class=2)
    too_few = "cannot draw 1 validation and 2 test nodes: 2 labelled nodes are left"
    refuses(too_few, random_split, y, train_per_class=1, val=1, test=2)
    refuses("train_per_class has 3 numbers for 2 classes", random_split, y, train_per_class=[1, 1, 1])
    refuses("cannot draw -1 training nodes", random_split, y, train_per_class=-1)


@pytest.mark.parametrize("shape", [(250,), (250, 1), (250, 3)])
def test_targets_without_classes_are_drawn_by_size(shape: tuple[int, ...]) -> None:
    y = np.random.default_rng(0).lognormal(size=shape)
    y = np.where(y > 1, 1, 0).astype(float) if shape[-1] == 3 else y
    y[:50] = np.nan
    masks = random_split(torch.from_numpy(y))
    assert [int(mask.sum()) for mask in masks] == [120, 40, 40]
    np.testing.assert_array_equal(np.sum([mask.numpy() for mask in masks], axis=0), [0] * 50 + [1] * 200)
    assert [int(mask.sum()) for mask in random_split(y, val=20, test=40)] == [140, 20, 40]
    if shape[-1] != 3:
        tenths = np.argsort(y.reshape(-1)[50:]).reshape(10, 20)
        assert masks[0].numpy()[50:][tenths].sum(axis=1).tolist() == [12] * 10
    refuses(r"^train_per_class 5: y is for .*; give val and test instead", random_split, y, train_per_class=5)


SEEDS = st.integers(0, 3)
labels = st.lists(st.integers(-1, 3), min_size=1, max_size=80)
shares = st.sampled_from([(60, 20, 20), (80, 10, 10), (34, 33, 33), (10, 45, 45)])


def _counts(y: NDArray[np.int64], parts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array([[((y == c) & (parts == p)).sum() for p in range(3)] for c in np.unique(y[y >= 0])])


@given(labels, shares, st.integers(0, 5))
def test_shares_are_stratified(classes: list[int], wanted: tuple[int, int, int], seed: int) -> None:
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


@given(labels.filter(lambda y: sum(c >= 0 for c in y) >= 2), st.integers(2, 5), SEEDS)
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


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 12)), min_size=1, max_size=80), SEEDS)
def test_groups_are_never_cut(rows: list[tuple[int, int]], seed: int) -> None:
    y, groups = np.array(rows, np.int64).T
    split: Callable[..., NDArray[np.int64]]
    for split, options in ((group_split, {"seed": seed}), (order_split, {})):
        parts = split(y, groups, **options)
        np.testing.assert_array_equal(parts >= 0, y >= 0)
        np.testing.assert_array_equal(parts, split(y, groups, **options))
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


def _load(tmp_path: Path, header: str, rows: list[str], **options: Any) -> Data:
    (tmp_path / "e.csv").write_text("0,1\n")
    lines = [f"{place},{row}" for place, row in enumerate(rows)]
    (tmp_path / "n.csv").write_text("\n".join([f"id,{header}", *lines]) + "\n")
    return mcn.load_graph(tmp_path / "e.csv", tmp_path / "n.csv", **options)


def _sizes(data: Data) -> list[int]:
    return [int(mask.sum()) for mask in (data.train_mask, data.val_mask, data.test_mask)]


ROWS = [f"{'ab'[row % 2]}" for row in range(100)]


def test_rules_for_few_labels_and_for_large_graphs(tmp_path: Path) -> None:
    assert _sizes(_load(tmp_path, "label", ROWS, split="80/10/10")) == [80, 10, 10]
    own = _load(tmp_path, "label", ROWS, split="20-per-class")
    assert _sizes(own) == [40, 30, 30]
    assert own.report[-1].endswith("(up to 20 per class for training, at most half a class; the rest halved)")
    assert _sizes(_load(tmp_path, "label", ROWS, split="5-per-class")) == [10, 45, 45]
    few = [label if place < 49 else "" for place, label in enumerate(ROWS)]
    assert "per class for training" in _load(tmp_path, "label", few).report[-1]
    many = [label if place < 50 else "" for place, label in enumerate(ROWS)]
    assert _sizes(_load(tmp_path, "label", many)) == [30, 10, 10]
    rare = [str(place // 4) for place in range(100)]  # four nodes per class
    assert "per class for training" in _load(tmp_path, "label", rare, task="classes").report[-1]
    rows = [str(place % 4) for place in range(60_000)]
    data = _load(tmp_path, "label", rows)
    assert _sizes(data) == [40_000, 10_000, 10_000]
    assert "at most 10,000 for validation and for testing, the others for training" in data.report[-1]
    assert _sizes(_load(tmp_path, "label", rows, split="60/20/20")) == [36_000, 12_000, 12_000]


def test_whether_chance_decided_is_known(tmp_path: Path) -> None:
    """Parts that somebody decided on, or that a time or a group tells apart, must not be mixed later."""
    parts = [f"{label},{['train', 'train', 'val', 'test'][place % 4]}" for place, label in enumerate(ROWS)]
    years = [f"{label},{2000 + place}" for place, label in enumerate(ROWS)]
    assert _load(tmp_path, "label", ROWS).split_at_random
    assert _load(tmp_path, "label", ROWS, folds=4).split_at_random
    assert _load(tmp_path, "label,split", parts, split="20-per-class").split_at_random
    assert _load(tmp_path, "label,split", parts, split="60/20/20").split_at_random
    assert not _load(tmp_path, "label,split", parts).split_at_random
    assert not _load(tmp_path, "label,mine", parts, split="mine").split_at_random
    assert not _load(tmp_path, "label,year", years, split_by="year").split_at_random


def test_several_columns_none_of_which_is_a_feature_of_a_drawn_split(tmp_path: Path) -> None:
    rows = ["a,train,val,1", "b,val,train,2", "a,test,test,3", "b,train,train,4"]
    data = _load(tmp_path, "label,s0,s1,f", rows, split=["s0", "s1"], split_index=1)
    assert data.train_mask.tolist() == [False, True, False, True]
    assert data.feature_names == ["f"]
    assert data.report[-1].endswith("from the node table, column 's1' (number 1 of 2)")
    message, both = "split_index 2: the split columns are numbered from 0 to 1", ["s0", "s1"]
    refuses(message, _load, tmp_path, "label,s0,s1,f", rows, split=both, split_index=2)
    refuses(r"n\.csv: no split column 's2'", _load, tmp_path, "label,s0,s1,f", rows, split=["s0", "s2"])
    rows = [f"{label},train,{place}" for place, label in enumerate(ROWS)]
    data = _load(tmp_path, "label,split,f", rows, split="60/20/20")
    assert data.feature_names == ["f"]
    assert _sizes(data) == [60, 20, 20]


def test_folds(tmp_path: Path) -> None:
    data = _load(tmp_path, "label", ROWS, folds=4, split_index=3)
    assert _sizes(data)[2] == 25
    assert _sizes(data)[1] in (14, 15, 16)
    assert "fold 3 of 4 (from 0), every class spread evenly, drawn with seed 0" in data.report[-1]


def test_time_and_groups(tmp_path: Path) -> None:
    rows = [f"{label},{2000 + place // 10}" for place, label in enumerate(ROWS)]
    data = _load(tmp_path, "label,year", rows, split_by="year")
    assert _sizes(data) == [60, 20, 20]
    assert bool(data.train_mask[:60].all() & data.test_mask[80:].all())
    note = "by column 'year': the largest values (from 2008) for testing, those before for validation"
    assert data.report[-1].endswith(note)
    assert data.x.shape[1] == 32  # the year is no feature
    dates = [f"{label},2024-0{1 + place // 20}-03" for place, label in enumerate(ROWS)]
    assert "(from 2024-05-03)" in _load(tmp_path, "label,day", dates, split_by="day").report[-1]
    message, dates[1] = r"n\.csv, line 3: '\?' in column 'day', by which nodes are divided", "a,?"
    refuses(message, _load, tmp_path, "label,day", dates, split_by="day")
    message = r"n\.csv: no split_by column 'dy'; did you mean 'day'"
    refuses(message, _load, tmp_path, "label,day", dates, split_by="dy")
    rows = [f"{label},team {place // 5}" for place, label in enumerate(ROWS)]
    data = _load(tmp_path, "label,team", rows, split_by="team")
    assert _sizes(data) == [60, 20, 20]
    assert data.report[-1].endswith("by column 'team': 20 groups, none of them cut, drawn with seed 0")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"split": "60/20/20", "folds": 3}, "give one of split, split_by and folds, not split and folds"),
        ({"split": "60/20/30"}, "split '60/20/30': expected positive percentages that sum to 100"),
        ({"split": "90/10/0"}, "expected positive percentages"),
        ({"split": []}, "split must name at least one column"),
        ({"folds": 1}, "folds must be at least 2, got 1"),
        ({"folds": 101}, r"101 folds of 100 labelled nodes"),
        ({"folds": 3, "split_index": 3}, "split_index 3: there are 3 folds, from 0 to 2"),
        ({"split_index": -1}, "split_index must not be negative, got -1"),
        ({"split_index": "x"}, "split_index must be an integer"),
        ({"scaling": "rwo"}, "scaling must be one of auto, raw, rows, unit, standard, got 'rwo'"),
    ],
)
def test_wrong_use(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    refuses(message, _load, tmp_path, "label", ROWS, **options)
