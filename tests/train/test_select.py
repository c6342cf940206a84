"""What a selection decides by: calibration, blend, folds and standings."""

from typing import Any

import numpy as np
import pytest
import torch

from mcn.train.held_out import FOLDS
from mcn.train.problem import Known
from mcn.train.select.blend import blend, blend_gain, calibrated, held_out_blend
from mcn.train.select.judge import BLEND, ONE, HeldOutScores, Judge
from mcn.train.select.schedule import clearly_above, several_behind, standings
from mcn.train.tasks import Classes

# Calibration and blends.

THREE = Classes(3)


def softened(logits: np.ndarray, temperature: float) -> np.ndarray:
    return THREE.calibrated(np.exp(logits), temperature)


def test_the_temperature_is_found_again_and_a_folds_labels_do_not_decide_it_or_a_blend() -> None:
    draw = np.random.default_rng(0)
    given = np.exp(draw.standard_normal((5000, 4)))
    labels = np.array([draw.choice(4, p=p) for p in Classes(4).calibrated(given, 0.1)])
    assert Classes(4).temperature(given, labels) == pytest.approx(0.1, rel=0.25)
    draw = np.random.default_rng(1)
    given, fold = np.exp(3 * draw.standard_normal((100, 3))), np.arange(100) % 5
    labels = given.argmax(1)
    changed = np.where(fold == 2, (labels + 1) % 3, labels)
    probabilities = some_candidates(100, 9)[0]
    for make in (
        lambda labels: calibrated(THREE, given, labels, fold),
        lambda labels: held_out_blend(THREE, probabilities, labels, fold),
    ):
        first, second = make(labels), make(changed)
        np.testing.assert_array_equal(first[fold == 2], second[fold == 2])
        assert not np.array_equal(first, second)
        np.testing.assert_allclose(first.sum(1), 1.0)


def some_candidates(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four candidates that know something of the labels, each with noise of its own."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 3, count)
    scores = draw.standard_normal((4, count, 3)) + np.eye(3)[labels] * [[[0.3]], [[1.0]], [[1.5]], [[0.0]]]
    return np.stack([THREE.calibrated(np.exp(each), 1.0) for each in scores]), labels


@pytest.mark.parametrize("seed", range(5))
def test_a_blend_is_near_the_best_there_is(seed: int) -> None:
    """Against all shares on a grid: greedy steps of a twentieth end near the best."""
    probabilities, labels = some_candidates(200, seed)

    def log_loss(shares: np.ndarray) -> float:
        mixed = np.tensordot(shares, probabilities, 1)
        return float(-np.log(mixed[np.arange(len(labels)), labels]).mean())

    shares = blend(THREE, probabilities, labels)
    assert shares.sum() == pytest.approx(1.0)
    tenths = [(a, b, c, 10 - a - b - c) for a in range(11) for b in range(11 - a) for c in range(11 - a - b)]
    assert log_loss(shares) <= min(log_loss(np.array(each) / 10) for each in tenths) + 2e-3
    assert log_loss(shares) <= min(log_loss(alone) for alone in np.eye(4))


def share_right(probabilities: np.ndarray, labels: np.ndarray) -> float:
    return float((probabilities.argmax(1) == labels).mean())


def test_a_blend_is_better_where_candidates_err_by_themselves_and_not_where_one_is_right() -> None:
    """Five candidates that know as much, each with errors of its own; then one that knows among guesses."""
    draw = np.random.default_rng(5)
    labels = draw.integers(0, 3, 300)
    true = np.eye(3)[labels]
    even = np.stack([softened(true + draw.standard_normal((300, 3)), 0.7) for _ in range(5)])
    assert blend_gain(THREE, even, labels, share_right, 0) > 0.1
    odd = np.stack([softened(true * (c == 0) + 0.3 * draw.standard_normal((300, 3)), 0.1) for c in range(5)])
    assert blend_gain(THREE, odd, labels, share_right, 0) <= 0.0


def test_the_best_of_many_guesses_is_not_flattered() -> None:
    """On the nodes it was picked on it would be ahead of the blend by several points; on others it is not."""
    draw = np.random.default_rng(6)
    labels = draw.integers(0, 2, 60)
    guesses = draw.dirichlet([1.0, 1.0], (40, 60))
    best = max(share_right(each, labels) for each in guesses)
    fair = [blend_gain(THREE, guesses, labels, share_right, seed) for seed in range(5)]
    assert best - share_right(guesses.mean(0), labels) > 0.1
    assert abs(np.mean(fair)) < 0.15


# What the judge makes of it.


def decided(logits: Any, labels: np.ndarray, winner: str, metric: str = "accuracy") -> Any:
    judge = Judge(THREE, labels, metric, seed=0)
    held = {name: THREE.calibrated(np.exp(each), 1.0) for name, each in logits.items()}
    return judge.decide(list(logits), winner, HeldOutScores(np.arange(len(labels)), labels, held))


def test_the_judge_takes_one_candidate_where_the_others_add_nothing() -> None:
    labels = np.random.default_rng(7).integers(0, 3, 400)
    logits = {"gcn": 2.0 * np.eye(3)[labels], "gat": np.zeros((400, 3))}
    for candidates in (logits, {"gcn": logits["gcn"]}):
        decision = decided(candidates, labels, "gcn")
        assert decision.to_dict() == {"winner": "gcn", "mode": ONE, "blend": None}
        assert decision.shares == {"gcn": 1.0}


def test_the_judge_blends_candidates_that_err_by_themselves() -> None:
    draw = np.random.default_rng(8)
    labels = draw.integers(0, 3, 400)
    logits = {name: np.eye(3)[labels] + draw.standard_normal((400, 3)) for name in ("mlp", "gcn", "gat")}
    for metric in ("accuracy", "roc-auc"):
        decision = decided(logits, labels, "gcn", metric=metric)
        assert decision.mode == BLEND
        assert decision.shares == decision.to_dict()["blend"]
        assert sum(decision.shares.values()) == pytest.approx(1.0)


# Runs on the given parts and on folds.


def test_both_parts_are_cut_into_folds_class_by_class() -> None:
    labels = torch.tensor([0] * 10 + [1] * 10 + [-1] * 3 + [2])
    given = Known(labels, np.array([*range(8), *range(10, 18)]), np.array([8, 9, 18, 19, 23]), THREE, True)
    assert given.has_folds
    folds = [given.fold(7, number) for number in range(FOLDS)]
    everything = [*range(20), 23]  # nodes 20 to 22 are for testing
    assert sorted(np.concatenate([fold.val for fold in folds]).tolist()) == everything
    for fold in folds:
        assert sorted([*fold.train, *fold.val]) == everything
        assert np.bincount(labels.numpy()[fold.val], minlength=2)[:2].tolist() == [2, 2]
        assert fold.labels is labels
    assert not np.array_equal(given.fold(8, 0).val, folds[0].val)
    fewer = given._replace(train=given.val, val=given.train)
    assert not fewer.has_folds  # somebody wants to know what few labels teach
    rare = torch.tensor([0] * 20 + [1] * 4)
    lone = Known(rare, np.arange(16), np.arange(16, 24), THREE, True)
    assert not lone.has_folds  # a fold would have one class alone


# How candidates stand.


def runs(**scores: list[float]) -> list[dict[str, Any]]:
    return [
        {"candidate": name, "round": number, "held_out": value, "processor_seconds": 2.0 * number}
        for name, own in scores.items()
        for number, value in enumerate(own)
    ]


def test_the_best_mean_is_first() -> None:
    found = standings(runs(mlp=[0.5, 0.7], gcn=[0.6, 0.9, 0.9]), ["mlp", "gcn"])
    assert [row["candidate"] for row in found] == ["gcn", "mlp"]
    assert [row["score"] for row in found] == pytest.approx([0.8, 0.6])
    assert found[1]["behind"] == pytest.approx(0.2)
    assert found[1]["pairs"] == 2
    assert found[1]["behind_error"] == pytest.approx(0.05)  # of 0.1 and 0.2
    assert found[0]["behind_error"] is None
    assert [row["runs"] for row in found] == [3, 2]
    assert found[0]["seconds_per_run"] == 2.0
    equal = standings(runs(gat=[0.5], gcn=[0.5]), ["mlp", "gcn", "gat"])
    assert [row["candidate"] for row in equal] == ["gcn", "gat"]  # of equals the cheaper one


def test_clear_by_the_runs_themselves() -> None:
    order = ["a", "b"]
    near, far = [0.7, 0.9, 0.6, 0.8], [0.6, 0.6, 0.5, 0.6]
    (_, two) = standings(runs(a=[0.8, 0.8, 0.8], b=far[:2]), order)
    assert not several_behind(two)  # two pairs say little
    (_, row) = standings(runs(a=[0.8] * 4, b=far), order)
    assert several_behind(row)
    for row in standings(runs(a=[0.8] * 4, b=near), order):
        assert not several_behind(row)
    assert not clearly_above(1.0, 28 / 29, 29)  # a perfect leader on few nodes
    assert clearly_above(1.0, 0.5, 29)
    assert not clearly_above(0.8, 0.8, 1000)
