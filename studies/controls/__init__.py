"""One GCN per motif matrix, and the paper's rule with an advantage instead of the reward; see README.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcn.experiments import METHODS, Source, Unit
from studies.ensembles import SIZES
from studies.rows import Study, plain


def paper_rule(dataset: str | None) -> dict[str, Any]:
    """Return what turns the preset of `mcn` into the paper's; the recipe `paper` itself has no advantage."""
    paper, ours = (METHODS[name].configure(dataset, {}, {}) for name in ("paper", "mcn"))
    assert paper is not None
    assert ours is not None
    before = ours.to_dict()
    return {name: value for name, value in paper.to_dict().items() if value != before.get(name, value)}


def _with_advantage(kind: str) -> Callable[[Source, int], Unit]:
    return lambda source, seed: Unit(source, "mcn", paper_rule(source.dataset) | {"advantage": kind}, seed)


STUDY = Study(
    Path(__file__).parent,
    {
        **{name: plain(name) for name in ("gcn", *SIZES, "gat")},
        "mcn-paper": plain("paper"),
        "mcn-paper-mean": _with_advantage("mean"),
        "mcn-paper-learned": _with_advantage("learned"),
    },
    ("cora", "citeseer", "pubmed"),
    range(15),
    (
        *((name, "gcn") for name in SIZES),
        *(("mcn-paper-mean", "mcn-paper"), ("mcn-paper-learned", "mcn-paper")),
        *(("mcn-paper-mean", "gat"), ("mcn-paper-learned", "gat")),
    ),
)
