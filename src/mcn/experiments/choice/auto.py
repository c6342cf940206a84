"""The recipe `auto` beside what it chooses from, as a table: `docs/results/auto.csv` has the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcn.experiments.choice.figures import by_row, gap
from mcn.experiments.paper.document import Grid
from mcn.experiments.paper.report_markdown import markdown

_THREE = ("mlp", "gcn", "gat")


def auto_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table in Markdown: the mean over splits, and the difference to the best of the three means."""
    lines = []
    for name in dict.fromkeys(str(row["set"]) for row in rows):
        own = by_row(rows, name)
        means = {row: float(np.mean(list(own[row].values()))) for row in (*_THREE, "auto")}
        best = max(_THREE, key=lambda row: means[row])
        seconds = [float(row["seconds"]) for row in rows if row["set"] == name and row["row"] == "auto"]
        lines.append(
            [
                name,
                str(len(own["auto"])),
                *(f"{mean:.1f}" for mean in means.values()),
                f"{gap(own['auto'], own[best])} ({best})",
                f"{min(seconds):.0f}–{max(seconds):.0f}",
            ]
        )
    return markdown([Grid(["set", "splits", *_THREE, "auto", "auto − best of the three", "seconds"], lines)])
