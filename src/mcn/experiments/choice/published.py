"""Accuracies that others published for the competitors, beside those of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mcn.experiments.choice.figures import by_row
from mcn.experiments.paper.document import Grid
from mcn.experiments.paper.report import DASH
from mcn.experiments.paper.report_markdown import markdown


class Published(NamedTuple):
    """Test accuracy in percent on the ten given splits, its standard deviation over them, and who ran it."""

    mean: float
    deviation: float
    source: str


_H2GCN, _GGCN = "Zhu et al. 2020", "Yan et al. 2022"
_ACM, _LINKX = "Luan et al. 2022", "Lim et al. 2021"
_FILTERED = "Platonov et al. 2023"
PUBLISHED: dict[tuple[str, str], Published] = {
    ("graphsage", "texas"): Published(82.43, 6.14, _H2GCN),
    ("graphsage", "wisconsin"): Published(81.18, 5.56, _H2GCN),
    ("graphsage", "actor"): Published(34.23, 0.99, _H2GCN),
    ("graphsage", "chameleon-filtered"): Published(37.77, 4.14, _FILTERED),
    ("gpr-gnn", "texas"): Published(78.38, 4.36, _GGCN),
    ("gpr-gnn", "wisconsin"): Published(82.94, 4.21, _GGCN),
    ("gpr-gnn", "actor"): Published(34.63, 1.22, _GGCN),
    ("acm-gcn", "texas"): Published(87.84, 4.40, _ACM),
    ("acm-gcn", "wisconsin"): Published(88.43, 3.22, _ACM),
    ("acm-gcn", "actor"): Published(36.28, 1.09, _ACM),
    ("linkx", "texas"): Published(74.60, 8.37, _LINKX),
    ("linkx", "wisconsin"): Published(75.49, 5.72, _LINKX),
    ("linkx", "actor"): Published(36.10, 1.55, _LINKX),
}


def published_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table in Markdown: what was published, and what the study's rows have on those splits."""
    lines = []
    for (method, name), known in PUBLISHED.items():
        own = list(by_row(rows, name).get(method, {}).values())
        spread = f" ± {np.std(own, ddof=1):.1f}" if len(own) > 1 else ""
        here = f"{np.mean(own):.1f}{spread}" if own else DASH
        there = f"{known.mean:.1f} ± {known.deviation:.1f}"
        lines.append([method, name, there, known.source, here, str(len(own))])
    return markdown([Grid(["method", "set", "published", "by", "here", "splits here"], lines)])
