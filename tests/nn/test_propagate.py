"""Aggregation with fixed coefficients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mcn.nn import plain
from mcn.nn.propagate import propagate, symmetric_normalised
from tests.nn.graphs import dense_rows, grads, random_rows, threads


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_equals_the_plain_path(p: float) -> None:
    rows = random_rows(10, 17, 0)
    z = torch.randn(17, 6, requires_grad=True)
    fused, reference = propagate(z, rows, p, 31), plain.propagate(z, rows, p, 31)
    assert torch.allclose(fused, reference, atol=1e-5)
    assert torch.allclose(grads(fused, z)[0], grads(reference, z)[0], atol=1e-5)


def test_is_a_matrix_product() -> None:
    rows = random_rows(7, 9, 1)
    z = torch.randn(9, 4, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(propagate(z, rows), torch.from_numpy(dense_rows(rows, 9)).double() @ z)
    assert torch.autograd.gradcheck(lambda z: propagate(z, rows, 0.3, 2), (z,))


def test_symmetric_normalisation_by_hand() -> None:
    rows = random_rows(8, 8, 2, empty=False)
    dense = dense_rows(rows, 8).astype(np.float64)
    d = dense.sum(1)
    assert np.allclose(rows.sums(), d)
    expected = dense / np.sqrt(np.outer(d, d))
    assert np.allclose(dense_rows(symmetric_normalised(rows, d), 8), expected, atol=1e-6)


def test_an_empty_row_has_no_normalisation() -> None:
    rows = random_rows(4, 4, 3)
    with pytest.raises(ValueError, match=r"positive, got 0\.0 at source 1"):
        symmetric_normalised(rows, rows.sums())


def test_bits_do_not_depend_on_threads() -> None:
    rows = random_rows(600, 700, 4)
    z = torch.randn(700, 64, requires_grad=True)
    results = []
    for count in (1, 2):
        with threads(count):
            out = propagate(z, rows, 0.5, 1)
            results.append([out, *grads(out, z)])
    assert all(torch.equal(x, y) for x, y in zip(*results, strict=True))
