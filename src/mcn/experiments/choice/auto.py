"""The recipe `auto` beside what it chooses from, as a table of the study's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcn.experiments.choice.figures import by_row, gap, said
from mcn.experiments.choice.others import AUTO
from mcn.experiments.paper.document import Grid
from mcn.experiments.paper.report import DASH
from mcn.experiments.paper.report_markdown import markdown

_THREE = ("mlp", "gcn", "gat")


def auto_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table in Markdown: means over the splits of `auto`, and the gap to the best of three."""
    lines = []
    for name in dict.fromkeys(str(row["set"]) for row in rows if row["row"] == AUTO):
        figures = by_row(rows, name)
        own = {
            row: {split: figures[row][split] for split in figures[AUTO] if split in figures.get(row, {})}
            for row in (*_THREE, AUTO)
        }
        means = {row: float(np.mean(list(values.values()))) for row, values in own.items() if values}
        best = max(_THREE, key=lambda row: means.get(row, 0.0))
        clock = said(rows, name, "clock", AUTO)  # which the budget is about
        lines.append(
            [
                name,
                str(len(own[AUTO])),
                *(f"{means[row]:.1f}" if row in means else DASH for row in own),
                f"{gap(own[AUTO], own[best])} ({best})" if best in means else DASH,
                f"{min(clock):.0f}–{max(clock):.0f}" if clock else DASH,
            ]
        )
    return markdown([Grid(["set", "splits", *_THREE, AUTO, "auto − best of the three", "seconds"], lines)])
