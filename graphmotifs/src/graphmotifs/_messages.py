"""Pieces of error messages: values and texts in one line, and the name that was probably meant."""

from __future__ import annotations

import difflib
import re
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
    """Refuse a value that is not among those allowed; `what` is the setting or option that it is for."""
    names = list(allowed)
    if value not in names:
        hint = did_you_mean(value, names)
        raise ValueError(f"{what} must be one of {', '.join(names)}, got {repr(value)[:100]}{hint}")


def brief(error: BaseException) -> str:
    """Return the first line of an error's message, or its kind if it has none, at most 200 characters."""
    text = str(error).strip()
    line = text.splitlines()[0] if text else type(error).__name__
    return line if len(line) <= 200 else line[:199] + "…"


def told(value: object) -> str:
    """Return a value for a message as Python would write it, in one line of at most 80 characters."""
    line = re.sub(r"\n\s*", " ", repr(value))  # arrays have several
    return line if len(line) <= 80 else line[:79] + "…"


def shown(text: str, most: int = 80) -> str:
    """Return a quoted piece of a file for a message, shortened to `most` characters."""
    return repr(text if len(text) <= most else text[: most - 1] + "…")
