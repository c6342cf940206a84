"""Motifs: the engine `graphmotifs` under the names of this package, and what needs PyG or a `GraphStore`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmotifs import (
    ARC_ORBITS,
    DIRECTED_GRAPHLETS,
    DIRECTED_MOTIFS,
    DIRECTED_NODE_ORBITS,
    EDGE_ORBITS,
    GRAPHLETS,
    MOTIFS,
    NODE_ORBITS,
    DirectedCounts,
    EstimatedTotal,
    MotifCounts,
    MotifEstimates,
    MotifTotal,
    directed_graphlet_of,
    graphlet_of,
)
from mcn._lazy import lazy
from mcn.motifs.count import count_motifs, motif_significance
from mcn.motifs.pictures import picture

if TYPE_CHECKING:
    from graphmotifs import MotifClusters, MotifSignificance, motif_clusters
    from mcn.motifs.add_motifs import AddMotifs

__all__ = [
    "ARC_ORBITS",
    "DIRECTED_GRAPHLETS",
    "DIRECTED_MOTIFS",
    "DIRECTED_NODE_ORBITS",
    "EDGE_ORBITS",
    "GRAPHLETS",
    "MOTIFS",
    "NODE_ORBITS",
    "AddMotifs",
    "DirectedCounts",
    "EstimatedTotal",
    "MotifClusters",
    "MotifCounts",
    "MotifEstimates",
    "MotifSignificance",
    "MotifTotal",
    "count_motifs",
    "directed_graphlet_of",
    "graphlet_of",
    "motif_clusters",
    "motif_significance",
    "picture",
]
_HOME = {
    "AddMotifs": ".add_motifs",  # counting alone does not need torch
    "MotifClusters": "graphmotifs",
    "MotifSignificance": "graphmotifs",
    "motif_clusters": "graphmotifs",
}
__getattr__, __dir__ = lazy(__name__, _HOME)
