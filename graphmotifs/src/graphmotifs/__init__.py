"""Exact motif counts of every edge and node of a graph.

`count` is the front. A public name is loaded when it is first used, so that importing the package costs
nothing until something is counted.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphmotifs.base_counts import MotifTotal as MotifTotal
    from graphmotifs.catalogue import EDGE_ORBITS as EDGE_ORBITS
    from graphmotifs.catalogue import GRAPHLETS as GRAPHLETS
    from graphmotifs.catalogue import MOTIFS as MOTIFS
    from graphmotifs.catalogue import NODE_ORBITS as NODE_ORBITS
    from graphmotifs.catalogue import graphlet_of as graphlet_of
    from graphmotifs.clusters import MotifClusters as MotifClusters
    from graphmotifs.clusters import motif_clusters as motif_clusters
    from graphmotifs.counting import count as count
    from graphmotifs.directed_counts import DirectedCounts as DirectedCounts
    from graphmotifs.estimates import EstimatedTotal as EstimatedTotal
    from graphmotifs.estimates import MotifEstimates as MotifEstimates
    from graphmotifs.graph import SimpleGraph as SimpleGraph
    from graphmotifs.graph import simple_graph as simple_graph
    from graphmotifs.graph_rows import GraphRows as GraphRows
    from graphmotifs.motif_counts import MotifCounts as MotifCounts
    from graphmotifs.significance import MotifSignificance as MotifSignificance
    from graphmotifs.significance import Significance as Significance
    from graphmotifs.significance import motif_significance as motif_significance
    from graphmotifs.triads import ARC_ORBITS as ARC_ORBITS
    from graphmotifs.triads import DIRECTED_GRAPHLETS as DIRECTED_GRAPHLETS
    from graphmotifs.triads import DIRECTED_MOTIFS as DIRECTED_MOTIFS
    from graphmotifs.triads import DIRECTED_NODE_ORBITS as DIRECTED_NODE_ORBITS
    from graphmotifs.triads import directed_graphlet_of as directed_graphlet_of

__version__ = "0.4.0"
_NAMES = {
    "base_counts": ("MotifTotal",),
    "catalogue": (
        "EDGE_ORBITS",
        "GRAPHLETS",
        "MOTIFS",
        "NODE_ORBITS",
        "graphlet_of",
    ),
    "clusters": (
        "MotifClusters",
        "motif_clusters",
    ),
    "counting": ("count",),
    "directed_counts": ("DirectedCounts",),
    "estimates": (
        "EstimatedTotal",
        "MotifEstimates",
    ),
    "graph": (
        "SimpleGraph",
        "simple_graph",
    ),
    "graph_rows": ("GraphRows",),
    "motif_counts": ("MotifCounts",),
    "significance": (
        "MotifSignificance",
        "Significance",
        "motif_significance",
    ),
    "triads": (
        "ARC_ORBITS",
        "DIRECTED_GRAPHLETS",
        "DIRECTED_MOTIFS",
        "DIRECTED_NODE_ORBITS",
        "directed_graphlet_of",
    ),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
__all__ = ["__version__", *_MODULE_OF]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"graphmotifs.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # found at once from now on
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
