"""The sparse input layer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mcn.nn import plain
from mcn.nn.sparse_linear import sparse_linear
from tests.nn.graphs import grads, random_features, threads


@pytest.mark.parametrize("p", [0.0, 0.6])
def test_equals_the_plain_path(p: float) -> None:
    x = random_features(40, 30, 1)
    w = torch.randn(30, 10, requires_grad=True)
    fused, reference = sparse_linear(x, w, p, 17), plain.sparse_linear(x, w, p, 17)
    assert torch.allclose(fused, reference, atol=1e-5)
    assert torch.allclose(grads(fused, w)[0], grads(reference, w)[0], atol=1e-5)


def test_without_dropout_it_is_the_dense_product() -> None:
    x = random_features(12, 20, 2)
    w = torch.randn(20, 5, requires_grad=True)
    dense = x.to_torch(torch.device("cpu")).to_dense()
    assert torch.allclose(sparse_linear(x, w), dense @ w, atol=1e-5)
    assert torch.allclose(grads(sparse_linear(x, w), w)[0], grads(dense @ w, w)[0], atol=1e-5)


def test_gradcheck() -> None:
    x = random_features(9, 8, 3, np.float64)
    w = torch.randn(8, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: sparse_linear(x, w, 0.4, 6), (w,))


def test_dropout_keeps_the_expectation() -> None:
    x = random_features(5, 40, 4)
    w = torch.randn(40, 3)
    mean = torch.stack([sparse_linear(x, w, 0.5, key * 7919) for key in range(4000)]).mean(0)
    assert torch.allclose(mean, sparse_linear(x, w), atol=0.25)


def test_bits_do_not_depend_on_threads() -> None:
    x = random_features(4000, 300, 5)
    w = torch.randn(300, 32, requires_grad=True)
    results = []
    for count in (1, 2, 3):
        with threads(count):
            out = sparse_linear(x, w, 0.6, 5)
            results.append((out, grads(out, w)[0]))
    for out, grad in results[1:]:
        assert torch.equal(out, results[0][0])
        assert torch.equal(grad, results[0][1])
