"""Several methods on one graph: rows, order, progress, what is refused before any work; figures by hand."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mcn.data import load_dataset
from mcn.experiments import Ledger, Source, compare, known_settings, paired, register, result_row
from mcn.train import Problem
from mcn.train.metrics import TASK_METRICS
from tests.conftest import refuses
from tests.paper.graphs import blocks
from tests.train.graphs import SMALL, small_graph

FIGURES = ["method", "test_mean", "test_std", "val_mean", "test", "seeds", "seconds_per_run"]
KEYS = [*FIGURES, "difference", "difference_error", "metrics"]
SHORT: dict[str, Any] = {**SMALL, "max_epochs": 4}
pytestmark = pytest.mark.usefixtures("own_methods")


def run_row(seed: int, test: float | None, val: float, seconds: float) -> dict[str, Any]:
    return {"seed": seed, "test_accuracy": test, "val_accuracy": val, "seconds": seconds}


def test_a_row_by_hand() -> None:
    row = result_row("mcn", [run_row(0, 0.8, 0.5, 1.0), run_row(1, 0.9, 0.75, 3.0)])
    assert list(row) == KEYS
    assert (row["method"], row["seeds"]) == ("mcn", [0, 1])
    assert row["test"] == [80.0, 90.0]
    assert (row["test_mean"], row["test_std"]) == (85.0, pytest.approx(50**0.5))  # of a sample: n - 1
    assert (row["val_mean"], row["seconds_per_run"]) == (62.5, 2.0)
    assert (row["difference"], row["difference_error"]) == (None, None)
    other = result_row("gat", [run_row(0, 0.7, 0.5, 1.0), run_row(1, 0.6, 0.5, 1.0)], row)
    assert other["difference"] == pytest.approx(-20.0)
    assert other["difference_error"] == pytest.approx(10.0)  # of -10 and -30
    single = result_row("mcn", [run_row(0, 0.8, 0.5, 1.0)])
    assert (single["test_mean"], single["test_std"]) == (80.0, None)
    other = result_row("gat", [run_row(0, 0.7, 0.5, 1.0)], single)
    assert (other["difference"], other["difference_error"]) == (None, None)


def test_without_test_nodes() -> None:
    data = small_graph()
    data.test_mask[:] = False
    (row,) = compare(data, ["gcn"], [0], settings={"max_epochs": 1})
    assert (row["test"], row["test_mean"], row["test_std"]) == ([], None, None)
    assert row["val_mean"] > 0
    both = compare(data, ["gcn", "majority"], [0, 1], settings={"max_epochs": 1})
    assert [(row["test"], row["difference"]) for row in both] == [([], None)] * 2


def test_a_method_of_ones_own() -> None:
    seen = []

    @register("class-number")
    def class_number(problem: Problem, seed: int) -> NDArray[np.float32]:
        seen.append((problem.inputs.dataset, seed))
        return np.eye(3, dtype=np.float32)[blocks().y]  # always right

    told: list[float] = []
    methods = ["class-number", "majority", "class-number"]
    rows = compare(blocks(), methods, [4, 7], dataset="mine", progress=told.append)
    assert [row["method"] for row in rows] == ["class-number", "majority"]
    assert seen == [("mine", 4), ("mine", 7)]
    assert told == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
    assert [list(row) for row in rows] == [KEYS, KEYS]
    assert (rows[0]["test"], rows[0]["test_std"], rows[0]["val_mean"]) == ([100.0, 100.0], 0.0, 100.0)
    assert rows[0]["seeds"] == [4, 7]
    assert rows[1]["difference"] == pytest.approx(rows[1]["test_mean"] - 100)


def test_refused_before_any_work_and_each_method_takes_the_settings_it_knows() -> None:
    register("never")(lambda problem, seed: pytest.fail("it was run"))
    refuses("got 'majorty'; did you mean 'majority'", compare, blocks(), ["never", "majorty"], [0])
    for settings, message in (
        ({"stepps": 2}, r"unknown setting 'stepps'; did you mean 'steps'\?"),
        ({"steps": 0}, "steps must be an integer of at least 1, got 0"),
    ):
        refuses(message, compare, blocks(), ["never", "mcn"], [0], settings=settings)
    given = {"steps": 2, "walk_length": 3, "lr": 0.1}
    assert known_settings("mcn", given) == known_settings("gat", given) == {"steps": 2, "lr": 0.1}
    assert known_settings("views", given) == {"walk_length": 3, "lr": 0.1}
    assert known_settings("lp", given) == {}


def test_a_source_and_its_graph_give_the_same_rows(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    settings, methods = {"max_epochs": 3}, ["mcn", "lp"]
    first = compare(Source("karate"), methods, (0, 1), settings=settings, ledger=ledger, jobs=1)
    assert len(ledger) == 4
    data = load_dataset("karate")
    second = compare(data, methods, (0, 1), dataset="karate", settings=settings, ledger=ledger)
    assert len(ledger) == 4  # the same keys: nothing was run again
    assert first == second


def test_paired_by_hand() -> None:
    gap = paired({0: 83.0, 1: 84.0, 2: 82.0, 9: 0.0}, {0: 82.0, 1: 82.0, 2: 82.0, 8: 50.0})
    assert (gap.mean, gap.pairs) == (pytest.approx(1.0), 3)  # differences 1, 2, 0
    assert gap.error == pytest.approx(1 / math.sqrt(3))
    single = paired({0: 1.0}, {0: 3.0})
    assert (single.mean, single.error, single.pairs) == (-2.0, None, 1)
    assert paired({0: 1.0}, {1: 1.0}) is None


def measured(seed: int, val: dict | None, test: dict | None) -> dict:
    return run_row(seed, 0.5, 0.5, 1.0) | {"metrics": {"val": val, "test": test}}


NOTHING = {"test_mean": None, "test_std": None, "val_mean": None}


def test_metrics_of_a_row_by_hand_and_those_that_are_missing() -> None:
    figures = [(0.5, 0.6), (0.75, 0.8), (1.0, 0.7)]
    own = [measured(s, {"roc-auc": v}, {"roc-auc": t}) for s, (v, t) in enumerate(figures)]
    found = result_row("mcn", own)["metrics"]
    assert list(found) == list(TASK_METRICS["classes"])
    assert found["roc-auc"] == {
        "test_mean": pytest.approx(0.7),
        "test_std": pytest.approx(0.1),  # squares 0.01 + 0.01 + 0 over n - 1 = 2
        "val_mean": 0.75,
    }
    assert found["accuracy"] == NOTHING
    single = {"test_mean": 0.6, "test_std": None, "val_mean": 0.5}
    assert result_row("mcn", own[:1])["metrics"]["roc-auc"] == single
    scores = {"train": None, "val": {"macro-f1": 0.25}, "test": {"macro-f1": 1.0}}  # as in a run's summary
    found = result_row("mcn", [run_row(0, 0.5, 0.5, 1.0) | {"scores": scores}])["metrics"]["macro-f1"]
    assert found == {"test_mean": 1.0, "test_std": None, "val_mean": 0.25}
    old = run_row(0, 0.5, 0.5, 1.0)
    for rows in ([old], [old | {"metrics": None}], [old, measured(1, {"roc-auc": 0.5}, {"roc-auc": 0.5})]):
        assert result_row("mcn", rows)["metrics"] == dict.fromkeys(TASK_METRICS["classes"], NOTHING)
    untested = [measured(s, {"log-loss": 0.5}, None) for s in (0, 1)]
    assert result_row("mcn", untested)["metrics"]["log-loss"] == NOTHING | {"val_mean": 0.5}
    undefined = [measured(s, {"roc-auc": None}, {"roc-auc": 0.5}) for s in (0, 1)]
    tested = {"test_mean": 0.5, "test_std": 0.0, "val_mean": None}
    assert result_row("mcn", undefined)["metrics"]["roc-auc"] == tested
    some = [measured(0, {}, {"roc-auc": 0.5}), measured(1, {}, {"roc-auc": None})]
    assert result_row("mcn", some)["metrics"]["roc-auc"] == NOTHING  # no mean over some of the seeds
