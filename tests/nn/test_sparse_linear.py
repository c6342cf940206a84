"""Sparse times dense: the input layer, and sums with fixed coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from mcn.nn import plain
from mcn.nn import sparse_linear as sparse
from mcn.nn._rng import hash32, threshold
from mcn.nn.sparse_linear import propagate
from tests.nn.graphs import assert_same_bits, dense_rows, grads, random_features, random_rows


@pytest.mark.parametrize("p", [0.0, 0.6])
@pytest.mark.parametrize(
    "matrix", [random_features(40, 30, 1), random_rows(18, 30, 0)], ids=["features", "rows"]
)
def test_equals_the_plain_path(matrix: Any, p: float) -> None:
    dense = torch.randn(30, 10, requires_grad=True)
    results = [path.propagate(dense, matrix, p, 17) for path in (sparse, plain)]
    assert torch.allclose(*results, atol=1e-5)
    assert torch.allclose(*(grads(out, dense)[0] for out in results), atol=1e-5)


@pytest.mark.parametrize("matrix", [random_features(9, 8, 3, np.float64), random_rows(7, 8, 1)])
def test_gradcheck(matrix: Any) -> None:
    dense = torch.randn(8, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: propagate(z, matrix, 0.4, 6), (dense,))


def test_rows_are_a_matrix() -> None:
    rows, z = random_rows(7, 9, 1), torch.randn(9, 4, dtype=torch.float64)
    assert torch.allclose(propagate(z, rows), torch.from_numpy(dense_rows(rows, 9)).double() @ z)


def test_bits_do_not_depend_on_threads() -> None:
    x, rows = random_features(4000, 300, 5), random_rows(600, 700, 4)
    w, z = torch.randn(300, 32, requires_grad=True), torch.randn(700, 64, requires_grad=True)

    def run() -> list[torch.Tensor]:
        product, total = propagate(w, x, 0.6, 5), propagate(z, rows, 0.5, 1)
        return [product, *grads(product, w), total, *grads(total, z)]

    assert_same_bits(run)


@pytest.mark.parametrize("p", [0.0, 0.6])
def test_sums_are_made_entry_by_entry_in_the_order_of_the_rows(p: float) -> None:
    x = random_features(7, 900, 6)  # about 180 entries a row: more than are settled together
    w = torch.randn(900, 5, requires_grad=True)
    out, key, scale = propagate(w, x, p, 17), np.uint64(17), np.float32(1.0 / (1.0 - p))
    g = np.random.default_rng(3).normal(size=(7, 5)).astype(np.float32)
    total, turned, dense = np.zeros((7, 5), np.float32), np.zeros((900, 5), np.float32), w.detach().numpy()
    for i in range(7):
        for e in range(x.indptr[i], x.indptr[i + 1]):
            if p == 0 or hash32(e, key) >= threshold(p):
                total[i] += x.values[e] * scale * dense[x.indices[e]]
                turned[x.indices[e]] += x.values[e] * scale * g[i]
    out.backward(torch.from_numpy(g))  # type: ignore[no-untyped-call]
    assert w.grad is not None
    np.testing.assert_array_equal(out.detach().numpy(), total)
    np.testing.assert_array_equal(w.grad.numpy(), turned)
