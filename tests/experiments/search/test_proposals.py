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
    pytest.importorskip("optuna", reason="Optuna is not installed (pip install 'mcn[search]')")
    space = Space("s", "", {"lr": (0.1, 0.2), "dropout": (0.1, 0.2, 0.3), "steps": (1,)}, {}, {})
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    tried: list[tuple[dict[str, Any], float]] = [
        ({"lr": lr, "dropout": dropout, "steps": 1}, lr + dropout / 1000)
        for lr in (0.1, 0.2)
        for dropout in (0.1, 0.2, 0.3)
    ]
    shares = importances(space, tried)
    assert list(shares) == ["lr", "dropout"]
    assert shares["lr"] > 0.95
    assert sum(shares.values()) == pytest.approx(1)
    with pytest.raises(ValueError, match="the trials do not differ"):
        importances(space, tried[:1])
