"""The parameters of every recipe's estimators.

Type checkers and editors read `signatures.pyi` beside this file, which states every parameter with its type
and default. `python docs/make_stubs.py` writes it from the declared settings.
"""

from __future__ import annotations

from mcn.train.parameters import Parameters


class MCNParameters(Parameters, recipe="mcn"):
    """The settings of the recipe mcn."""


class PaperParameters(Parameters, recipe="paper"):
    """The settings of the recipe paper."""


class ViewsParameters(Parameters, recipe="views"):
    """The settings of the recipe views."""


class TreesParameters(Parameters, recipe="trees"):
    """The settings of the recipe trees."""


class AutoParameters(Parameters, recipe="auto"):
    """The settings of the recipe auto."""
