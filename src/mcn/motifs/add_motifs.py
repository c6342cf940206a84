"""Motif counts as a PyG transform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from graphmotifs._arguments import as_array
from graphmotifs.catalogue import EDGE_ORBITS, check_names, graphlet_of
from graphmotifs.graph import simple_graph
from mcn.data.checks import told_nodes
from mcn.motifs.count import count_motifs


class AddMotifs(BaseTransform):
    """Add motif counts to a PyG ``Data``.

    Sets `motif_node` [N, 15], the node orbits `mcn.NODE_ORBITS`, and `motif_edge` [E, T], the counts of
    `motifs` for each column of `edge_index` as it stands (both directions of an edge carry the same
    counts; a self-loop carries zeros). `edge_index` itself is left alone.

    Args:
        motifs: names of edge orbits or graphlets; all 13 edge orbits by default.
        induced: count induced subgraphs (default) or all.
        threads: as in `count_motifs`.
    """

    def __init__(
        self, motifs: Sequence[str] = EDGE_ORBITS, *, induced: bool = True, threads: int | None = None
    ) -> None:
        check_names(motifs)
        for motif in motifs:
            graphlet_of(motif)
        self.motifs = tuple(motifs)
        self.induced = induced
        self.threads = threads

    def forward(self, data: Any) -> Any:
        """Count and attach."""
        if not isinstance(data, Data):
            raise ValueError(f"AddMotifs works on a torch_geometric.data.Data, got {type(data).__name__}")
        if data.edge_index is None:
            raise ValueError("AddMotifs needs data.edge_index, and this Data has none")
        graph = simple_graph(data.edge_index, told_nodes(data))
        counts = count_motifs(graph, induced=self.induced, threads=self.threads)
        data.motif_node = torch.from_numpy(counts.per_node)
        given = as_array(data.edge_index, "edge_index", "[2, E]")
        ends = torch.from_numpy(given.astype(np.int64) if given.size else np.empty(given.shape, np.int64))
        low, high = ends.min(dim=0).values, ends.max(dim=0).values
        pairs = torch.from_numpy(counts.pairs)
        n = max(counts.num_nodes, 1)
        where = torch.searchsorted(pairs[:, 0] * n + pairs[:, 1], low * n + high)
        columns = torch.zeros(ends.shape[1], len(self.motifs), dtype=torch.int64)
        proper = low != high
        for t, motif in enumerate(self.motifs):
            columns[proper, t] = torch.from_numpy(counts.column(motif))[where[proper]]
        data.motif_edge = columns
        return data

    def __repr__(self) -> str:
        return f"AddMotifs({list(self.motifs)}, induced={self.induced})"
