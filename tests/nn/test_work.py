"""Running kernels: sharing work between threads, with and without autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mcn.nn._work import spread
from mcn.nn.linear import linear
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


def test_same_numbers_with_and_without_gradients() -> None:
    x, w = torch.randn(6, 4), torch.randn(4, 3, requires_grad=True)
    tracked = linear(x, w)
    with torch.no_grad():
        untracked = linear(x, w)
    assert tracked.requires_grad
    assert not untracked.requires_grad
    assert torch.equal(tracked, untracked)
