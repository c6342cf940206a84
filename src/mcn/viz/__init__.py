"""Pictures of graphs and runs; each name is loaded when it is first used."""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "Explanation": "mcn.viz.explanation",
    "explain": "mcn.viz.explanation",
    "layout": "mcn.viz.force_layout",
    "write_explorer": "mcn.viz.explorer",
    "write_report": "mcn.viz.explorer",
    "draw_figure1": "mcn.viz.figure1",
    "draw_figure4": "mcn.viz.figure4",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mcn.viz' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
