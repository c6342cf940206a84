"""Names that a user may mistype: the sentence that says which one was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: object, known: Iterable[str], most: int = 1) -> str:
    """Return ``; did you mean 'x'?`` with the nearest of the known names, or nothing if none is near.

    >>> did_you_mean("triangel", ["edge", "triangle"])
    "; did you mean 'triangle'?"
    >>> did_you_mean("pentagon", ["edge", "triangle"])
    ''
    """
    near = difflib.get_close_matches(str(name), list(known), n=most)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def one_of(what: str, value: object, allowed: Iterable[str]) -> None:
    """Refuse a value that is not among those allowed.

    Args:
        what: the setting or option that the value is for.
        value: what was given.
        allowed: the names it may have.

    Raises:
        ValueError: names the setting, the value, what is allowed, and the nearest of those.
    """
    names = list(allowed)
    if value not in names:
        hint = did_you_mean(value, names)
        raise ValueError(f"{what} must be one of {', '.join(names)}, got {repr(value)[:100]}{hint}")
