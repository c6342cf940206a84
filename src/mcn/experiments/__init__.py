"""Experiments: units of work and the ledger of their results; search and the paper build on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy

if TYPE_CHECKING:
    from mcn.experiments.engine import Ledger as Ledger
    from mcn.experiments.engine import Source as Source
    from mcn.experiments.engine import Unit as Unit
    from mcn.experiments.engine import WorkerDied as WorkerDied
    from mcn.experiments.engine import compare as compare
    from mcn.experiments.engine import open_engine as open_engine
    from mcn.experiments.engine import run_unit as run_unit
    from mcn.experiments.engine import run_units as run_units

_NAMES = ("Ledger", "Source", "Unit", "WorkerDied", "compare", "open_engine", "run_unit", "run_units")

__all__ = list(_NAMES)
__getattr__, __dir__ = lazy(__name__, dict.fromkeys(_NAMES, ".engine"))
