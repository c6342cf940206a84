"""The explorer: a run and its graph in one HTML file that needs no network, no server, no other files."""

from __future__ import annotations

from mcn.viz.explorer.write import write_explorer, write_report

__all__ = ["write_explorer", "write_report"]
