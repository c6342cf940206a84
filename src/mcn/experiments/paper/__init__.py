"""The paper's tables: what they say, which runs fill them again, and the reports on those."""

from __future__ import annotations

from mcn.experiments.paper.report import summary_table
from mcn.experiments.paper.reproduce import check_table, read_table, reproduce_table, write_table
from mcn.experiments.paper.special_cases import SpecialCase, special_cases
from mcn.experiments.paper.tables import TABLES, Table

__all__ = [
    "TABLES",
    "SpecialCase",
    "Table",
    "check_table",
    "read_table",
    "reproduce_table",
    "special_cases",
    "summary_table",
    "write_table",
]
