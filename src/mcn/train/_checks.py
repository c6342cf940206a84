"""Checks of single settings: each returns the plain value, or says what was expected."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np


def whole(name: str, value: Any, least: int) -> int:
    """An integer of at least `least`, NumPy's included."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def probability(name: str, value: Any, one: bool = True) -> float:
    """A number from 0 to 1; `one` says whether 1 itself is allowed."""
    if not _finite(value) or not 0 <= value <= 1 or (value == 1 and not one):
        raise ValueError(f"{name} must be a probability{'' if one else ' below 1'}, got {value!r}")
    return float(value)


def positive(name: str, value: Any) -> float:
    """A finite number above 0."""
    if not _finite(value) or not value > 0:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    """A finite number of at least 0."""
    if not _finite(value) or not value >= 0:
        raise ValueError(f"{name} must be a number that is not negative, got {value!r}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def _finite(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
