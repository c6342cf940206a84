"""Motifs: the catalogue, and exact counting of them at every edge and node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy
from mcn.motifs.catalogue import EDGE_ORBITS, GRAPHLETS, MOTIFS, NODE_ORBITS, graphlet_of, picture
from mcn.motifs.count import count_motifs
from mcn.motifs.counts import MotifCounts, MotifTotal
from mcn.motifs.estimate import EstimatedTotal, MotifEstimates

if TYPE_CHECKING:
    from mcn.motifs.add_motifs import AddMotifs

__all__ = [
    "EDGE_ORBITS",
    "GRAPHLETS",
    "MOTIFS",
    "NODE_ORBITS",
    "AddMotifs",
    "EstimatedTotal",
    "MotifCounts",
    "MotifEstimates",
    "MotifTotal",
    "count_motifs",
    "graphlet_of",
    "picture",
]
__getattr__, __dir__ = lazy(__name__, {"AddMotifs": ".add_motifs"})  # counting alone does not need torch
