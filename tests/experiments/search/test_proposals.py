"""What a search tries, and what of it mattered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcn.experiments.search import Space, load_space
from mcn.experiments.search.proposals import Grid, importances


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
