"""How the kernels of this study are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function with numba when it is first called."""
    compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled
