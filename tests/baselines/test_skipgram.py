from __future__ import annotations

import numpy as np

from mcn.baselines._skipgram import _SLOTS, _learn, _slots, skip_gram
from mcn.nn._rng import derive
from tests.baselines.graphs import block_task


def test_a_seed_is_a_run_and_nodes_that_meet_are_alike() -> None:
    task = block_task()
    vectors, contexts = skip_gram(task, 0, 16, 5)
    assert vectors.shape == contexts.shape == (150, 16)
    np.testing.assert_array_equal(vectors, skip_gram(task, 0, 16, 5)[0])
    assert not np.array_equal(vectors, skip_gram(task, 1, 16, 5)[0])
    score = vectors @ contexts.T
    a, b = task.edge_index
    assert score[a, b].mean() > score.mean() + 1.5 * score.std()


def test_slots_follow_the_power_of_the_counts() -> None:
    slots = _slots(np.repeat([0, 1, 3], [1, 16, 81])[None])
    share = np.bincount(slots, minlength=4) / len(slots)
    np.testing.assert_allclose(share, np.array([1, 8, 0, 27]) / 36, atol=1e-5)


def test_one_walk_by_hand() -> None:
    """Two nodes: each predicts the other, against negatives that all are node 2."""
    rng, key = np.random.default_rng(0), derive(5, 0)
    vectors, contexts = (rng.normal(size=(3, 5)).astype(np.float32) * 0.3 for _ in range(2))
    expected = vectors.astype(float), contexts.astype(float)
    sigma = (1 / (1 + np.exp(-((np.arange(1024) + 0.5) * 12 / 1024 - 6)))).astype(np.float32)
    _learn(
        np.array([[0, 1]]),
        1,
        np.full(_SLOTS, 2),
        sigma,
        np.uint64(key),
        vectors,
        contexts,
        np.empty((1, 5), np.float32),
    )
    v, c = expected
    for place, (centre, near) in enumerate([(0, 1), (1, 0)]):
        rate, change = 0.025 * (1 - place / 2), 0.0
        for target, label in [(centre, 1), *[(2, 0)] * 5]:
            slope = (label - 1 / (1 + np.exp(-(v[near] @ c[target])))) * rate
            change = change + slope * c[target]
            c[target] += slope * v[near]
        v[near] += change
    # The table has σ to three digits.
    np.testing.assert_allclose(vectors, v, atol=2e-4)
    np.testing.assert_allclose(contexts, c, atol=5e-4)
