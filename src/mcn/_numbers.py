"""Whether a setting's value is a number."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any


def is_finite(value: Any) -> bool:
    """Whether a value is a number that a float can hold; an integer may have any number of digits."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:
        return False
