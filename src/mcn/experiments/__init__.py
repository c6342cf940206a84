"""Experiments: units of work, the ledger of their results, running and searching over them."""

from __future__ import annotations

from mcn.experiments._engine import WorkerDied, open_engine
from mcn.experiments.importance import importances
from mcn.experiments.ledger import Ledger
from mcn.experiments.preset import Preset, load_preset, presets
from mcn.experiments.reproduce import reproduce_table
from mcn.experiments.runner import run_units
from mcn.experiments.search import SearchResult, Trial, search
from mcn.experiments.source import Source
from mcn.experiments.space import Range, Space, load_space, spaces
from mcn.experiments.special_cases import SpecialCase, special_cases
from mcn.experiments.unit import Unit, run_unit

__all__ = [
    "Ledger",
    "Preset",
    "Range",
    "SearchResult",
    "Source",
    "Space",
    "SpecialCase",
    "Trial",
    "Unit",
    "WorkerDied",
    "importances",
    "load_preset",
    "load_space",
    "open_engine",
    "presets",
    "reproduce_table",
    "run_unit",
    "run_units",
    "search",
    "spaces",
    "special_cases",
]
