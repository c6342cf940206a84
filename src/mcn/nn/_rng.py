"""Counter-based randomness: a hash of (key, position) decides whether an entry is dropped.

Nothing is drawn in sequence, so a mask does not depend on the number of threads, on the order of the
work or on the device, and the backward pass recomputes the mask instead of storing it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from graphmotifs._jit import kernel

_WORD = 0xFFFFFFFF
_LONG = 0xFFFFFFFFFFFFFFFF
# Multipliers of a 32-bit finaliser; any odd pair with good avalanche would do.
_M1 = 0x7FEB352D
_M2 = 0x846CA68B
_U1 = np.uint32(_M1)
_U2 = np.uint32(_M2)


@kernel
def hash32(position: Any, key: np.uint64) -> np.uint32:
    """Hash `position` (modulo 2³²) under the 64-bit `key` to thirty-two well-mixed bits."""
    x = np.uint32(np.uint32(position) ^ np.uint32(key))
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(16))) * _U1)
    # The second half of the key enters between the rounds: two keys never give shifted copies.
    x = np.uint32(x ^ np.uint32(key >> np.uint64(32)))
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(15))) * _U2)
    return np.uint32(x ^ np.uint32(x >> np.uint32(16)))


def hash32_of(positions: torch.Tensor, key: int) -> torch.Tensor:
    """`hash32` of an int64 tensor of positions, on any device."""
    x = (positions & _WORD) ^ (key & _WORD)
    x = ((x ^ (x >> 16)) * _M1) & _WORD
    x = x ^ ((key >> 32) & _WORD)
    x = ((x ^ (x >> 15)) * _M2) & _WORD
    return x ^ (x >> 16)


def threshold(p: float) -> int:
    """The bound below which a hash drops its entry, so that a share `p` is dropped."""
    return round(p * 2**32)


def drop_settings(p: float, key: int, dtype: Any) -> tuple[int, Any, np.uint64]:
    """Return a dropout as kernels take it: the threshold, the scale of what is kept, and the key."""
    return threshold(p), dtype.type(1.0 / (1.0 - p)), np.uint64(key)


def keep_at(positions: torch.Tensor, p: float, key: int, like: torch.Tensor) -> torch.Tensor:
    """0 for positions that are dropped and 1/(1-p) for others, on the device and in the type of `like`."""
    return (hash32_of(positions, key) >= threshold(p)).to(like.dtype) * (1.0 / (1.0 - p))


def derive(key: int, *path: int) -> int:
    """Make a new 64-bit key for every path of integers (layer, purpose, …) below `key`.

    Masks must use derived keys: keys that differ in a few bits only give related masks.
    """
    for word in path:
        key = (key + 0x9E3779B97F4A7C15 * (word + 1)) & _LONG
        key = ((key ^ (key >> 30)) * 0xBF58476D1CE4E5B9) & _LONG
        key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) & _LONG
        key ^= key >> 31
    return key


class Stream:
    """The randomness of a training run: a seed and a count of the training passes made.

    A pass takes its key from (seed, step) alone and then moves on by one step, so a run is a function
    of its seed, and a run resumed with the same two integers goes on exactly as it would have.

    >>> stream = Stream(seed=7)
    >>> first, second = stream.next_key(), stream.next_key()
    >>> stream.load_state_dict({"seed": 7, "step": 1})
    >>> stream.next_key() == second
    True
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed, self.step = int(seed), 0

    def next_key(self) -> int:
        """Return the key of this step and move on by one step."""
        key = derive(self.seed & _LONG, self.step)
        self.step += 1
        return key

    def state_dict(self) -> dict[str, int]:
        """The two integers to save in a checkpoint."""
        return {"seed": self.seed, "step": self.step}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from a saved state."""
        missing = {"seed", "step"} - set(state)
        if missing:
            raise ValueError(f"random state {state!r} lacks {sorted(missing)}; expected seed and step")
        self.seed, self.step = int(state["seed"]), int(state["step"])


def torch_key() -> int:
    """Draw a key from torch's global generator (`torch.manual_seed`), for layers used outside `mcn.MCN`."""
    high, low = torch.randint(0, 2**32, (2,), dtype=torch.int64).tolist()
    return (int(high) << 32) | int(low)
