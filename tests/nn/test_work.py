"""Sharing work between threads."""

from __future__ import annotations

import numpy as np
import pytest

from mcn.nn._work import spread
from tests.nn.graphs import threads


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
@pytest.mark.parametrize("balanced", [False, True])
def test_every_position_once(count: int, size: int, balanced: bool) -> None:
    seen = np.zeros(size, np.int64)
    indptr = np.concatenate([[0], np.cumsum(np.arange(size) % 5)]) if balanced else None

    def work(start: int, stop: int) -> None:
        seen[start:stop] += 1

    with threads(count):
        spread(work, size, 10**9, indptr)
    assert (seen == 1).all()
