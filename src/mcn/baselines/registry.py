"""The registry of baselines: one name, one function."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from mcn.baselines.task import Method

BASELINES: dict[str, Method] = {}
"""Every baseline by its name; `register` adds to it."""


def register(name: str) -> Callable[[Method], Method]:
    """Enter a method under a name: ``@register("mine")`` above a function ``(task, seed) -> scores``.

    Raises:
        ValueError: the name is taken.
    """

    def enter(function: Method) -> Method:
        if name in BASELINES:
            raise ValueError(f"a baseline {name!r} is registered already; choose another name")
        BASELINES[name] = function
        return function

    return enter


def baseline(name: str) -> Method:
    """The method of this name.

    Raises:
        ValueError: there is none; says which name was probably meant.
    """
    if name not in BASELINES:
        near = difflib.get_close_matches(str(name), BASELINES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"baseline must be one of {', '.join(sorted(BASELINES))}, got {name!r}{hint}")
    return BASELINES[name]
