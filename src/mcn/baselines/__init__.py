"""Methods behind one interface: the recipes, their special cases, those of the paper's table 2, and more."""

from __future__ import annotations

import importlib

from mcn.baselines.registry import METHODS, Method, find_method, register
from mcn.baselines.task import Task, task_from_data

for _name in (
    "special",
    "majority",
    "deepwalk",
    "lp",
    "manireg",
    "semiemb",
    "ica",
    "planetoid",
    "chebyshev",
    "monet",
    "gcn_ensemble",
    "grand",
    "twins",
    "graphsage",
    "gpr_gnn",
    "acm_gcn",
    "linkx",
    "link",
):  # importing a method's file registers it
    importlib.import_module(f"mcn.baselines.{_name}")

__all__ = ["METHODS", "Method", "Task", "find_method", "register", "task_from_data"]
