"""Pictures of graphs and runs; each name is loaded when it is first used."""

from __future__ import annotations

from mcn._lazy import lazy

_HOME = {
    "Explanation": ".explanation",
    "explain": ".explanation",
    "layout": ".force_layout",
    "write_explorer": ".explorer",
    "write_report": ".explorer",
    "draw_profile": ".drawing",
}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
