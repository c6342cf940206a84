"""Motif views beside the paper's networks on the citation graphs, with and without motifs; see README.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcn.experiments import METHODS, Source, Unit
from studies.competitors import grand  # noqa: F401 - importing it registers the method
from studies.rows import Study, plain

VIEWS = {
    "views-edge": ["edge"],
    "views-random": ["edge", "random=1", "random=2"],
    "views-walks": ["edge", "shorter", "longer"],
    "views-2": ["edge", "triangle"],
    "views": ["edge", "triangle", "4-cycle"],
    "views-5": ["edge", "triangle", "4-cycle", "2-star", "4-clique"],
}
"""What each row with motif views draws from; the first three have no motifs in them, to compare with."""


def view_names(row: str, dataset: str | None) -> list[str]:
    """Return the views of a row; shorter and longer walks stop twice and half as often, or else as early."""
    config: Any = METHODS["views"].configure(dataset, {}, {})
    length, stop = config.walk_length, config.stop_probability
    if stop is None:
        names = {"shorter": f"order={max(1, length // 2)}", "longer": f"order={2 * length}"}
    else:
        names = {"shorter": f"alpha={min(2 * stop, 0.9):g}", "longer": f"alpha={stop / 2:g}"}
    return [names.get(name, name) for name in VIEWS[row]]


def _views(row: str) -> Callable[[Source, int], Unit]:
    return lambda source, seed: Unit(source, "views", {"motifs": view_names(row, source.dataset)}, seed)


STUDY = Study(
    Path(__file__).parent,
    {
        **{name: plain(name) for name in ("gat", "gat-consistency")},
        "mcn-paper": plain("paper"),
        **{name: plain(name) for name in ("mcn", "grand")},
        **{row: _views(row) for row in VIEWS},
    },
    ("cora", "citeseer", "pubmed"),
    range(200, 230),
    (
        *(("mcn", "gat"), ("mcn", "gat-consistency"), ("mcn-paper", "gat"), ("views", "gat")),
        *(("views", "grand"), ("views-edge", "grand"), ("views", "views-edge"), ("views", "views-random")),
        *(("views", "views-walks"), ("views-random", "views-edge"), ("views-walks", "views-edge")),
        *(("views-2", "views-edge"), ("views-5", "views-edge")),
    ),
)
