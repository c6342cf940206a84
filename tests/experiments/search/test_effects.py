"""What a search tries, what of it mattered, and the page that says so."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

from mcn.experiments.search import SearchResult, Space, Trial, effects, load_space, summary
from mcn.experiments.search.proposals import Grid, importances
from tests.configs import MCNConfig

MOTIFS = [["edge"], ["edge", "triangle"], ["edge", "4-clique"], ["edge", "triangle", "4-clique"]]


def planted() -> list[Trial]:
    """Every combination: the triangle adds 0.1, the smaller rate 0.02, steps and 4-clique nothing."""
    trials = []
    for number, (motifs, steps, lr) in enumerate(product(MOTIFS, (1, 2, 3), (0.05, 0.005))):
        score = 0.6 + 0.1 * ("triangle" in motifs) + 0.02 * (lr == 0.005)
        settings: dict[str, Any] = {"motifs": motifs, "steps": steps, "lr": lr}
        trials.append(Trial(number, settings, score, 1.0, None, score))
    return trials


def test_a_planted_effect_is_found() -> None:
    found = {(each.setting, each.value): each for each in effects(planted())}
    assert set(found) == {
        *(("motifs", f"{how} {motif}") for how in ("with", "without") for motif in ("triangle", "4-clique")),
        *(("steps", str(steps)) for steps in (1, 2, 3)),
        *(("lr", value) for value in ("0.05", "0.005")),
    }
    assert found["motifs", "with triangle"].mean == pytest.approx(0.71)
    assert found["motifs", "without triangle"].mean == pytest.approx(0.61)
    assert found["motifs", "with 4-clique"].mean == pytest.approx(0.66)
    assert found["motifs", "without 4-clique"].mean == pytest.approx(0.66)
    assert [found["steps", str(k)].mean for k in (1, 2, 3)] == pytest.approx([0.66] * 3)
    assert found["lr", "0.005"].mean - found["lr", "0.05"].mean == pytest.approx(0.02)
    assert found["lr", "0.005"].trials == 12
    assert found["lr", "0.005"].best == pytest.approx(0.72)
    assert found["lr", "0.05"].error == pytest.approx(0.05 * np.sqrt(12 / 11) / np.sqrt(12))


def test_failures_repetitions_and_later_rungs_do_not_count() -> None:
    trials = planted()
    more = [
        Trial(24, trials[0].settings, None, None, "too large"),
        Trial(25, trials[3].settings, 0.99, 1.0, None, trials[3].val_score),
        Trial(3, trials[3].settings, 0.99, 1.0, None, 0.99, 1),
    ]
    assert effects([*trials, *more]) == effects(trials)
    constant = [Trial(0, {"lr": 0.1, "steps": k}, 0.5, 1.0, None, 0.5) for k in (1, 2)]
    assert {each.setting for each in effects(constant)} == {"steps"}  # a setting with one value has none


def test_the_page() -> None:
    trials = planted()
    best = trials[9]
    final = [{"seed": 1, "test_accuracy": 0.7}, {"seed": 2, "test_accuracy": 0.8}]
    shares = {"motifs": 0.9, "lr": 0.1}
    result = SearchResult(
        "karate", "planted", "grid", tuple(trials), best, MCNConfig(), final, shares, None, "24 trials"
    )
    page = summary(result, best=1)
    assert "motifs 90%, lr 10%" in page
    assert "| motifs: with triangle | 71.0 ± 0.3 | 72.0 | 12 |" in page
    assert "| steps: 3 | 66.0 ± 1.9 | 72.0 | 8 |" in page
    assert "| 7 | 72.0 | 0 | edge, triangle | 1 | 0.005 |" in page
    assert "Test accuracy of trial 9: 75.0 ± 7.1 % over 2 runs." in page


def test_a_grid_has_every_combination_once() -> None:
    space = load_space("quick")
    grid = Grid(space, 1)
    first = grid.ask(10)
    seen = {json.dumps(settings) for settings in [*first, *grid.ask(100)]}
    assert len(seen) == space.size == 4 * 3 * 2
    assert grid.ask(1) == []
    assert Grid(space, 1).ask(10) == first
    assert Grid(space, 2).ask(10) != first
    assert list(first[0]) == list(space.settings)


def test_importances() -> None:
    """By hand: lr varies by 0.05², dropout by (0.1² + 0 + 0.1²) / 3, its effect a tenth of that of lr."""
    space = Space("s", "", {"lr": (0.1, 0.2), "dropout": (0.1, 0.2, 0.3), "steps": (1,)}, {}, {})
    tried: list[tuple[dict[str, Any], float]] = [
        ({"lr": lr, "dropout": dropout, "steps": 1}, lr + dropout / 10)
        for lr in (0.1, 0.2)
        for dropout in (0.1, 0.2, 0.3)
    ]
    shares = importances(space, tried)
    assert list(shares) == ["lr", "dropout"]
    lr, dropout = 0.05**2, 0.02 / 3 / 100
    assert list(shares.values()) == pytest.approx([lr / (lr + dropout), dropout / (lr + dropout)])
    with pytest.raises(ValueError, match="the trials do not differ"):
        importances(space, tried[:1])
    space = Space("s", "", {"lr": (0.1, 0.2), "dropout": (0.1, 0.2)}, {}, {})
    interplay = [({"lr": a, "dropout": b}, float(a == b)) for a in (0.1, 0.2) for b in (0.1, 0.2)]
    assert importances(space, interplay) == {"lr": 0, "dropout": 0}


def test_a_forest_where_combinations_are_missing() -> None:
    pytest.importorskip("optuna", reason="Optuna is not installed (pip install 'mcn[search]')")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    values = tuple(float(value) for value in range(8))
    space = Space("s", "", {"lr": values, "dropout": values}, {}, {})
    tried = [({"lr": a, "dropout": b}, 2 * a + b) for a in values for b in values]
    whole, partial = importances(space, tried), importances(space, tried[:20] + tried[21:])
    assert whole == pytest.approx({"lr": 0.8, "dropout": 0.2})
    assert partial == pytest.approx(whole, abs=0.1)


def test_too_few_trials_for_a_setting_with_many_values() -> None:
    space = Space("s", "", {"lr": tuple(range(1, 10)), "dropout": tuple(range(10))}, {}, {})
    tried = [({"lr": lr, "dropout": 1}, lr / 10) for lr in range(1, 10)]
    with pytest.raises(ValueError, match="lr has 9 values, too many for 9 trials to say what mattered"):
        importances(space, tried)
