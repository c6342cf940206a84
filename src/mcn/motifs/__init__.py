"""Motifs: the catalogue, and exact counting of them at every edge and node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy
from mcn.motifs.catalogue import EDGE_ORBITS, GRAPHLETS, MOTIFS, NODE_ORBITS, graphlet_of
from mcn.motifs.count import count_motifs
from mcn.motifs.counted import MotifTotal
from mcn.motifs.counts import MotifCounts
from mcn.motifs.directed import DirectedCounts
from mcn.motifs.estimate import EstimatedTotal, MotifEstimates
from mcn.motifs.triads import (
    ARC_ORBITS,
    DIRECTED_GRAPHLETS,
    DIRECTED_MOTIFS,
    DIRECTED_NODE_ORBITS,
    directed_graphlet_of,
    picture,
)

if TYPE_CHECKING:
    from mcn.motifs.add_motifs import AddMotifs
    from mcn.motifs.clusters import MotifClusters, motif_clusters
    from mcn.motifs.significance import MotifSignificance, motif_significance

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
    "MotifClusters": ".clusters",
    "MotifSignificance": ".significance",
    "motif_clusters": ".clusters",
    "motif_significance": ".significance",
}
__getattr__, __dir__ = lazy(__name__, _HOME)
