"""Names of a package that are loaded when they are first used, so that importing it is cheap."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any


def lazy(
    package: str, home: Mapping[str, str], modules: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose public names live in other modules.

    `home` has the module of each name; one that begins with a dot is the package's own, as all `modules` are.
    """

    def load(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f".{name}", package)
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        enabled = gc.isenabled()
        gc.disable()  # looking for garbage among modules, which stay, takes a quarter of the time
        try:
            value = getattr(importlib.import_module(home[name], package), name)
        finally:
            if enabled:
                gc.enable()
        setattr(sys.modules[package], name, value)  # found at once from now on
        return value

    def names() -> list[str]:
        return sorted({*sys.modules[package].__all__, *modules})

    return load, names
