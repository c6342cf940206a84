"""Experiments: methods, units of work and the ledger of their results; `mcn.paper` and the search use them.

Each name is loaded when it is first used: the ledger needs no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy

if TYPE_CHECKING:
    from mcn.experiments.engine.ledger import Ledger as Ledger
    from mcn.experiments.engine.methods import METHODS as METHODS
    from mcn.experiments.engine.methods import GraphInputs as GraphInputs
    from mcn.experiments.engine.methods import Method as Method
    from mcn.experiments.engine.methods import check_methods as check_methods
    from mcn.experiments.engine.methods import find_method as find_method
    from mcn.experiments.engine.methods import graph_problem as graph_problem
    from mcn.experiments.engine.methods import register as register
    from mcn.experiments.engine.methods import val_accuracy as val_accuracy
    from mcn.experiments.engine.results import markdown_table as markdown_table
    from mcn.experiments.engine.results import metric_figures as metric_figures
    from mcn.experiments.engine.results import paired as paired
    from mcn.experiments.engine.results import result_row as result_row
    from mcn.experiments.engine.runner import compare as compare
    from mcn.experiments.engine.runner import known_settings as known_settings
    from mcn.experiments.engine.runner import run_units as run_units
    from mcn.experiments.engine.source import Source as Source
    from mcn.experiments.engine.source import in_memory as in_memory
    from mcn.experiments.engine.unit import Unit as Unit
    from mcn.experiments.engine.unit import run_unit as run_unit
    from mcn.experiments.engine.workers import WorkerDied as WorkerDied
    from mcn.experiments.engine.workers import open_engine as open_engine

_NAMES = {
    ".engine.ledger": ("Ledger",),
    ".engine.methods": (
        *("METHODS", "GraphInputs", "Method", "check_methods", "find_method"),
        *("graph_problem", "register", "val_accuracy"),
    ),
    ".engine.results": ("markdown_table", "metric_figures", "paired", "result_row"),
    ".engine.runner": ("compare", "known_settings", "run_units"),
    ".engine.source": ("Source", "in_memory"),
    ".engine.unit": ("Unit", "run_unit"),
    ".engine.workers": ("WorkerDied", "open_engine"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
