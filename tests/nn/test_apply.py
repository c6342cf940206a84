"""Running operations with and without autograd."""

from __future__ import annotations

import torch

from mcn.nn.linear import linear


def test_same_numbers_with_and_without_gradients() -> None:
    x, w = torch.randn(6, 4), torch.randn(4, 3, requires_grad=True)
    tracked = linear(x, w)
    with torch.no_grad():
        untracked = linear(x, w)
    assert tracked.requires_grad
    assert not untracked.requires_grad
    assert torch.equal(tracked, untracked)
