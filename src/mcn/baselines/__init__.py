"""Other methods, those of the paper's table 2 and more, behind one interface: ``(task, seed) -> scores``."""

from __future__ import annotations

import importlib

from mcn.baselines.registry import BASELINES, baseline, register
from mcn.baselines.run import run, scores
from mcn.baselines.task import Method, Task, task_from_data

_METHODS = (
    "majority",
    "deepwalk",
    "mlp",
    "lp",
    "manireg",
    "semiemb",
    "ica",
    "planetoid",
    "chebyshev",
    "monet",
    "gcn",
    "gat",
    "gcn_ensemble",
    "grand",
    "twins",
)
for _name in _METHODS:  # importing a method's file registers it
    importlib.import_module(f"mcn.baselines.{_name}")

__all__ = ["BASELINES", "Method", "Task", "baseline", "register", "run", "scores", "task_from_data"]
