"""The paper's tables: what it reports, which runs fill them again, and the reports on those."""

from __future__ import annotations

from mcn.experiments.paper.reproduce import check_table, render_table, reproduce_table
from mcn.experiments.paper.special_cases import SpecialCase, special_cases

__all__ = ["SpecialCase", "check_table", "render_table", "reproduce_table", "special_cases"]
