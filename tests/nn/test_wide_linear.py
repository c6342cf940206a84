"""Products with wide dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from mcn.nn import plain
from mcn.nn._rng import keep_mask
from mcn.nn.wide_linear import is_wide, wide_linear
from tests.nn.graphs import grads, threads

Array = NDArray[Any]


def _exact(x: torch.Tensor, rows: Array | None, p: float, key: int) -> Array:
    """The dropped rows in float64."""
    taken = x.detach() if rows is None else x.detach()[rows]
    kept = taken if p == 0.0 else taken * keep_mask(tuple(taken.shape), p, key, taken)
    return kept.double().numpy()


# Sizes at and around the borders of tiles (6 rows, 16 or 8 columns), groups (96) and blocks (256).
@pytest.mark.parametrize("n", [0, 1, 6, 95, 97, 256, 515])
@pytest.mark.parametrize(("f", "c"), [(1, 1), (256, 16), (257, 7), (300, 33), (530, 6)])
@pytest.mark.parametrize("p", [0.0, 0.6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_the_exact_product(n: int, f: int, c: int, p: float, dtype: torch.dtype) -> None:
    torch.manual_seed(n)
    x = torch.randn(n, f, dtype=dtype, requires_grad=True)
    w = torch.randn(f, c, dtype=dtype, requires_grad=True)
    out = wide_linear(x, w, p, 99)
    g = torch.randn(n, c, dtype=dtype)
    grad_x, grad_w = torch.autograd.grad(out, (x, w), g)
    exact, mask = _exact(x, None, p, 99), _exact(torch.ones(n, f, dtype=dtype), None, p, 99)
    tolerance = 3e-4 if dtype == torch.float32 else 1e-11
    weight = w.detach().double().numpy()
    assert out.dtype == grad_x.dtype == grad_w.dtype == dtype
    np.testing.assert_allclose(out.detach().numpy(), exact @ weight, atol=tolerance)
    np.testing.assert_allclose(grad_w.numpy(), exact.T @ g.double().numpy(), atol=tolerance)
    np.testing.assert_allclose(grad_x.numpy(), mask * (g.double().numpy() @ weight.T), atol=tolerance)


@pytest.mark.parametrize("p", [0.0, 0.5])
@pytest.mark.parametrize("count", [0, 1, 100, 700])
def test_rows_are_those_of_a_copy(count: int, p: float) -> None:
    rows = np.random.default_rng(count).integers(0, 300, count)
    x, w = torch.randn(300, 270), torch.randn(270, 20, requires_grad=True)
    taken, copied = wide_linear(x, w, p, 4, rows), wide_linear(x[rows], w, p, 4)
    assert torch.equal(taken, copied)
    assert torch.equal(grads(taken, w)[0], grads(copied, w)[0])


def test_masks_match_the_plain_path() -> None:
    x, w = torch.randn(40, 300), torch.eye(300)
    assert torch.equal(wide_linear(x, w, 0.6, 123), plain.linear(x, w, 0.6, 123))


@pytest.mark.parametrize("c", [40, 3])
@pytest.mark.parametrize("p", [0.0, 0.5])
def test_bits_do_not_depend_on_threads(c: int, p: float) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(3001, 517, requires_grad=True), torch.randn(517, c, requires_grad=True)
    rows = np.random.default_rng(0).permutation(3001)[:2900]
    results = []
    for count in (1, 2, 3, 7):
        with threads(count):
            out, part = wide_linear(x, w, p, 8), wide_linear(x, w, p, 8, rows)
            results.append([out, part, *grads(out, x, w), *grads(part, w)])
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_a_row_does_not_depend_on_the_others() -> None:
    x, w = torch.randn(200, 400), torch.randn(400, 10)
    whole = wide_linear(x, w)
    for first in (1, 5, 97):
        assert torch.equal(wide_linear(x[first:], w), whole[first:])


def test_values_that_are_not_finite_stay_where_they_are() -> None:
    x, w = torch.randn(50, 256), torch.randn(256, 5)
    x[49, 3] = torch.nan
    assert wide_linear(x, w).isnan().any(1).tolist() == [False] * 49 + [True]
    assert torch.isfinite(wide_linear(x[:49], w)).all()


def test_any_strides() -> None:
    x, w = torch.randn(300, 50).t(), torch.randn(9, 300).t()
    assert torch.equal(wide_linear(x, w), wide_linear(x.contiguous(), w.contiguous()))


def test_gradcheck() -> None:
    x = torch.randn(7, 20, dtype=torch.float64, requires_grad=True)
    w = torch.randn(20, 9, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w: wide_linear(x, w, 0.5, 4), (x, w))


def test_only_wide_floats_of_one_type() -> None:
    assert is_wide(torch.zeros(2, 256), torch.zeros(256, 1))
    assert not is_wide(torch.zeros(2, 255), torch.zeros(255, 1))
    assert not is_wide(torch.zeros(2, 256), torch.zeros(256, 1, dtype=torch.float64))
    assert not is_wide(torch.zeros(2, 256, dtype=torch.float16), torch.zeros(256, 1, dtype=torch.float16))
