"""The vectorisable exponential."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcn._jit import kernel
from mcn.nn._attend_kernels import exp


@kernel
def _all(x: Any, out: Any) -> None:
    for n in range(x.shape[0]):
        out[n] = exp(x[n])


def test_float32_to_the_last_bits() -> None:
    x = np.concatenate([-np.logspace(-8, np.log10(86.9), 5000), [0.0]]).astype(np.float32)
    out = np.empty_like(x)
    _all(x, out)
    assert np.abs(out / np.exp(x.astype(np.float64)) - 1).max() < 2.5e-7


def test_far_below() -> None:
    x = np.array([-88, -1000, -np.inf], np.float32)
    out = np.empty_like(x)
    _all(x, out)
    assert out.tolist() == [0, 0, 0]


def test_float64_is_the_library() -> None:
    x = -np.abs(np.random.default_rng(0).standard_normal(100))
    out = np.empty_like(x)
    _all(x, out)
    assert np.abs(out - np.exp(x)).max() < 1e-15
    assert exp(np.float64(-1.0)) == np.exp(-1.0)
