from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mcn.baselines._twin_extend import PENALTY, WEIGHT, candidates, extend
from tests.baselines.copies import contacts, matrix

PATHS = np.array([[0, 1], [1, 2], [3, 4], [4, 5]])
TRIANGLE = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5]])


def extended(pairs: Any, seed: tuple[int, int], similar: Any = None, most: int = 9) -> Any:
    n = int(pairs.max()) + 1
    similar = np.zeros((n, n), np.float32) if similar is None else similar
    found = extend(matrix(pairs, n), similar, np.array([seed[0]]), np.array([seed[1]]), most)
    return list(zip(found.row.tolist(), found.column.tolist(), strict=True)), found


def test_two_equal_paths() -> None:
    pairs, found = extended(PATHS, (0, 3))
    assert pairs == [(0, 3), (1, 4), (2, 5)]
    assert found.score.tolist() == [2.0]
    assert found.size.tolist() == [3]
    assert found.local.tolist() == [1.0, 1.0, 1.0]


def test_an_edge_that_is_not_conserved() -> None:
    """A triangle on a path, from the middle: 1 for the second pair, 1 - 0.5 for the third."""
    pairs, found = extended(TRIANGLE, (1, 4))
    assert pairs == [(1, 4), (0, 3), (2, 5)]
    assert found.score.tolist() == [1.5]
    assert found.local.tolist() == [1.0, 0.5, 0.5]


def test_similarity_decides_between_equals() -> None:
    similar = np.zeros((6, 6), np.float32)
    similar[0, 5] = 0.1
    assert extended(TRIANGLE, (1, 4), similar)[0] == [(1, 4), (0, 5), (2, 3)]


def test_pairs_that_must_not_be_matched() -> None:
    similar = np.zeros((6, 6), np.float32)
    similar[1, 4] = -np.inf
    assert extended(PATHS, (0, 3), similar)[0] == [(0, 3)]
    assert extended(PATHS, (0, 3), similar)[1].local.tolist() == [0.0]


def test_no_more_pairs_than_asked_for() -> None:
    assert extended(PATHS, (0, 3), most=2)[0] == [(0, 3), (1, 4)]


def brute(a: Any, similar: Any, seed: tuple[int, int], most: int) -> tuple[list[tuple[int, int]], float, Any]:
    """The same by definition: every pair that is not matched is looked at in every step."""
    pairs, score, n = [seed], 0.0, len(a)
    while len(pairs) < most:
        left, right = np.array(pairs).T
        conserved = a[:, left] @ a[right]
        lost = a[:, left].sum(1)[:, None] + a[:, right].sum(1) - 2 * conserved
        gain = conserved - PENALTY * lost
        value = np.where(conserved > 0, gain + WEIGHT * similar, -np.inf)
        value[left], value[:, right] = -np.inf, -np.inf
        if value.max() == -np.inf:
            break
        best = tuple(int(i) for i in np.unravel_index(value.argmax(), (n, n)))
        score += gain[best]
        pairs.append((best[0], best[1]))
    left, right = np.array(pairs).T
    both = (a[np.ix_(left, left)] * a[np.ix_(right, right)]).sum(1)
    return pairs, score, both / (a.sum(1)[left] + a.sum(1)[right] - both)


@pytest.mark.parametrize("seed", range(4))
def test_every_step_is_the_best_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = matrix(contacts(50, seed), 50)
    similar = rng.standard_normal((50, 50)).astype(np.float32)  # no ties
    similar[rng.random((50, 50)) < 0.2] = -np.inf
    some = np.flatnonzero(a.sum(1))
    left, right = rng.choice(some, 12), rng.choice(some, 12)
    found = extend(a, similar, left, right, 20)
    end = np.cumsum(found.size)
    for s, (u, v) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        pairs, score, local = brute(a.toarray(), similar, (u, v), 20)
        part = slice(end[s] - found.size[s], end[s])
        assert list(zip(found.row[part].tolist(), found.column[part].tolist(), strict=True)) == pairs
        assert found.score[s] == pytest.approx(score)
        np.testing.assert_allclose(found.local[part], local, rtol=1e-6)


def test_room_for_the_candidates() -> None:
    assert candidates(np.array([1, 3, 2]), 2) == 1 + min(9 + 4, 9)
    assert candidates(np.array([1, 2, 1, 0, 0]), 9) == 1 + 6


def test_hubs_are_refused() -> None:
    star = np.stack([np.zeros(4500, np.int64), np.arange(1, 4501)], axis=1)
    with pytest.raises(ValueError, match=r"up to 4,500 neighbours.*at most 20,000,000.*another baseline"):
        extend(matrix(star, 4501), np.zeros((1, 1), np.float32), np.array([1]), np.array([2]), 40)
