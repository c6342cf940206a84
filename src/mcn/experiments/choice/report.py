"""The study of choosing as tables: means over splits, paired differences, and what choosing was worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mcn.experiments.engine.cells import paired
from mcn.experiments.paper.document import Grid
from mcn.experiments.paper.report import DASH
from mcn.experiments.paper.report_markdown import markdown

_FIXED = ("mlp", "counts", "gcn", "sage", "gat", "triangle-sum", "triangle")
_CHOSEN = ("pick", "blend", "nodes", "mixture", "control", "rule")
_PAIRS = (("rule", "pick"), ("rule", "gat"), ("nodes", "pick"), ("control", "pick"))


def tables(rows: Sequence[dict[str, Any]]) -> str:
    """Return the tables of the study in Markdown, made from its rows."""
    sets = list(dict.fromkeys(str(row["set"]) for row in rows))
    figures = {name: _by_row(rows, name) for name in sets}
    means = [[name, str(_count(figures[name])), *_means(figures[name])] for name in sets]
    gaps = [[name, *_gaps(figures[name]), *_worth(rows, name)] for name in sets]
    differences = (f"{a} − {b}" for a, b in _PAIRS)
    return markdown(
        [
            Grid(["set", "splits", *_FIXED, *_CHOSEN], means),
            Grid(["set", *differences, "worth (held-out)", "apparent room", "time / gat"], gaps),
        ]
    )


def _by_row(rows: Sequence[dict[str, Any]], name: str) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["set"] == name:
            found.setdefault(str(row["row"]), {})[int(row["split"])] = 100 * float(row["test"])
    return found


def _count(own: dict[str, dict[int, float]]) -> int:
    return len(own["rule"])


def _means(own: dict[str, dict[int, float]]) -> list[str]:
    return [f"{np.mean(list(own[row].values())):.1f}" if row in own else DASH for row in (*_FIXED, *_CHOSEN)]


def _gaps(own: dict[str, dict[int, float]]) -> list[str]:
    return [gap(own[first], own[second]) for first, second in _PAIRS]


def gap(first: dict[int, float], second: dict[int, float]) -> str:
    """Return the mean paired difference with its standard error.

    >>> gap({0: 80.0, 1: 82.0}, {0: 79.0, 1: 79.0})
    '+2.0 ± 1.0'
    """
    found = paired(first, second)
    if found is None:
        return DASH
    return f"{found.mean:+.1f}" + ("" if found.error is None else f" ± {found.error:.1f}")


def _worth(rows: Sequence[dict[str, Any]], name: str) -> list[str]:
    """What choosing was worth on held-out nodes, the room an oracle would show, and the cost of a run."""
    notes = [_figures(str(row["note"])) for row in rows if row["set"] == name and row["row"] == "nodes"]
    gains, rooms = ([100 * note[key] for note in notes if key in note] for key in ("gain", "apparent_room"))
    cost = [
        sum(
            float(r["seconds"])
            for r in rows
            if _of(r, name, split) and r["row"] in (*_FIXED, "refit") and r["seconds"]
        )
        / float(gat["seconds"])
        for split, gat in (
            (int(row["split"]), row) for row in rows if row["set"] == name and row["row"] == "gat"
        )
    ]
    return [
        f"{np.mean(gains):+.1f}" if gains else DASH,
        f"{np.mean(rooms):.1f}" if rooms else DASH,
        f"{np.median(cost):.1f}",
    ]


def _of(row: dict[str, Any], name: str, split: int) -> bool:
    return row["set"] == name and int(row["split"]) == split


def _figures(note: str) -> dict[str, float]:
    return {key: float(value) for key, _, value in (part.partition("=") for part in note.split())}
