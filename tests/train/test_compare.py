from __future__ import annotations

import pytest

from mcn.train import METHODS, accuracy_on_test, compare, configure, predict, result_row
from tests.train.graphs import small_config, small_graph, trained

KEYS = ["method", "test_mean", "test_std", "val_mean", "test", "seeds", "seconds_per_run"]


def test_every_row_is_what_separate_runs_give() -> None:
    data, base = small_graph(), small_config(max_epochs=4)
    told: list[float] = []
    rows = compare(data, base, METHODS, [3, 5], told.append)
    assert [row["method"] for row in rows] == list(METHODS)
    assert told == pytest.approx([i / 8 for i in range(1, 9)])
    for row in rows:
        assert list(row) == KEYS
        assert row["seeds"] == [3, 5]
        assert row["seconds_per_run"] > 0
        for seed, percent in zip(row["seeds"], row["test"], strict=True):
            one = trained(data, configure(row["method"], base).replace(seed=seed))
            own = predict(one.model, one.problem.x, one.problem.stack)
            assert percent == 100 * accuracy_on_test(data, own.labels)


def test_a_row_by_hand() -> None:
    row = result_row("mcn", [0.8, 0.9], [0.5, 0.75], [0, 1], [1.0, 3.0])
    assert row["test"] == [80.0, 90.0]
    assert (row["test_mean"], row["test_std"]) == (85.0, pytest.approx(5.0))
    assert (row["val_mean"], row["seconds_per_run"]) == (62.5, 2.0)


def test_without_test_nodes() -> None:
    data = small_graph()
    data.test_mask[:] = False
    (row,) = compare(data, small_config(max_epochs=1), ["gcn"], [0])
    assert (row["test"], row["test_mean"], row["test_std"]) == ([], None, None)
    assert row["val_mean"] > 0


def test_a_method_is_run_once() -> None:
    rows = compare(small_graph(), small_config(max_epochs=1), ["gcn", "gcn"], [0])
    assert len(rows) == 1


def test_an_unknown_method_before_any_work() -> None:
    with pytest.raises(ValueError, match="got 'gtc'"):
        compare(small_graph(), small_config(), ["mcn", "gtc"], [0])
