"""The paper on one floor: classic baselines, special cases, tables, figures and their reproduction.

Nothing but `mcn.cli` imports this package, and everything else works without it. Each name is loaded when it
is first used, so that the command line can list tables and figures without importing torch.
"""

from __future__ import annotations

from mcn._lazy import lazy

_NAMES = {
    ".figures": ("FIGURES", "draw_figure"),
    ".figures_of_graphs": ("draw_figure1", "draw_figure2"),
    ".figures_of_runs": ("draw_figure3", "draw_figure4"),
    ".report": ("summary_table",),
    ".reproduce": ("check_table", "read_table", "reproduce_table", "write_table"),
    ".special_cases": ("SpecialCase", "compare_special_cases"),
    ".tables": ("TABLES", "Table"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
