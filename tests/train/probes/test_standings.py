"""How candidates stand."""

from __future__ import annotations

from typing import Any

import pytest
from mcn.train.probes.rounds import Rounds
from mcn.train.probes.standings import clearly_above, several_behind, standings


def runs(**scores: list[float | None]) -> list[dict[str, Any]]:
    return [
        {"candidate": name, "round": number, "held_out": value, "seconds": 2.0 * number}
        for name, own in scores.items()
        for number, value in enumerate(own)
        if value is not None
    ]


def test_the_best_mean_first_and_pairs_over_what_both_have() -> None:
    found = standings(runs(mlp=[0.5, 0.7], gcn=[0.6, 0.9, 0.9]), Rounds(3, 0), ["mlp", "gcn"])
    assert [row["candidate"] for row in found] == ["gcn", "mlp"]
    assert [row["score"] for row in found] == pytest.approx([0.8, 0.6])
    assert found[1]["behind"] == pytest.approx(0.2)
    assert found[1]["pairs"] == 2
    assert found[1]["behind_error"] == pytest.approx(0.05)  # of 0.1 and 0.2
    assert found[0]["behind_error"] is None
    assert [row["runs"] for row in found] == [3, 2]
    assert found[0]["seconds_per_run"] == 2.0


def test_of_equals_the_cheaper_one() -> None:
    found = standings(runs(gat=[0.5], gcn=[0.5]), Rounds(1, 0), ["mlp", "gcn", "gat"])
    assert [row["candidate"] for row in found] == ["gcn", "gat"]


def test_clear_by_the_runs_themselves() -> None:
    rounds, order = Rounds(2, 3), ["a", "b"]
    near, far = [0.7, 0.9, 0.6, 0.8], [0.6, 0.6, 0.5, 0.6]
    (_, two) = standings(runs(a=[0.8, 0.8, 0.8], b=far[:2]), rounds, order)
    assert not several_behind(two)  # two pairs say little
    (_, row) = standings(runs(a=[0.8] * 4, b=far), rounds, order)
    assert several_behind(row)
    (best, row) = standings(runs(a=[0.8] * 4, b=near), rounds, order)
    assert not several_behind(row)
    assert not several_behind(best)


def test_a_perfect_leader_on_few_nodes() -> None:
    assert not clearly_above(1.0, 28 / 29, 29)
    assert clearly_above(1.0, 0.5, 29)
    assert not clearly_above(0.8, 0.8, 1000)
