"""Choosing by full information: calibration, rewards, the regressions, and what choosing is worth."""

from __future__ import annotations

import numpy as np
import pytest
from mcn.train.probes.choose import (
    PENALTIES,
    Ridge,
    assess,
    best_temperature,
    blend,
    blend_gain,
    calibrated,
    fit_chooser,
    held_out_blend,
    rewards,
    structure,
    tempered,
)


def planted(
    count: int, share: float, seed: int, right: float = 0.9, wrong: float = 0.4
) -> tuple[np.ndarray, np.ndarray]:
    """A state whose sign says which of two candidates is mostly right; `share` of nodes have it positive."""
    draw = np.random.default_rng(seed)
    kind = draw.random(count) < share
    state = np.column_stack([np.where(kind, 1.0, -1.0) + 0.1 * draw.standard_normal(count)])
    state = np.column_stack([state, draw.standard_normal((count, 3))])
    chance = np.where(kind[:, None], [right, wrong], [wrong, right])
    return state, (draw.random((count, 2)) < chance).astype(np.float64)


def test_rewards_by_hand() -> None:
    first = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]])
    second = np.array([[0.1, 0.8, 0.1], [0.1, 0.2, 0.7]])
    found = rewards([first, second], np.array([0, 2]))
    np.testing.assert_allclose(found, [[(1 + 0.7) / 2, 0.1 / 2], [0.3 / 2, (1 + 0.7) / 2]])


def test_the_temperature_is_found_again() -> None:
    draw = np.random.default_rng(0)
    logits = draw.standard_normal((5000, 4))
    true = tempered(logits, 0.1)
    labels = np.array([draw.choice(4, p=p) for p in true])
    assert best_temperature(logits, labels) == pytest.approx(0.1, rel=0.25)


def test_a_folds_labels_do_not_decide_its_temperature() -> None:
    draw = np.random.default_rng(1)
    logits, fold = 3 * draw.standard_normal((60, 3)), np.arange(60) % 5
    labels = logits.argmax(1)
    changed = np.where(fold == 0, (labels + 1) % 3, labels)
    first, second = calibrated(logits, labels, fold), calibrated(logits, changed, fold)
    np.testing.assert_array_equal(first[fold == 0], second[fold == 0])
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_ridge_equals_the_normal_equations(penalty: float) -> None:
    draw = np.random.default_rng(2)
    state, reward = draw.standard_normal((50, 4)) * [1, 10, 0.1, 1] + 3, draw.random((50, 3))
    chooser = Ridge(state, reward).chooser(penalty)
    s = (state - state.mean(0)) / state.std(0)
    if np.isfinite(penalty):
        gram = s.T @ s + penalty * len(s) * np.eye(4)
        slopes = np.linalg.solve(gram, s.T @ (reward - reward.mean(0)))
    else:
        slopes = np.zeros((4, 3))
    np.testing.assert_allclose(chooser.predicted(state), s @ slopes + reward.mean(0), atol=1e-10)


def test_a_constant_column_does_no_harm() -> None:
    state, reward = planted(200, 0.5, 0)
    state[:, 1] = 7.0
    assert np.isfinite(fit_chooser(state, reward, 0).predicted(state)).all()


def test_nodes_choose_where_they_differ() -> None:
    state, right = planted(400, 0.5, 3)
    in_reward, in_right = assess(state, right, right, 0)
    assert in_reward.used
    # Whoever knows the kind is right in 90 %, whoever does not in 65 %.
    assert in_right.low < 0.25 < in_right.high
    taken = fit_chooser(state, right, 0).choose(state)
    assert ((taken == 0) == (state[:, 0] > 0)).mean() > 0.97


def test_nodes_that_do_not_differ_take_one_for_all() -> None:
    """Where the state says nothing, choosing is rarely taken up, and its gain is never far above nothing."""
    draw = np.random.default_rng(4)
    used, gains = 0, []
    for seed in range(20):
        state = draw.standard_normal((300, 6))
        right = (draw.random((300, 3)) < [0.6, 0.55, 0.5]).astype(np.float64)
        _, found = assess(state, right, right, seed)
        used += found.used
        gains.append(found.gain)
        assert found.low == 0.0
    assert used <= 4
    assert np.mean(gains) < 0.01


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.9, 1.0])
def test_the_interval_holds_the_true_room(share: float) -> None:
    """The room of a chooser that knows the kind is known here; 95 % intervals, at least 9 of 10 of them."""
    truth = 0.9 - max(share * 0.9 + (1 - share) * 0.4, share * 0.4 + (1 - share) * 0.9)
    inside = 0
    for seed in range(20):
        state, right = planted(500, share, 100 + seed)
        _, found = assess(state, right, right, seed)
        inside += found.low <= truth + 1e-9 and found.high >= truth - 1e-9
    assert inside >= 18


def test_rewards_on_fitted_nodes_would_be_caught() -> None:
    """A candidate that has memorised its labels looks perfect there; held out, it is a guess.

    Judged on what was fitted, nodes would all follow the memory; judged on held-out nodes they do not.
    """
    draw = np.random.default_rng(5)
    labels = draw.integers(0, 2, 400)
    honest = np.where((draw.random(400) < 0.75)[:, None], np.eye(2)[labels], np.eye(2)[1 - labels])
    memory, guess = np.eye(2)[labels], np.eye(2)[draw.integers(0, 2, 400)]
    state = draw.standard_normal((400, 4))
    leaking, held_out = rewards([honest, memory], labels), rewards([honest, guess], labels)
    assert (fit_chooser(state, leaking, 0).choose(state) == 1).all()
    assert (fit_chooser(state, held_out, 0).choose(state) == 0).mean() > 0.95


def test_too_few_nodes_say_nothing() -> None:
    state, right = planted(12, 0.5, 0)
    assert not assess(state, right, right, 0)[0].used


def test_structure_by_hand() -> None:
    per_node = np.zeros((3, 15), np.int64)
    per_node[0, 0], per_node[0, 3] = 4, 2
    per_node[1, 0] = 1
    found = structure(per_node)
    assert found.shape == (3, 17)
    np.testing.assert_allclose(found[:, 0], np.log1p([4, 1, 0]))
    assert found[:, 15].tolist() == [0, 0, 1]
    assert found[:, 16].tolist() == [1, 0, 0]


def random_candidates(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four candidates that know something of the labels, each with noise of its own."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 3, count)
    scores = draw.standard_normal((4, count, 3)) + np.eye(3)[labels] * [[[0.3]], [[1.0]], [[1.5]], [[0.0]]]
    return np.stack([tempered(each, 1.0) for each in scores]), labels


def log_loss(shares: np.ndarray, probabilities: np.ndarray, labels: np.ndarray) -> float:
    mixed = np.tensordot(shares, probabilities, 1)
    return float(-np.log(mixed[np.arange(len(labels)), labels]).mean())


@pytest.mark.parametrize("seed", range(5))
def test_a_blend_is_near_the_best_there_is(seed: int) -> None:
    """Against all shares on a grid: greedy steps of a twentieth end near the best."""
    probabilities, labels = random_candidates(200, seed)
    shares = blend(probabilities, labels)
    assert shares.sum() == pytest.approx(1.0)
    steps = range(11)
    grid = [
        np.array([a, b, c, 10 - a - b - c]) / 10
        for a in steps for b in steps for c in steps if a + b + c <= 10
    ]  # fmt: skip
    best = min(log_loss(each, probabilities, labels) for each in grid)
    assert log_loss(shares, probabilities, labels) <= best + 2e-3
    alone = [log_loss(each, probabilities, labels) for each in np.eye(4)]
    assert log_loss(shares, probabilities, labels) <= min(alone)


def _share_right(probabilities: np.ndarray, labels: np.ndarray) -> float:
    return float((probabilities.argmax(1) == labels).mean())


def test_a_blend_is_better_where_candidates_err_by_themselves_and_not_where_one_is_right() -> None:
    """Five candidates that know as much, each with errors of its own; then one that knows among guesses."""
    draw = np.random.default_rng(5)
    labels = draw.integers(0, 3, 300)
    true = np.eye(3)[labels]
    even = np.stack([tempered(true + draw.standard_normal((300, 3)), 0.7) for _ in range(5)])
    assert blend_gain(even, labels, _share_right, 0) > 0.1
    odd = np.stack([tempered(true * (c == 0) + 0.3 * draw.standard_normal((300, 3)), 0.1) for c in range(5)])
    assert blend_gain(odd, labels, _share_right, 0) <= 0.0


def test_the_best_of_many_guesses_is_not_flattered() -> None:
    """On the nodes it was picked on it would be ahead of the blend by several points; on others it is not."""
    draw = np.random.default_rng(6)
    labels = draw.integers(0, 2, 60)
    guesses = draw.dirichlet([1.0, 1.0], (40, 60))
    best = max(_share_right(each, labels) for each in guesses)
    fair = [blend_gain(guesses, labels, _share_right, seed) for seed in range(5)]
    assert best - _share_right(guesses.mean(0), labels) > 0.1
    assert abs(np.mean(fair)) < 0.15


def test_a_folds_labels_do_not_decide_its_blend() -> None:
    probabilities, labels = random_candidates(100, 9)
    fold = np.arange(100) % 5
    changed = np.where(fold == 2, (labels + 1) % 3, labels)
    first, second = (held_out_blend(probabilities, each, fold) for each in (labels, changed))
    np.testing.assert_array_equal(first[fold == 2], second[fold == 2])
    assert not np.array_equal(first, second)
    np.testing.assert_allclose(first.sum(1), 1.0)
