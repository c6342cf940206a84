import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcn.experiments import Ledger, Unit, run_unit
from mcn.experiments.search import SearchResult, Space, Trial, search
from tests.conftest import REPOSITORY
from tests.experiments.engine.units import KARATE, timeless

pytest.importorskip("optuna", reason="Optuna is not installed (pip install 'mcn[search]')")

FIXED = {"max_epochs": 20, "hidden": 2, "heads": 2, "attention": "gated"}
RATES = {"lr": (0.01, 0.05, 1e30), "dropout": (0.0, 0.3, 0.6)}
SPACE = Space("small", "", {"motifs": (["edge"], ["edge", "triangle"]), **RATES}, FIXED, {})
"""A learning rate of 1e30 fails."""


def small_search(path: str, sampler: str, **changes: Any) -> SearchResult:
    options = {"trials": 8, "seeds": 2, "final_seeds": 2, "batch": 3, "jobs": 1, **changes}
    return search(KARATE, SPACE, sampler=sampler, ledger=Ledger(path), **options)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[SearchResult, Ledger]:
    """An undisturbed search."""
    path = tmp_path_factory.mktemp("search") / "ledger.sqlite"
    return small_search(str(path), "tpe"), Ledger(path)


def test_the_winner_has_the_highest_mean_validation_accuracy(found: tuple[SearchResult, Ledger]) -> None:
    result, _ = found
    for trial in result.trials:
        settings = {**SPACE.fixed, **trial.settings}
        if trial.settings["lr"] == 1e30:
            assert "lower the learning rate" in str(trial.error)
            continue
        rows = [run_unit(Unit(KARATE, "mcn", settings, seed, test=False)) for seed in range(2)]
        assert trial.val_accuracy == trial.val_score == np.mean([row["val_accuracy"] for row in rows])
        assert trial.val_loss == np.mean([row["val_loss"] for row in rows])
    good = [trial for trial in result.trials if trial.error is None]
    assert result.best == min(good, key=lambda t: (-t.val_accuracy, t.val_loss, t.number))  # type: ignore[operator]
    assert result.ranking[0] == result.best
    assert result.failed == len(result.trials) - len(good) > 0
    assert len(result.trials) == 8


def test_test_labels_are_read_for_the_winner_alone(found: tuple[SearchResult, Ledger]) -> None:
    result, ledger = found
    tested = ledger.rows(test=True)
    assert [row["seed"] for row in tested] == [2, 3]
    assert tested == result.final
    assert all(row["settings"] == {**SPACE.fixed, **result.best.settings} for row in tested)
    assert all(row["test_accuracy"] is None for row in ledger.rows(test=False))
    assert {row["seed"] for row in ledger.rows(test=False)} == {0, 1}
    assert "no test label read" in result.protocol
    assert "seeds 0 to 1" in result.protocol
    assert "seeds 2 to 3" in result.protocol


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 9])
def test_killed_and_resumed(tmp_path: Path, found: tuple[SearchResult, Ledger], number: int) -> None:
    path = str(tmp_path / "ledger.sqlite")
    command = [sys.executable, "-m", "tests.experiments.search.test_run", path, "tpe"]
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if int(line) >= number:
            break
    process.kill()
    process.communicate()
    assert len(Ledger(path)) < len(found[1])
    result = small_search(path, "tpe")
    assert timeless(Ledger(path).rows()) == timeless(found[1].rows())
    assert result.trials == found[0].trials
    assert result.importances == found[0].importances


def test_a_second_search_runs_nothing(found: tuple[SearchResult, Ledger], monkeypatch: Any) -> None:
    def refuse(unit: Unit) -> None:
        raise AssertionError(f"{unit} was run again")

    monkeypatch.setattr("mcn.experiments.engine.workers.run_unit", refuse)
    assert small_search(str(found[1].path), "tpe") == found[0]


def test_a_grid(tmp_path: Path) -> None:
    told: list[tuple[int, int, Trial | None]] = []
    few = {"trials": 100, "seeds": 1, "final_seeds": 1}
    path = str(tmp_path / "ledger.sqlite")
    result = small_search(path, "grid", **few, progress=lambda *args: told.append(args))
    settings = {json.dumps(trial.settings) for trial in result.trials}
    assert len(settings) == len(result.trials) == SPACE.size == 18
    assert result.failed == 6
    assert told[-1][:2] == (19, 19)
    assert told[-1][2] == result.best
    assert all(a[0] <= b[0] for a, b in pairwise(told))


@pytest.mark.parametrize("metric", [pytest.param("roc-auc", marks=pytest.mark.slow), "log-loss"])
def test_another_metric_decides(metric: str, tmp_path: Path) -> None:
    """The runs are those of any other search; the metric is read from their rows."""
    path = tmp_path / "ledger.sqlite"
    result = small_search(str(path), "grid", trials=18, seeds=2, final_seeds=1, metric=metric)
    assert result.metric == result.to_dict()["metric"] == metric
    ledger = Ledger(path)
    for trial in result.trials:
        if trial.error is not None:
            assert trial.val_score is None
            continue
        rows = ledger.rows(test=False, settings={**SPACE.fixed, **trial.settings})
        assert [row["seed"] for row in rows] == [0, 1]
        assert trial.val_score == np.mean([row["metrics"]["val"][metric] for row in rows])
        assert trial.val_accuracy == np.mean([row["val_accuracy"] for row in rows])
    good = [trial for trial in result.trials if trial.error is None]
    assert len(good) == 12
    sign = 1 if metric == "log-loss" else -1
    order = sorted(good, key=lambda t: (sign * t.val_score, t.val_loss, t.number))  # type: ignore[operator]
    assert result.ranking == order
    assert result.best == order[0]
    most = "lowest" if metric == "log-loss" else "highest"
    assert f"the winner has the {most} mean validation {metric} and ran with" in result.protocol
    assert all("metric" not in row["settings"] for row in ledger.rows())
    assert [row["settings"] for row in result.final] == [{**SPACE.fixed, **result.best.settings}]


def test_when_everything_fails_or_a_stack_is_too_large(tmp_path: Path, monkeypatch: Any) -> None:
    bad = Space("bad", "", {"lr": (1e30,)}, SPACE.fixed, {})
    with pytest.raises(ValueError, match="all 1 trials failed; the first: the loss is"):
        search(KARATE, bad, sampler="grid", seeds=1, jobs=1, ledger=Ledger(tmp_path / "l.sqlite"))
    monkeypatch.setattr("mcn.matrices.stack.default_memory_limit", lambda: 5_000.0)
    space = Space("deep", "", {"steps": (1, 2)}, SPACE.fixed, {})
    ledger = Ledger(tmp_path / "ledger.sqlite")
    result = search(KARATE, space, sampler="grid", seeds=1, final_seeds=1, jobs=1, ledger=ledger)
    assert (result.failed, result.best.settings) == (1, {"steps": 1})
    reasons = [row["error"] for row in ledger.rows() if row["error"] is not None]
    assert len(reasons) == 1
    assert "2 motifs × 2 steps need more than memory_limit" in reasons[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, "trials must be an integer of at least 1, got 0"),
        ({"seeds": 1.5}, "seeds must be an integer of at least 1, got 1.5"),
        ({"address": "auto"}, "address 'auto' is of a Ray cluster"),
    ],
)
def test_wrong_use(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(KARATE, SPACE, **options)


@pytest.mark.parametrize(("module", "message"), [("optuna", "needs Optuna"), ("ray", "needs Ray")])
def test_missing_extras(monkeypatch: pytest.MonkeyPatch, module: str, message: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match=rf"{message}: pip install 'mcn\[search\]'"):
        search(KARATE, SPACE, engine="ray" if module == "ray" else "local", trials=1)


def test_a_grid_without_optuna(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = small_search(str(tmp_path / "ledger.sqlite"), "grid", trials=2, seeds=1, final_seeds=1)
    assert result.importances is None
    assert result.note == "the importance of settings needs Optuna: pip install 'mcn[search]'"


if __name__ == "__main__":  # a search in a process of its own: LEDGER SAMPLER; prints the number of runs done
    small_search(*sys.argv[1:], progress=lambda done, total, best: print(done, flush=True))
