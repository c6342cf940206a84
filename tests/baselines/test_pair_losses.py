"""Losses over pairs of rows, beside the same by torch's autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit

from mcn.baselines._pair_losses import context_loss, pair_loss


@pytest.mark.parametrize("width", [2, 8, 13])
def test_distances_and_their_gradient(width: int) -> None:
    h = torch.randn(20, width, generator=torch.Generator().manual_seed(width)).mul_(0.4).requires_grad_()
    near, far = torch.randint(20, (2, 30)), torch.randint(20, (2, 50))
    far[:, 0] = 3  # a node with itself
    ours = pair_loss(h, near, far, 1.0)
    together = (h[near[0]] - h[near[1]]).square().sum(1).mean()
    apart = ((h[far[0]] - h[far[1]]).square().sum(1) + 1e-12).sqrt()
    expected = together + (1.0 - apart).clamp_min(0).square().mean()
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)
    (own,), (other,) = (torch.autograd.grad(3 * loss, h) for loss in (ours, expected))
    torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-6)


def test_contexts_by_hand() -> None:
    e, c = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0], [0.5, 1.0]])
    loss = context_loss(e, c, torch.tensor([0]), torch.tensor([0]), torch.tensor([[1, 1]]))
    assert float(loss) == pytest.approx(-np.log(expit(1.0)) - 2 * np.log(expit(-2.5)), rel=1e-5)


@pytest.mark.parametrize("scale", [0.5, 40.0])
def test_contexts_and_their_gradient(scale: float) -> None:
    """With a large scale most pairs lie where a plain exponential would overflow."""
    generator = torch.Generator().manual_seed(0)
    e = torch.randn(6, 11, generator=generator).mul_(scale).requires_grad_()
    c = torch.randn(9, 11, generator=generator).requires_grad_()
    node, near, far = torch.randint(6, (25,)), torch.randint(9, (25,)), torch.randint(9, (25, 5))
    ours = context_loss(e, c, node, near, far)
    positive = torch.nn.functional.logsigmoid((e[node] * c[near]).sum(1))
    negative = torch.nn.functional.logsigmoid(-(e[node][:, None] * c[far]).sum(2)).sum(1)
    expected = -(positive + negative).mean()
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)
    for own, other in zip(*(torch.autograd.grad(loss, (e, c)) for loss in (ours, expected)), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-5)
