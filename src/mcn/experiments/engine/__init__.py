"""The engine: units of work, the ledger of their results, and what runs them."""

from __future__ import annotations

from mcn.experiments.engine.comparing import compare
from mcn.experiments.engine.engines import WorkerDied, open_engine
from mcn.experiments.engine.ledger import Ledger
from mcn.experiments.engine.runner import run_units
from mcn.experiments.engine.source import Source
from mcn.experiments.engine.unit import Unit, run_unit

__all__ = ["Ledger", "Source", "Unit", "WorkerDied", "compare", "open_engine", "run_unit", "run_units"]
