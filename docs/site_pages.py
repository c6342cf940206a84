"""A hook of mkdocs: tables of settings and methods, and the API reference, are made from the code."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

_PLACE = re.compile(r"^<!-- (settings|methods|api)(?: ([\w.]+))? -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_context: Any) -> str:
    """Fill the places that a page leaves open."""
    make = {"settings": _settings, "methods": _methods, "api": _api}
    return _PLACE.sub(lambda found: make[found[1]](found[2]), markdown)


def _settings(recipe: str) -> str:
    from mcn.train.recipes import RECIPES
    from mcn.train.settings_page import settings_table

    return settings_table(RECIPES[recipe].config)


def _methods(_nothing: None) -> str:
    from mcn.baselines import METHODS

    rows = []
    for each in METHODS.values():
        cells = (f"`{each.name}`", each.title, ", ".join(each.can) or "–", ", ".join(each.needs) or "–")
        rows.append(f"| {' | '.join(cells)} |")
    head = "| method | what it is | also gives | needs |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _api(package: str) -> str:
    """One entry per public name of a package, from the docstring where it is defined."""
    names = sorted(importlib.import_module(package).__all__, key=str.lower)
    return "\n".join(f"::: {_home(package, name)}.{name}\n" for name in names)


def _home(package: str, name: str) -> str:
    """The module that defines a public name; constants do not know theirs, so it is looked for."""
    value = getattr(sys.modules[package], name)
    home = getattr(value, "__module__", None)
    if isinstance(home, str) and home.startswith("mcn.") and hasattr(sys.modules.get(home), name):
        return home
    inside = [module for module in sorted(sys.modules) if module.startswith(f"{package}.")]
    own = [module for module in inside if vars(sys.modules[module]).get(name) is value]
    return max(own, key=lambda module: (_assigns(module, name), -len(module)))


def _assigns(module: str, name: str) -> bool:
    import inspect

    return re.search(rf"^{name}\b[^=\n]*=", inspect.getsource(sys.modules[module]), re.MULTILINE) is not None
