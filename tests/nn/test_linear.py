"""Dense products, dropout, bias and the random bits of masks; the same bits at any thread count."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from mcn.nn import Stream, plain
from mcn.nn._parallel import one_torch_thread, spread
from mcn.nn._rng import derive, hash32, hash32_of, torch_key
from mcn.nn.linear import add_bias, dropout, linear
from tests.nn.graphs import assert_same_bits, grads, threads


def _kept(x: torch.Tensor, p: float, key: int) -> NDArray[Any]:
    """The dropped matrix in float64."""
    return plain.dropout(x.detach(), p, key).double().numpy()


# Sizes at and around what rows and columns are filled up to (64, 16) and the borders of blocks (256 rows).
@pytest.mark.parametrize("n", [0, 1, 64, 95, 1024, 1500])
@pytest.mark.parametrize(("f", "c"), [(1, 1), (9, 2), (256, 16), (257, 7), (300, 33)])
@pytest.mark.parametrize("p", [0.0, 0.6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_the_exact_product(n: int, f: int, c: int, p: float, dtype: torch.dtype) -> None:
    torch.manual_seed(n)
    x = torch.randn(n, f, dtype=dtype, requires_grad=True)
    w = torch.randn(f, c, dtype=dtype, requires_grad=True)
    out, g = linear(x, w, p, 99), torch.randn(n, c, dtype=dtype)
    grad_x, grad_w = torch.autograd.grad(out, (x, w), g)
    exact, mask = _kept(x, p, 99), _kept(torch.ones(n, f, dtype=dtype), p, 99)
    tolerance = 3e-4 if dtype == torch.float32 else 1e-11
    weight = w.detach().double().numpy()
    assert out.dtype == grad_x.dtype == grad_w.dtype == dtype
    np.testing.assert_allclose(out.detach().numpy(), exact @ weight, atol=tolerance)
    np.testing.assert_allclose(grad_w.numpy(), exact.T @ g.double().numpy(), atol=tolerance)
    np.testing.assert_allclose(grad_x.numpy(), mask * (g.double().numpy() @ weight.T), atol=tolerance)


@pytest.mark.parametrize("p", [0.0, 0.5])
@pytest.mark.parametrize("count", [0, 1, 100, 1700])
def test_rows_are_those_of_a_copy(count: int, p: float) -> None:
    rows = np.random.default_rng(count).integers(0, 300, count)
    x, w = torch.randn(300, 270), torch.randn(270, 20, requires_grad=True)
    taken, copied = linear(x, w, p, 4, rows), linear(x[rows], w, p, 4)
    assert torch.equal(taken, copied)
    assert torch.equal(grads(taken, w)[0], grads(copied, w)[0])


@pytest.mark.parametrize(("f", "c"), [(517, 40), (517, 3), (100, 24), (79, 2)])
@pytest.mark.parametrize("p", [0.0, 0.5])
def test_bits_do_not_depend_on_threads(f: int, c: int, p: float) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(30_001, f, requires_grad=True), torch.randn(f, c, requires_grad=True)
    rows = np.random.default_rng(0).permutation(30_001)[:2900]

    def run() -> list[torch.Tensor]:
        out, part = linear(x, w, p, 8), linear(x, w, p, 8, rows)
        return [out, part, *grads(out, x, w), *grads(part, w)]

    assert_same_bits(run, (1, 2, 3, 7))


@pytest.mark.parametrize("c", [1, 7, 10, 64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_row_does_not_depend_on_the_others(c: int, dtype: torch.dtype) -> None:
    x, w = torch.randn(1500, 400, dtype=dtype), torch.randn(400, c, dtype=dtype)
    whole = linear(x, w)
    for first in (1, 5, 97, 1030, 1499):
        assert torch.equal(linear(x[first:], w), whole[first:])


def test_values_that_are_not_finite_stay_where_they_are_and_any_strides_and_types() -> None:
    x, w = torch.randn(50, 256), torch.randn(256, 5)
    x[49, 3] = torch.nan
    assert linear(x, w).isnan().any(1).tolist() == [False] * 49 + [True]
    assert torch.isfinite(linear(x[:49], w)).all()
    x, w = torch.randn(300, 50).t(), torch.randn(9, 300).t()
    assert torch.equal(linear(x, w), linear(x.contiguous(), w.contiguous()))
    double = x.double().requires_grad_()
    assert torch.equal(linear(double, w), linear(x, w))
    assert grads(linear(double, w), double)[0].dtype == torch.float64


def test_gradcheck_and_masks_match_the_plain_path() -> None:
    x = torch.randn(11, 9, dtype=torch.float64, requires_grad=True)
    w = torch.randn(9, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w: linear(x, w, 0.5, 4), (x, w))
    b = torch.randn(9, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(add_bias, (x, b))
    assert torch.autograd.gradcheck(lambda x: dropout(x, 0.4, 5), (x,))
    x, w = torch.randn(40, 300), torch.eye(300)
    assert torch.equal(linear(x, w, 0.6, 123), plain.dropout(x, 0.6, 123) @ w)
    assert torch.equal(dropout(x, 0.6, 123), plain.dropout(x, 0.6, 123))
    nodes = np.arange(1000, 1040)
    assert torch.equal(dropout(x, 0.6, 123, nodes), plain.dropout(x, 0.6, 123, nodes))
    assert dropout(x, 0.0, 123) is x


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
@pytest.mark.parametrize("balanced", [False, True])
def test_shared_work_visits_every_position_once(count: int, size: int, balanced: bool) -> None:
    seen = np.zeros(size, np.int64)
    indptr = np.concatenate([[0], np.cumsum(np.arange(size) % 5)]) if balanced else None

    def work(start: int, stop: int) -> None:
        seen[start:stop] += 1

    with threads(count):
        spread(work, size, 10**9, indptr)
    with threads(count), one_torch_thread():
        assert torch.get_num_threads() == 1
        spread(work, size, 10**9, indptr)
    assert (seen == 2).all()


KEYS = [0, 1, 2**32, 2**63 + 12345, 0xFFFFFFFFFFFFFFFF]


@pytest.mark.parametrize("key", KEYS)
def test_kernel_and_torch_agree(key: int) -> None:
    expected = [int(hash32(position, np.uint64(key))) for position in range(300)]
    assert hash32_of(torch.arange(300), key).tolist() == expected
    # By hand: the definition in Python's own integers.
    key, position, word = 0x0123456789ABCDEF, 77, 0xFFFFFFFF
    x = position ^ (key & word)
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & word
    x ^= key >> 32
    x = ((x ^ (x >> 15)) * 0x846CA68B) & word
    assert int(hash32(position, np.uint64(key))) == x ^ (x >> 16)


@pytest.mark.parametrize("p", [0.1, 0.6, 0.9])
def test_frequency_and_scale(p: float) -> None:
    mask = plain.dropout(torch.ones(400, 500), p, derive(7, 3))
    kept = mask != 0
    # 200,000 draws: six standard deviations.
    assert abs(kept.float().mean().item() - (1 - p)) < 6 * (p * (1 - p) / 2e5) ** 0.5
    assert torch.allclose(mask[kept], torch.tensor(1 / (1 - p)))


def test_derived_keys_are_uncorrelated() -> None:
    base = plain.dropout(torch.ones(100_000), 0.5, derive(0, 0)) - 1
    for other in (derive(0, 1), derive(1, 0), derive(0, 0, 0), derive(1 << 40, 0)):
        mask = plain.dropout(torch.ones(100_000), 0.5, other) - 1
        for shift in (0, 1, 8):
            assert abs((base[shift:] * mask[: len(mask) - shift]).mean().item()) < 6 / 100_000**0.5


def test_stream_is_a_function_of_seed_and_step_and_a_key_of_torchs_seed() -> None:
    stream = Stream(5)
    keys = [stream.next_key() for _ in range(4)]
    assert len(set(keys)) == 4
    resumed = Stream()
    resumed.load_state_dict({"seed": 5, "step": 2})
    assert [resumed.next_key(), resumed.next_key()] == keys[2:]
    assert resumed.state_dict() == stream.state_dict() == {"seed": 5, "step": 4}
    with pytest.raises(ValueError, match="lacks \\['step'\\]"):
        resumed.load_state_dict({"seed": 1})
    torch.manual_seed(3)
    first = torch_key()
    torch.manual_seed(3)
    assert torch_key() == first != torch_key()
