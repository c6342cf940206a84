"""The study of choosing as tables: means over splits, paired differences, and what choosing was worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mcn.experiments.choice.auto import auto_table
from mcn.experiments.choice.beside import beside
from mcn.experiments.choice.figures import by_row, gap, said
from mcn.experiments.choice.published import published_table
from mcn.experiments.paper.document import Grid
from mcn.experiments.paper.report import DASH
from mcn.experiments.paper.report_markdown import markdown

_FIXED = ("mlp", "counts", "gcn", "sage", "gat", "triangle-sum", "triangle")
_CHOSEN = ("pick", "graph", "nodes", "mixture", "control", "rule")
_PAIRS = (("rule", "pick"), ("rule", "gat"), ("rule", "graph"), ("nodes", "pick"), ("control", "pick"))

_ROOM = {
    "gain": "worth (held-out)",
    "apparent_room": "apparent room",
    "chance_room": "with drawn labels",
    "bound": "bound",
}


def tables(rows: Sequence[dict[str, Any]]) -> str:
    """Return the tables of the study in Markdown, made from its rows."""
    sets = list(dict.fromkeys(str(row["set"]) for row in rows))
    figures = {name: by_row(rows, name) for name in sets}
    ruled = [name for name in sets if "rule" in figures[name]]
    means = [[name, str(_count(figures[name])), *_means(figures[name])] for name in ruled]
    gaps = [[name, *_gaps(figures[name]), *_worth(rows, name)] for name in ruled]
    differences = (f"{a} − {b}" for a, b in _PAIRS)
    grids = [
        Grid(["set", "splits", *_FIXED, *_CHOSEN], means),
        Grid(["set", *differences, *_ROOM.values(), "time / gat"], gaps),
    ]
    return markdown([*(grids if ruled else []), *beside(rows, figures)])


def _count(own: dict[str, dict[int, float]]) -> int:
    return len(own["rule"])


def _means(own: dict[str, dict[int, float]]) -> list[str]:
    return [f"{np.mean(list(own[row].values())):.1f}" if row in own else DASH for row in (*_FIXED, *_CHOSEN)]


def _gaps(own: dict[str, dict[int, float]]) -> list[str]:
    return [gap(own[first], own.get(second, {})) for first, second in _PAIRS]


def _worth(rows: Sequence[dict[str, Any]], name: str) -> list[str]:
    """What choosing was worth on held-out nodes, what could be gained there, and the cost of a run."""
    figures = {key: 100 * np.array(said(rows, name, key)) for key in _ROOM}
    seconds = {
        (str(row["row"]), int(row["split"])): float(row["seconds"])
        for row in rows
        if row["set"] == name and row["row"] in ("rule", "gat")
    }
    cost = [seconds["rule", split] / own for (row, split), own in seconds.items() if row == "gat"]
    found = [
        f"{np.mean(own):{'+' if key == 'gain' else ''}.1f}" if len(own) else DASH
        for key, own in figures.items()
    ]
    return [*found, f"{np.median(cost):.1f}"]


def filled_page(page: str, rows: Sequence[dict[str, Any]]) -> str:
    """Return a page with what these rows say between its marks, of which it has one pair or more.

    Raises:
        ValueError: the page has none.
    """
    found = 0
    for mark, made in (("choice", tables), ("published", published_table), ("auto", auto_table)):
        begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
        before, _, rest = page.partition(begin)
        after = rest.partition(end)[2]
        if after:
            page = f"{before}{begin}\n\n{made(rows).strip()}\n\n{end}{after}"
            found += 1
    if not found:
        raise ValueError("the page has no <!-- choice --> … <!-- end of choice -->, nor <!-- published --> …")
    return page
