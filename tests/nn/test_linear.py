"""Dense products with a fixed order of summation."""

from __future__ import annotations

import pytest
import torch

from mcn.nn import linear, plain
from tests.nn.graphs import grads, threads


@pytest.mark.parametrize(("n", "f", "c"), [(1, 1, 1), (70, 9, 2), (130, 64, 7), (33, 19, 40), (0, 5, 3)])
@pytest.mark.parametrize("p", [0.0, 0.6])
def test_equals_torch(n: int, f: int, c: int, p: float) -> None:
    torch.manual_seed(n)
    x = torch.randn(n, f, requires_grad=True)
    w = torch.randn(f, c, requires_grad=True)
    fused, reference = linear.linear(x, w, p, 99), plain.linear(x, w, p, 99)
    assert torch.allclose(fused, reference, atol=1e-5)
    for mine, theirs in zip(grads(fused, x, w), grads(reference, x, w), strict=True):
        assert torch.allclose(mine, theirs, atol=1e-4)


def test_gradcheck() -> None:
    x = torch.randn(11, 9, dtype=torch.float64, requires_grad=True)
    w = torch.randn(9, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w: linear.linear(x, w, 0.5, 4), (x, w))
    b = torch.randn(9, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(linear.add_bias, (x, b))
    assert torch.autograd.gradcheck(lambda x: linear.dropout(x, 0.4, 5), (x,))


def test_dropout_masks_match_the_plain_path() -> None:
    x = torch.randn(13, 7)
    assert torch.equal(linear.dropout(x, 0.6, 123), plain.dropout(x, 0.6, 123))
    assert linear.dropout(x, 0.0, 123) is x


def test_bits_do_not_depend_on_threads() -> None:
    torch.manual_seed(0)
    x, w = torch.randn(3000, 100, requires_grad=True), torch.randn(100, 24, requires_grad=True)
    results = []
    for count in (1, 2, 3):
        with threads(count):
            out = linear.linear(x, w, 0.5, 8)
            results.append([out, *grads(out, x, w)])
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))
