"""A graph made ready for training with motif views. The labels of test nodes are not in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.matrices import PageRankRows, view_rows
from mcn.motifs import MotifCounts, count_motifs
from mcn.nn.features import SparseFeatures, sparse_features
from mcn.train.features import features
from mcn.train.problem import Labelled, fingerprint, known_labels
from mcn.train.views_config import ViewsConfig


@dataclass(frozen=True, eq=False)
class ViewsProblem(Labelled):
    """What a training run sees: features, the rows that views are drawn from, and the labels of two parts.

    `labels` is -1 wherever a node is in neither the training nor the validation part.
    """

    x: SparseFeatures
    rows: PageRankRows
    labels: torch.Tensor
    train: NDArray[np.int64]
    val: NDArray[np.int64]
    num_classes: int
    data: str

    def fingerprint(self) -> str:
        """SHA-256 of the edges, features, known labels and parts: whether a run is about this graph."""
        return self.data


def prepare_views(data: Data, config: ViewsConfig, counts: MotifCounts | None = None) -> ViewsProblem:
    """Check a graph and make it ready: the PageRank rows are computed here, once, on all cores.

    Raises:
        ValueError: says what of `data` cannot be trained on, or which setting does not fit.
    """
    known = known_labels(data)
    counts = count_motifs(data.edge_index, data.num_nodes) if counts is None else counts
    x = features(data.x, config.normalize)
    edges = counts.adjacency("edge")
    return ViewsProblem(
        held_sparse(x),
        rows_of(counts, config),
        *known,
        fingerprint(x, edges.indptr, edges.indices, known),
    )


def rows_of(counts: MotifCounts, config: ViewsConfig) -> PageRankRows:
    """The rows that a configuration asks for."""
    return view_rows(
        counts,
        config.motifs,
        order=config.order,
        alpha=config.alpha,
        top=config.top,
        scope=config.scope,
        symmetric=config.symmetric,
        tolerance=config.tolerance,
    )


def held_sparse(x: torch.Tensor) -> SparseFeatures:
    """Features as CSR; dense ones lose nothing but their zeros."""
    return sparse_features(x.to_sparse_csr() if x.layout == torch.strided else x)
