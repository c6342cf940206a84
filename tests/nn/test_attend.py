"""The fused attention against plain torch, a dense softmax and finite differences."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmotifs._jit import kernel
from mcn.matrices import Rows
from mcn.nn import plain
from mcn.nn.attend import Attention, attend, exp, head_logits
from tests.nn.graphs import assert_same_bits, grads, random_rows


def _inputs(dst: int, src: int, heads: int, width: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    torch.manual_seed(seed)
    shapes = [(src, heads, width), (dst, heads), (src, heads)]
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


@settings(deadline=None, max_examples=40)
@given(
    st.tuples(st.integers(1, 12), st.integers(0, 8), st.integers(1, 9), st.integers(1, 9)),
    st.sampled_from(["softmax", "product"]),
    st.tuples(st.sampled_from([0.0, 0.6]), st.sampled_from([0.0, 0.4])),
    st.integers(0, 99),
)
def test_equals_the_plain_path(sizes: Any, prior: str, dropouts: tuple[float, float], seed: int) -> None:
    dst, more, heads, width = sizes
    rows = random_rows(dst, dst + more, seed)
    how = Attention(prior, 0.2, *dropouts, 11 + seed, 13 + seed)
    inputs = _inputs(dst, dst + more, heads, width, seed=seed)
    fused, reference = attend(*inputs, rows, how), plain.attend(*inputs, rows, how)
    assert torch.allclose(fused, reference, atol=1e-5)
    for mine, theirs in zip(grads(fused, *inputs), grads(reference, *inputs), strict=True):
        assert torch.allclose(mine, theirs, atol=1e-4)


@pytest.mark.parametrize("prior", ["softmax", "product"])
@pytest.mark.parametrize("p", [0.0, 0.5])
def test_gradcheck(prior: str, p: float) -> None:
    rows = random_rows(5, 8, 3)
    how = Attention(prior, 0.2, p, p, 5, 6)
    inputs = _inputs(5, 8, 2, 3, torch.float64)
    assert torch.autograd.gradcheck(lambda *x: attend(*x, rows, how), inputs)


def test_row_scaling_cancels_in_the_softmax_but_not_in_the_product() -> None:
    rows = random_rows(6, 6, 2, empty=False)
    factors = np.repeat(np.arange(1, 7), np.diff(rows.indptr)).astype(np.float32)
    scaled = rows._replace(values=rows.values * factors)
    inputs = _inputs(6, 6, 1, 3)
    soft = [attend(*inputs, r, Attention("softmax")) for r in (rows, scaled)]
    assert torch.allclose(soft[0], soft[1], atol=1e-5)
    times = [attend(*inputs, r, Attention("product")) for r in (rows, scaled)]
    assert torch.allclose(times[0] * torch.arange(1, 7)[:, None, None], times[1], atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_logits_and_priors_stay_finite(dtype: torch.dtype) -> None:
    indptr, indices = np.array([0, 3, 6]), np.array([0, 1, 2, 0, 1, 2], np.int32)
    rows = Rows(indptr, indices, np.array([1, 1e30, 1e-30, 0, 0, 0], np.float32))
    z, s_dst, s_src = _inputs(2, 3, 1, 2, dtype)
    out = attend(z, s_dst * 1000, s_src * 1000, rows, Attention())
    assert torch.isfinite(out).all()
    assert torch.equal(out[1], torch.zeros_like(out[1]))  # a row of zero weights listens to nobody
    assert all(torch.isfinite(g).all() for g in grads(out, z, s_dst, s_src))


def test_logits_equal_torch_have_its_gradients_and_the_same_bits_on_any_threads() -> None:
    z = torch.randn(14, 3, 5, dtype=torch.float64, requires_grad=True)
    a, b = (torch.randn(3, 5, dtype=torch.float64, requires_grad=True) for _ in range(2))
    for mine, theirs in zip(head_logits(z, a, b, 6), plain.head_logits(z, a, b, 6), strict=True):
        assert torch.allclose(mine, theirs)
    assert torch.autograd.gradcheck(lambda z, a, b: head_logits(z, a, b, 6), (z, a, b))
    z = torch.randn(20_000, 8, 32, requires_grad=True)
    a, b = (torch.randn(8, 32, requires_grad=True) for _ in range(2))

    def run() -> list[torch.Tensor]:
        src, dst = head_logits(z, a, b, 15_000)
        return [src, dst, *grads(torch.cat([src, dst]), z, a, b)]

    assert_same_bits(run)


@kernel
def _all(x: Any, out: Any) -> None:
    for n in range(x.shape[0]):
        out[n] = exp(x[n])


def _exponentials(x: Any) -> Any:
    out = np.empty_like(x)
    _all(x, out)
    return out


def test_the_exponential() -> None:
    x = np.concatenate([-np.logspace(-8, np.log10(86.9), 5000), [0.0]]).astype(np.float32)
    assert np.abs(_exponentials(x) / np.exp(x.astype(np.float64)) - 1).max() < 2.5e-7
    assert _exponentials(np.array([-88, -1000, -np.inf], np.float32)).tolist() == [0, 0, 0]
    double = -np.abs(np.random.default_rng(0).standard_normal(100))
    assert np.abs(_exponentials(double) - np.exp(double)).max() < 1e-15
    assert exp(np.float64(-1.0)) == np.exp(-1.0)
