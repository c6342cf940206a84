from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from studies.search.effects import effects

MOTIFS = [["edge"], ["edge", "triangle"], ["edge", "4-clique"], ["edge", "triangle", "4-clique"]]


def planted() -> list[tuple[dict[str, Any], float]]:
    """Every combination: the triangle adds 0.1, the smaller rate 0.02, steps and 4-clique nothing."""
    tried = []
    for motifs, steps, lr in product(MOTIFS, (1, 2, 3), (0.05, 0.005)):
        score = 0.6 + 0.1 * ("triangle" in motifs) + 0.02 * (lr == 0.005)
        tried.append(({"motifs": motifs, "steps": steps, "lr": lr}, score))
    return tried


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


def test_failures_and_repetitions_do_not_count() -> None:
    tried = planted()
    assert effects([*tried, (tried[0][0], None), tried[3]]) == effects(tried)


def test_a_setting_with_one_value_has_no_effect() -> None:
    tried = [({"lr": 0.1, "steps": k}, 0.5) for k in (1, 2)]
    assert {each.setting for each in effects(tried)} == {"steps"}
