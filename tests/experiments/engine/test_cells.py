from __future__ import annotations

import math

import pytest

from mcn.experiments.engine.cells import Cell, cell, choosing_figures, noise, paired, result_row, within_noise
from mcn.train.metrics import METRICS


def row(
    seed: int, test: float | None, val: float = 0.5, seconds: float = 1.0, epochs: int | None = 10
) -> dict:
    return {
        "seed": seed,
        "test_accuracy": test,
        "val_accuracy": val,
        "seconds": seconds,
        "epochs": epochs,
    }


def test_a_cell_by_hand() -> None:
    found = cell([row(0, 0.80, 0.70, 1.0, 10), row(1, 0.82, 0.72, 3.0, 20), row(2, 0.84, 0.74, 5.0, 60)])
    assert found is not None
    assert found.runs == 3
    assert found.mean == pytest.approx(82.0)
    assert found.std == pytest.approx(2.0)  # squares 4 + 0 + 4 over n - 1 = 2
    assert found.val_mean == pytest.approx(72.0)
    assert found.seconds == pytest.approx(3.0)
    assert found.epochs == pytest.approx(30.0)


def test_a_single_run_and_none() -> None:
    one = cell([row(4, 0.5, epochs=None)])
    assert one is not None
    assert (one.test, one.std, one.epochs) == ({4: 50.0}, None, None)
    assert noise(one, (0.4, 15)) is None
    assert within_noise(one, 50.0, None) is None
    assert cell([]) is None


def test_refused() -> None:
    with pytest.raises(ValueError, match=r"every seed may be there once, got \[1, 1\]"):
        cell([row(1, 0.5), row(1, 0.6)])
    with pytest.raises(ValueError, match="the run with seed 2 has no test accuracy"):
        cell([row(1, 0.5), row(2, None)])


def test_paired_by_hand() -> None:
    gap = paired({0: 83.0, 1: 84.0, 2: 82.0, 9: 0.0}, {0: 82.0, 1: 82.0, 2: 82.0, 8: 50.0})
    assert gap is not None
    assert (gap.mean, gap.pairs) == (pytest.approx(1.0), 3)  # differences 1, 2, 0
    assert gap.error == pytest.approx(1 / math.sqrt(3))
    single = paired({0: 1.0}, {0: 3.0})
    assert single is not None
    assert (single.mean, single.error, single.pairs) == (-2.0, None, 1)
    assert paired({0: 1.0}, {1: 1.0}) is None


def four_runs(mean: float) -> Cell:
    """Standard deviation 2: squares 4 · 3 over 3."""
    own = dict(enumerate([mean - 3**0.5, mean - 3**0.5, mean + 3**0.5, mean + 3**0.5]))
    return Cell(own, own, 1.0)


def test_noise_with_and_without_the_paper_s_deviation() -> None:
    ours = four_runs(80.0)
    assert ours.std == pytest.approx(2.0)
    assert noise(ours, (3.0, 9)) == pytest.approx(2 * math.sqrt(4 / 4 + 9 / 9))
    assert noise(ours, None) == pytest.approx(2 * math.sqrt(4 / 4 + 4))
    assert within_noise(ours, 80 + 2 * math.sqrt(2), (3.0, 9)) is True
    assert within_noise(ours, 80 - 2 * math.sqrt(2) - 0.01, (3.0, 9)) is False
    assert within_noise(ours, 84.4, None) is True
    assert within_noise(ours, 84.5, None) is False


def test_a_method_without_chance_is_compared_up_to_rounding() -> None:
    still = Cell({0: 74.4, 1: 74.4}, {0: 70.0, 1: 70.0}, 1.0)
    assert noise(still, None) == 0.05
    assert within_noise(still, 74.45, None) is True
    assert within_noise(still, 74.5, None) is False


def measured(seed: int, val: dict | None, test: dict | None) -> dict:
    return row(seed, 0.5) | {"metrics": {"val": val, "test": test}}


NOTHING = {"test_mean": None, "test_std": None, "val_mean": None}


def test_metrics_of_a_row_by_hand() -> None:
    figures = [(0.5, 0.6), (0.75, 0.8), (1.0, 0.7)]
    own = [measured(s, {"roc-auc": v}, {"roc-auc": t}) for s, (v, t) in enumerate(figures)]
    found = result_row("mcn", own)["metrics"]
    assert list(found) == list(METRICS)
    assert found["roc-auc"] == {
        "test_mean": pytest.approx(0.7),
        "test_std": pytest.approx(0.1),  # squares 0.01 + 0.01 + 0 over n - 1 = 2
        "val_mean": 0.75,
    }
    assert found["accuracy"] == NOTHING
    assert result_row("mcn", own[:1])["metrics"]["roc-auc"] == {
        "test_mean": 0.6,
        "test_std": None,
        "val_mean": 0.5,
    }


def test_metrics_that_are_missing() -> None:
    old = row(0, 0.5)  # of 0.1.0, read from a ledger that was brought up to date
    for rows in ([old], [old | {"metrics": None}], [old, measured(1, {"roc-auc": 0.5}, {"roc-auc": 0.5})]):
        assert result_row("mcn", rows)["metrics"] == dict.fromkeys(METRICS, NOTHING)
    untested = [measured(s, {"log-loss": 0.5}, None) for s in (0, 1)]
    assert result_row("mcn", untested)["metrics"]["log-loss"] == NOTHING | {"val_mean": 0.5}
    undefined = [measured(s, {"roc-auc": None}, {"roc-auc": 0.5}) for s in (0, 1)]
    assert result_row("mcn", undefined)["metrics"]["roc-auc"] == {
        "test_mean": 0.5,
        "test_std": 0.0,
        "val_mean": None,
    }
    some = [measured(0, {}, {"roc-auc": 0.5}), measured(1, {}, {"roc-auc": None})]
    assert result_row("mcn", some)["metrics"]["roc-auc"] == NOTHING  # no mean over some of the seeds


def test_metrics_of_the_summary_of_a_run() -> None:
    summary = row(0, 0.5) | {"scores": {"train": None, "val": {"macro-f1": 0.25}, "test": {"macro-f1": 1.0}}}
    assert result_row("mcn", [summary])["metrics"]["macro-f1"] == {
        "test_mean": 1.0,
        "test_std": None,
        "val_mean": 0.25,
    }


def test_a_cell_of_another_metric_by_hand() -> None:
    rows = [
        {
            "seed": seed,
            "test_accuracy": 0.5,
            "val_accuracy": 0.5,
            "seconds": 1.0,
            "metrics": {"val": {"log-loss": 0.4}, "test": {"log-loss": value, "roc-auc": None}},
        }
        for seed, value in ((3, 0.2), (4, 0.4))
    ]
    found = cell(rows, "log-loss")
    assert found is not None
    assert found.test == pytest.approx({3: 20.0, 4: 40.0})
    assert (found.mean, found.merit, found.val_mean) == pytest.approx((30.0, -30.0, 40.0))
    assert cell(rows, "roc-auc") is None
    assert cell([{**row, "metrics": None} for row in rows], "log-loss") is None  # runs of 0.1.0


def test_what_choosing_is_worth_is_the_mean_over_the_seeds() -> None:
    said = {"gain": 0.02, "gain_error": 0.01, "apparent_room": 0.2, "chance_room": 0.18, "bound": 0.03}
    rows = [
        {"metrics": {"choosing": said | {"used": True, "winner": "gcn"}}},
        {"choosing": said | {"gain": 0.04, "bound": 0.01, "used": False}},  # the summary of a run
    ]
    assert choosing_figures(rows) == pytest.approx(
        {**said, "gain": 0.03, "bound": 0.02, "used": 0.5}, abs=1e-12
    )
    assert choosing_figures([*rows, {"metrics": {"val": {}}}]) is None
    assert choosing_figures([{"choosing": said | {"gain_error": None, "used": False}}]) is None
    assert choosing_figures([{"metrics": None}]) is None
