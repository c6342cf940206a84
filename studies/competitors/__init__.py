"""Methods that others proposed: GraphSAGE, GPR-GNN, ACM-GCN, LINKX, LINK and GRAND; see README.md.

Importing this registers them, by the hook that any user has (`mcn.paper.baselines.register`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mcn.experiments import Source, Unit
from studies.competitors import acm_gcn, gpr_gnn, grand, graphsage, link, linkx  # noqa: F401
from studies.rows import Study

COMPETITORS = ("graphsage", "gpr-gnn", "acm-gcn", "linkx", "link")
"""Those that the study of choosing compares with."""


def _on_split(method: str) -> Callable[[Source, int], Unit]:
    """Return what makes the unit of a split: the sets here come with ten."""
    return lambda source, seed: Unit(replace(source, options=(("split", seed),)), method, {}, seed)


STUDY = Study(
    Path(__file__).parent,
    {name: _on_split(name) for name in (*COMPETITORS, "gat", "mcn", "grand")},
    ("texas", "wisconsin", "chameleon-filtered", "actor", "minesweeper", "amazon-photo", "airports-usa"),
    range(10),
    tuple(("mcn", name) for name in COMPETITORS),
    results=Path(__file__).parent.parent / "choice" / "results.csv",
)
