"""Experiments: units of work and the ledger of their results; search and the paper build on them."""

from __future__ import annotations

from mcn.experiments.engine import (
    Ledger,
    Source,
    Unit,
    WorkerDied,
    compare,
    open_engine,
    run_unit,
    run_units,
)

__all__ = ["Ledger", "Source", "Unit", "WorkerDied", "compare", "open_engine", "run_unit", "run_units"]
