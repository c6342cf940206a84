"""Arguments that must be integers or arrays: they are converted, or refused by the name of the argument."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import brief, told
from graphmotifs._threads import available_threads

MAX_THREADS = 1024
"""More are a mistake, not a machine."""
_ANYWHERE = 16  # threads that any machine can start


def as_integer(value: Any, name: str) -> int:
    """Return an argument that must be a whole number as an int; 3.0 will do, True will not."""
    try:
        if not isinstance(value, bool | np.bool_):  # an index too, before NumPy 2
            whole = isinstance(value, float | np.floating) and value.is_integer()
            return int(value) if whole else operator.index(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        pass  # what is no number at all, and tensors of several
    raise ValueError(f"{name} must be an integer, got {told(value)}")


def limit_threads(wanted: Any) -> int | None:
    """Return how many threads to use at most: None for all cores, else `wanted` within reason."""
    if wanted is None:
        return None
    try:
        threads = as_integer(wanted, "threads")
    except ValueError:
        threads = 0
    if not 1 <= threads <= MAX_THREADS:
        raise ValueError(f"threads must be a positive integer up to {MAX_THREADS}, got {wanted!r}")
    return min(threads, max(_ANYWHERE, 4 * available_threads()))


def as_array(value: Any, name: str, shape: str) -> NDArray[Any]:
    """Return an argument that must be an array, a dense tensor or lists as a NumPy array."""
    if not hasattr(value, "detach"):
        try:
            return np.asarray(value)
        except (ValueError, TypeError, OverflowError) as error:  # rows of different lengths, for instance
            raise ValueError(f"{name} must have shape {shape}, got no array ({brief(error)})") from error
    if str(value.layout) != "torch.strided":
        raise ValueError(
            f"{name} has the layout {value.layout}; expected a dense tensor of shape {shape}, such as the "
            "indices of this one"
        )
    if str(value.dtype) in ("torch.bfloat16", "torch.complex32"):  # which NumPy does not have
        raise ValueError(f"{name} holds {value.dtype}, which NumPy does not have; expected another dtype")
    try:
        array: NDArray[Any] = value.detach().cpu().numpy()
    except (TypeError, RuntimeError) as error:
        raise ValueError(f"{name} of {value.dtype} cannot be read ({brief(error)})") from error
    return array
