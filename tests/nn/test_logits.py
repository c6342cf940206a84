"""Attention logits per node and head."""

from __future__ import annotations

import torch

from mcn.nn import logits, plain
from tests.nn.graphs import grads, threads


def test_equals_torch_and_gradcheck() -> None:
    z = torch.randn(14, 3, 5, dtype=torch.float64, requires_grad=True)
    a, b = (torch.randn(3, 5, dtype=torch.float64, requires_grad=True) for _ in range(2))
    for mine, theirs in zip(logits.head_logits(z, a, b, 6), plain.head_logits(z, a, b, 6), strict=True):
        assert torch.allclose(mine, theirs)
    assert torch.autograd.gradcheck(lambda z, a, b: logits.head_logits(z, a, b, 6), (z, a, b))


def test_bits_do_not_depend_on_threads() -> None:
    z = torch.randn(20_000, 8, 32, requires_grad=True)
    a, b = (torch.randn(8, 32, requires_grad=True) for _ in range(2))
    results = []
    for count in (1, 2):
        with threads(count):
            src, dst = logits.head_logits(z, a, b, 15_000)
            results.append([src, dst, *grads(torch.cat([src, dst]), z, a, b)])
    assert all(torch.equal(x, y) for x, y in zip(*results, strict=True))
