"""Views of a node: its features mixed along motif random walks, some of what it hears dropped."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.matrices import PageRankRows, Rows
from mcn.nn import ops
from mcn.nn._rng import derive, hash32, threshold
from mcn.nn._work import spread
from mcn.nn.features import SparseFeatures


@kernel
def _mix(
    start: int,
    stop: int,
    nodes: Any,
    views: Any,
    indices: Any,
    weights: Any,
    indptr: Any,
    columns: Any,
    values: Any,
    lost: int,
    key: Any,
    out: Any,
) -> None:
    top = indices.shape[2]
    for b in range(start, stop):
        row, weight = indices[views[b], nodes[b]], weights[views[b], nodes[b]]
        total = np.float32(0.0)
        for q in range(top):
            if lost == 0 or hash32(b * top + q, key) >= lost:
                total += weight[q]
        if total == 0.0:
            continue
        for q in range(top):
            if weight[q] == 0.0 or (lost > 0 and hash32(b * top + q, key) < lost):
                continue
            share = weight[q] / total
            for e in range(indptr[row[q]], indptr[row[q] + 1]):
                out[b, columns[e]] += share * values[e]


@kernel
def _drop(start: int, stop: int, out: Any, limit: int, scale: Any, key: Any) -> None:
    """Dropout in place; zeros are passed over, and most entries are zero."""
    width = out.shape[1]
    for b in range(start, stop):
        for f in range(width):
            if out[b, f] != 0.0:
                out[b, f] = 0.0 if hash32(b * width + f, key) < limit else out[b, f] * scale


def mix_features(
    rows: PageRankRows,
    x: SparseFeatures,
    nodes: NDArray[np.int64],
    views: NDArray[np.int64],
    *,
    lost: float = 0.0,
    dropout: float = 0.0,
    key: int = 0,
) -> torch.Tensor:
    """Float32 [B, F]: ``Σ_j Π_t[i, j] x_j`` for node i = nodes[b] in view t = views[b], as a mean.

    Args:
        lost: each neighbour is left out with this probability; the others' weights then sum to one.
        dropout: of the mixed features.
        key: decides both.
    """
    out = np.zeros((len(nodes), x.shape[1]), np.float32)
    cost = len(nodes) * rows.indices.shape[2] * max(1, len(x.values) // max(1, x.shape[0]))
    values = x.values.astype(np.float32, copy=False)
    keys = [np.uint64(derive(key, purpose)) for purpose in (0, 1)]

    def mix(start: int, stop: int) -> None:
        _mix(
            start,
            stop,
            nodes,
            views,
            rows.indices,
            rows.weights,
            x.indptr,
            x.indices,
            values,
            threshold(lost),
            keys[0],
            out,
        )
        if dropout > 0:
            _drop(start, stop, out, threshold(dropout), np.float32(1 / (1 - dropout)), keys[1])

    spread(mix, len(nodes), cost)
    return torch.from_numpy(out)


def exact_features(rows: PageRankRows, x: SparseFeatures, nodes: NDArray[np.int64]) -> torch.Tensor:
    """The mean over all views with nothing dropped: what nodes are classified by after training."""
    total = torch.zeros(len(nodes), x.shape[1])
    for t in range(rows.num_views):
        total += mix_features(rows, x, nodes, np.full(len(nodes), t, np.int64))
    return total / rows.num_views


class MotifViews(torch.nn.Module):
    """The classifier of mixed features: a perceptron, each layer optionally behind batch normalisation.

    With one layer it is a logistic regression on what the neighbourhood says on average.

    Args:
        in_channels, hidden, out_channels, num_layers: widths.
        input_dropout: of the mixed features; `mix_features` does it unless something comes before it.
        dropout: before each further layer.
        batch_norm: before each layer.
        row_norm: scale mixed features to length 1.
        smooth: whether predictions are mixed like features before they are used (see `predict_views`).
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        num_layers: int = 2,
        *,
        input_dropout: float = 0.5,
        dropout: float = 0.5,
        batch_norm: bool = False,
        row_norm: bool = False,
        smooth: bool = False,
    ) -> None:
        super().__init__()
        widths = [in_channels, *[hidden] * (num_layers - 1), out_channels]
        pairs = list(pairwise(widths))
        self.in_channels, self.out_channels = in_channels, out_channels
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in pairs)
        norms = (torch.nn.BatchNorm1d(a) for a, _ in pairs) if batch_norm else ()
        self.norms = torch.nn.ModuleList(norms)
        self.input_dropout, self.dropout, self.row_norm = input_dropout, dropout, row_norm
        self.smooth = smooth

    @property
    def mixes_dropout(self) -> float:
        """The dropout to ask of `mix_features`: as good as here, and quicker, if nothing comes before it."""
        return 0.0 if len(self.norms) or self.row_norm else self.input_dropout

    @property
    def linear_first(self) -> bool:
        """Whether the first layer may come before the mixing: nothing that is not linear lies between."""
        return not len(self.norms) and not self.row_norm

    def forward(self, x: torch.Tensor, key: int | None = None) -> torch.Tensor:
        """Logits of mixed features; `key` decides the dropout, None leaves it out."""
        if self.row_norm:
            x = torch.nn.functional.normalize(x, dim=1)
        if len(self.norms):
            x = self.norms[0](x)
        p = self.input_dropout - self.mixes_dropout
        return self._further(self.layers[0](_dropped(x, p, key, 0)), key)

    def whole(
        self, x: SparseFeatures, rows: Rows, keep: torch.Tensor | None = None, key: int | None = None
    ) -> torch.Tensor:
        """Logits of all nodes at once, the first layer applied before mixing.

        Args:
            x: the features as they are, not mixed; the input dropout falls on them.
            rows: how each node mixes.
            keep: [N, 1], what is left of each node, for all who hear it.
            key: decides the dropout, None leaves it out.
        """
        if not self.linear_first:
            raise ValueError("batch_norm and row_norm need mixed features, and `whole` mixes after a layer")
        first: Any = self.layers[0]
        p = 0.0 if key is None else self.input_dropout
        z = ops.transform(x, first.weight.t().contiguous(), p, 0 if key is None else derive(key, 0))
        z = ops.propagate(z if keep is None else z * keep, rows)
        return self._further(z + first.bias, key)

    def _further(self, x: torch.Tensor, key: int | None) -> torch.Tensor:
        """What comes after the first layer."""
        for i in range(1, len(self.layers)):
            x = torch.relu(x)
            if len(self.norms):
                x = self.norms[i](x)
            x = self.layers[i](_dropped(x, self.dropout, key, i))
        return x


def _dropped(x: torch.Tensor, p: float, key: int | None, number: int) -> torch.Tensor:
    if key is None or p == 0:
        return x
    return ops.dropout(x, p, derive(key, number))
