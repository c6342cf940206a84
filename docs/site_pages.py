"""A Markdown extension for the site: tables of settings and methods, and the API reference, from the code."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from itertools import groupby
from typing import TYPE_CHECKING

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

if TYPE_CHECKING:
    from mcn.train.settings import Setting, Settings

_PLACE = re.compile(r"^<!-- (settings|methods|api|conflicts)(?: ([\w.]+))? -->$", re.MULTILINE)
_STUDY = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(studies[\w/.-]*)\)")
_GROUPS = {
    "graph": "The graph",
    "network": "The network",
    "attention": "How nodes learn to choose",
    "training": "Training",
}


class Places(Preprocessor):
    """Fill the places that a page leaves open; studies, which are outside the site, become a path."""

    def run(self, lines: list[str]) -> list[str]:
        """Called with the lines of every page."""
        make = {"settings": _settings, "methods": _methods, "api": _api, "conflicts": _conflicts}
        page = _STUDY.sub(r"\1 (`\2`)", "\n".join(lines))
        return _PLACE.sub(lambda place: make[place[1]](place[2]), page).split("\n")


class SitePages(Extension):
    """The extension `site_pages` of mkdocs.yml."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run first: what is filled in is Markdown, too."""
        md.preprocessors.register(Places(md), "site_pages", 100)


def makeExtension() -> Extension:
    """The name that Markdown looks for."""
    return SitePages()


def _settings(recipe: str) -> str:
    from mcn.train import RECIPES

    return settings_table(RECIPES[recipe].config)


def settings_table(config: type[Settings]) -> str:
    """Return the settings of a configuration as Markdown, a table per group."""
    from mcn.train.settings import declared

    order = list(_GROUPS)
    settings = sorted(declared(config).values(), key=lambda one: order.index(one.group))
    parts = []
    for group, members in groupby(settings, key=lambda one: one.group):
        rows = "\n".join(_settings_row(one) for one in members)
        head = "| setting | default | option | what it does |\n|---|---|---|---|"
        parts.append(f"**{_GROUPS[group]}**\n\n{head}\n{rows}")
    return "\n\n".join(parts) + "\n"


def _settings_row(one: Setting) -> str:
    flags = "`--set`" if one.option is None else ", ".join(f"`--{flag}`" for flag in one.option.split("/"))
    if one.name == "seed":
        flags = "`--seed`"
    sentence = one.sentence.replace("|", "\\|")
    return f"| `{one.name}` | `{one.show(one.default)}` | {flags} | {sentence} |"


def _methods(_nothing: None) -> str:
    from mcn.paper.baselines import METHODS

    methods = METHODS.values()
    rows = [f"| `{method.name}` | {method.title} | {', '.join(method.can) or '–'} |" for method in methods]
    head = "| method | what it is | also gives |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _conflicts(_nothing: None) -> str:
    from mcn._composition import CONFLICTS

    rows = [f"| {one} | {other} | {advice} |" for one, other, advice in CONFLICTS]
    return "\n".join(["| this | and this | what to do |\n|---|---|---|", *rows]) + "\n"


def _api(package: str) -> str:
    """One entry per public name of a package, from the docstring where it is defined."""
    names = sorted(importlib.import_module(package).__all__, key=str.lower)
    return "\n".join(f"::: {_home(package, name)}.{name}\n" for name in names)


def _home(package: str, name: str) -> str:
    """The module that defines a public name; constants do not know theirs, so it is looked for."""
    value = getattr(sys.modules[package], name)
    home = getattr(value, "__module__", None)
    ours = isinstance(home, str) and home.startswith(("mcn.", "graphmotifs."))
    if ours and hasattr(sys.modules.get(home), name):
        return home
    inside = [module for module in sorted(sys.modules) if module.startswith((f"{package}.", "graphmotifs."))]
    holding = [module for module in inside if vars(sys.modules[module]).get(name) is value]
    return max(holding, key=lambda module: (_assigns(module, name), -len(module)))


def _assigns(module: str, name: str) -> bool:
    return re.search(rf"^{name}\b[^=\n]*=", inspect.getsource(sys.modules[module]), re.MULTILINE) is not None
