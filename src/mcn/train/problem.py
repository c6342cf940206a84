"""A graph made ready for training. The labels of test nodes are not in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.data import check_data
from mcn.data.sparse import feature_csr, feature_tensor
from mcn.matrices import MotifStack
from mcn.motifs import MotifCounts, count_motifs
from mcn.train.config import Config


@dataclass(frozen=True, eq=False)
class Problem:
    """What a training run sees: features, the motif stack, and the labels of two parts of the nodes.

    `labels` is -1 wherever a node is in neither the training nor the validation part, so nothing
    downstream can look at a test label.
    """

    x: torch.Tensor
    stack: MotifStack
    labels: torch.Tensor
    train: NDArray[np.int64]
    val: NDArray[np.int64]
    num_classes: int

    @property
    def train_labels(self) -> torch.Tensor:
        """Classes of the training nodes, in the order of `train`."""
        return self.labels[torch.from_numpy(self.train)]

    @property
    def val_labels(self) -> torch.Tensor:
        """Classes of the validation nodes, in the order of `val`."""
        return self.labels[torch.from_numpy(self.val)]


def prepare(data: Data, config: Config, counts: MotifCounts | None = None) -> Problem:
    """Check a graph and make it ready.

    Args:
        data: with x, y, edge_index and the three masks.
        config: decides the motif stack and whether features are row-normalised.
        counts: the motif counts of `data`, if they are known already.
    """
    check_data(data)
    seen = data.train_mask | data.val_mask
    labels = torch.where(seen, data.y, torch.full_like(data.y, -1))
    if not data.val_mask.any():
        raise ValueError("data.val_mask is empty; training needs validation nodes to know when to stop")
    return Problem(
        features(data.x, config.normalize),
        motif_stack(data, config, counts),
        labels,
        data.train_mask.nonzero().squeeze(1).numpy(),
        data.val_mask.nonzero().squeeze(1).numpy(),
        _num_classes(data),
    )


def motif_stack(
    data: Data,
    config: Config,
    counts: MotifCounts | None = None,
    count_scale: NDArray[np.float64] | None = None,
) -> MotifStack:
    """The motif stack that a configuration asks for; see `MotifStack.from_counts` for `count_scale`."""
    if counts is None:
        counts = count_motifs(data.edge_index, data.num_nodes)
    return MotifStack.from_counts(
        counts,
        config.motifs,
        config.steps,
        config.psi,
        scope=config.scope,
        add_edges=config.add_edges,
        count_scale=count_scale,
    )


def features(x: torch.Tensor, normalize: bool) -> torch.Tensor:
    """Features in float32, sparse or dense as they came, each row divided by its sum if asked."""
    if x.layout == torch.strided:
        dense = x.to(torch.float32)
        return dense / dense.sum(1, keepdim=True).abs().clamp_min(1e-12) if normalize else dense
    csr: Any = feature_csr(x).astype(np.float64)
    if normalize:
        total = np.asarray(csr.sum(1)).ravel()
        scale = np.divide(1.0, total, out=np.zeros_like(total), where=total != 0)
        csr = sp.diags_array(scale) @ csr
    return feature_tensor(csr)


def _num_classes(data: Data) -> int:
    """Classes named in the data, else one more than the largest class number.

    How many classes there are is no secret of the test nodes: it is part of the task.
    """
    return len(data.classes) if getattr(data, "classes", None) else int(data.y.max()) + 1
