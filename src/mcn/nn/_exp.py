"""An exponential that the compiler can vectorise, for float32; float64 keeps the library's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

_LOG2E = np.float32(1.44269504088896341)
_LN2_HIGH = np.float32(0.693359375)
_LN2_LOW = np.float32(-2.12194440e-4)
_LEAST = np.float32(-87.0)
_C0, _C1, _C2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
_C3, _C4, _C5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)
_HALF, _ONE, _ZERO = np.float32(0.5), np.float32(1.0), np.float32(0.0)


@register_jitable
def _exp_float32(x: Any) -> Any:
    """exp(x) for x ≤ 0 by a minimax polynomial on [-ln2/2, ln2/2], good to 2 units in the last place."""
    y = max(x, _LEAST)
    n = np.float32(math.floor(y * _LOG2E + _HALF))
    r = (y - n * _LN2_HIGH) - n * _LN2_LOW
    p = ((((_C0 * r + _C1) * r + _C2) * r + _C3) * r + _C4) * r + _C5
    p = (p * r) * r + r + _ONE
    power = np.int32(np.int32(np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return p * power if x >= _LEAST else _ZERO


def exp(x: Any) -> Any:
    """exp(x) of a number that is not positive, in its own type."""
    return x.dtype.type(math.exp(x))


@overload(exp)
def _overload_exp(x: Any) -> Any:
    def single(x: Any) -> Any:
        return _exp_float32(x)

    def double(x: Any) -> Any:
        return math.exp(x)

    return single if x == types.float32 else double
