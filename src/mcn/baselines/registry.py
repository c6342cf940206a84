"""The registry of baselines: one name, one function."""

from __future__ import annotations

from collections.abc import Callable

from mcn.baselines.task import Method
from mcn.train._settings import one_of

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
    one_of("baseline", name, tuple(sorted(BASELINES)))
    return BASELINES[name]
