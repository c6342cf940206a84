"""The engine: units of work, the ledger of their results, and what runs them.

Each name is loaded when it is first used: the ledger needs no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy

if TYPE_CHECKING:
    from mcn.experiments.engine.comparing import compare as compare
    from mcn.experiments.engine.engines import WorkerDied as WorkerDied
    from mcn.experiments.engine.engines import open_engine as open_engine
    from mcn.experiments.engine.ledger import Ledger as Ledger
    from mcn.experiments.engine.runner import run_units as run_units
    from mcn.experiments.engine.source import Source as Source
    from mcn.experiments.engine.unit import Unit as Unit
    from mcn.experiments.engine.unit import run_unit as run_unit

_HOME = {
    "Ledger": ".ledger",
    "Source": ".source",
    "Unit": ".unit",
    "WorkerDied": ".engines",
    "compare": ".comparing",
    "open_engine": ".engines",
    "run_unit": ".unit",
    "run_units": ".runner",
}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
