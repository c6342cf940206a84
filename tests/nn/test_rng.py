"""Counter-based randomness."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mcn.nn import Stream, plain
from mcn.nn._rng import derive, hash32, hash32_of, torch_key

KEYS = [0, 1, 2**32, 2**63 + 12345, 0xFFFFFFFFFFFFFFFF]


@pytest.mark.parametrize("key", KEYS)
def test_kernel_and_torch_agree(key: int) -> None:
    expected = [int(hash32(position, np.uint64(key))) for position in range(300)]
    assert hash32_of(torch.arange(300), key).tolist() == expected


def test_hash_by_hand() -> None:
    # The definition in Python's own integers.
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


def test_stream_is_a_function_of_seed_and_step() -> None:
    stream = Stream(5)
    keys = [stream.next_key() for _ in range(4)]
    assert len(set(keys)) == 4
    resumed = Stream()
    resumed.load_state_dict({"seed": 5, "step": 2})
    assert [resumed.next_key(), resumed.next_key()] == keys[2:]
    assert resumed.state_dict() == stream.state_dict() == {"seed": 5, "step": 4}
    assert repr(stream) == "Stream(seed=5, step=4)"
    with pytest.raises(ValueError, match="lacks \\['step'\\]"):
        resumed.load_state_dict({"seed": 1})


def test_torch_key_follows_manual_seed() -> None:
    torch.manual_seed(3)
    first = torch_key()
    torch.manual_seed(3)
    assert torch_key() == first != torch_key()
