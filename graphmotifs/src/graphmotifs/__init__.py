"""Exact motif counts of every edge and node of a graph.

`count` is the front. A public name is loaded when it is first used, so that importing the package costs
nothing until something is counted.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphmotifs.base_counts import MotifTotal
    from graphmotifs.catalogue import EDGE_ORBITS, GRAPHLETS, MOTIFS, NODE_ORBITS, graphlet_of
    from graphmotifs.clusters import MotifClusters, motif_clusters
    from graphmotifs.counting import count
    from graphmotifs.directed_counts import DirectedCounts
    from graphmotifs.estimates import EstimatedTotal, MotifEstimates
    from graphmotifs.graph import SimpleGraph, simple_graph
    from graphmotifs.graph_rows import GraphRows
    from graphmotifs.motif_counts import MotifCounts
    from graphmotifs.significance import MotifSignificance, Significance, motif_significance
    from graphmotifs.triads import (
        ARC_ORBITS,
        DIRECTED_GRAPHLETS,
        DIRECTED_MOTIFS,
        DIRECTED_NODE_ORBITS,
        directed_graphlet_of,
        picture,
    )

__version__ = "0.4.0"
__all__ = [
    "ARC_ORBITS",
    "DIRECTED_GRAPHLETS",
    "DIRECTED_MOTIFS",
    "DIRECTED_NODE_ORBITS",
    "EDGE_ORBITS",
    "GRAPHLETS",
    "MOTIFS",
    "NODE_ORBITS",
    "DirectedCounts",
    "EstimatedTotal",
    "GraphRows",
    "MotifClusters",
    "MotifCounts",
    "MotifEstimates",
    "MotifSignificance",
    "MotifTotal",
    "Significance",
    "SimpleGraph",
    "__version__",
    "count",
    "directed_graphlet_of",
    "graphlet_of",
    "motif_clusters",
    "motif_significance",
    "picture",
    "simple_graph",
]
_MODULES = {  # of the public names
    "base_counts": ("MotifTotal",),
    "catalogue": ("EDGE_ORBITS", "GRAPHLETS", "MOTIFS", "NODE_ORBITS", "graphlet_of"),
    "clusters": ("MotifClusters", "motif_clusters"),
    "counting": ("count",),
    "directed_counts": ("DirectedCounts",),
    "estimates": ("EstimatedTotal", "MotifEstimates"),
    "graph": ("SimpleGraph", "simple_graph"),
    "graph_rows": ("GraphRows",),
    "motif_counts": ("MotifCounts",),
    "significance": ("MotifSignificance", "Significance", "motif_significance"),
    "triads": (
        "ARC_ORBITS",
        "DIRECTED_GRAPHLETS",
        "DIRECTED_MOTIFS",
        "DIRECTED_NODE_ORBITS",
        "directed_graphlet_of",
        "picture",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"graphmotifs.{_HOMES[name]}"), name)
    globals()[name] = value  # found at once from now on
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
