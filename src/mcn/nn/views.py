"""Views of a node: the features of the nodes around it, mixed along the random walks of a motif."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from mcn.matrices import PageRankRows, Rows
from mcn.matrices.rows import check_numbers
from mcn.nn import ops
from mcn.nn._parallel import spread
from mcn.nn._rng import derive, hash32, threshold
from mcn.nn.features import SparseFeatures, sparse_features


@kernel
def _mix(
    start: int, stop: int, nodes: Any, views: Any, pages: Any, features: Any, limit: int, key: Any, out: Any
) -> None:
    """Write the weighted mean of the kept neighbours' features to row b, for start ≤ b < stop."""
    (indices, weights), (indptr, columns, values) = pages, features
    top = indices.shape[2]
    for b in range(start, stop):
        row, weight = indices[views[b], nodes[b]], weights[views[b], nodes[b]]
        total = np.float32(0.0)
        for q in range(top):
            if limit == 0 or hash32(b * top + q, key) >= limit:
                total += weight[q]
        if total == 0.0:
            continue
        for q in range(top):
            if weight[q] == 0.0 or (limit > 0 and hash32(b * top + q, key) < limit):
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
    x: torch.Tensor | SparseFeatures,
    nodes: NDArray[np.int64],
    views: NDArray[np.int64],
    *,
    drop_neighbours: float = 0.0,
    dropout: float = 0.0,
    key: int = 0,
) -> torch.Tensor:
    """Mix the features that each node hears in one of its views.

    ``z_b = Σ_j Π_t[i, j] x_j / Σ_j Π_t[i, j]`` for node i = ``nodes[b]`` in view t = ``views[b]``; both sums
    run over the neighbours that are not dropped. A node whose neighbours are all dropped gets zeros.

    Args:
        rows: Π_t of every view.
        x: features of all nodes, [N, F], sparse.
        nodes, views: int64 [B].
        drop_neighbours: probability with which each neighbour is left out of a sum.
        dropout: probability with which each mixed feature is set to zero; the others are scaled up.
        key: decides what is dropped.

    Returns:
        Float32 [B, F].
    """
    x = sparse_features(x)
    if x.shape[0] != rows.num_nodes:
        raise ValueError(f"x has {x.shape[0]} rows, but the rows are of {rows.num_nodes} nodes")
    nodes = check_numbers(nodes, "nodes", rows.num_nodes)
    views = check_numbers(views, "views", rows.num_views)
    if len(nodes) != len(views):
        raise ValueError(f"{len(nodes)} nodes and {len(views)} views; expected one view per node")
    out = np.zeros((len(nodes), x.shape[1]), np.float32)
    cost = len(nodes) * rows.indices.shape[2] * max(1, len(x.values) // max(1, x.shape[0]))
    pages = (rows.indices, rows.weights)
    features = (x.indptr, x.indices, x.values.astype(np.float32, copy=False))
    limit, keys = threshold(drop_neighbours), [np.uint64(derive(key, purpose)) for purpose in (0, 1)]

    def mix(start: int, stop: int) -> None:
        _mix(start, stop, nodes, views, pages, features, limit, keys[0], out)
        if dropout > 0:
            _drop(start, stop, out, threshold(dropout), np.float32(1 / (1 - dropout)), keys[1])

    spread(mix, len(nodes), cost)
    return torch.from_numpy(out)


def exact_features(rows: PageRankRows, x: SparseFeatures, nodes: NDArray[np.int64]) -> torch.Tensor:
    """Average the mixed features of `nodes` over all views, with nothing dropped; float32 [len(nodes), F].

    Nodes are classified by these features after training.
    """
    total = torch.zeros(len(nodes), x.shape[1])
    for t in range(rows.num_views):
        total += mix_features(rows, x, nodes, np.full(len(nodes), t, np.int64))
    return total / rows.num_views


class MotifViews(torch.nn.Module):
    """A perceptron on features that were mixed along random walks, with one motif per view.

    In view t, node i is described by the mean of what it hears on short walks along the motif's weights::

        z_i = Σ_j Π_t[i, j] x_j / Σ_j Π_t[i, j],   Π_t = Σ_n α (1 - α)^n P_t^n,   P_t = D^-1 (A + A_t + I)

    where D holds the row sums of A + A_t + I (A + I in the view of the edge itself). `mcn.matrices.view_rows`
    makes Π_t; `mix_features` and `exact_features` make z. The network maps z to class scores::

        H_0 = z,   H_(l+1) = ReLU(dropout(H_l) W_l + b_l),   no ReLU in the last layer

    With one layer it is a logistic regression on the mean neighbour.

    Args:
        in_channels, hidden, out_channels: F, width of the hidden layers, number of classes.
        num_layers: number of linear layers, at least 1.
        input_dropout: dropout on z. `mix_features` applies it (`mixes_dropout`) unless a norm comes first.
        dropout: dropout before each further layer.
        batch_norm: normalise the input of every layer over the batch.
        row_norm: scale z to length 1.
        smooth: the predictions are mixed like the features before they are used; this class only records it
            for those who predict.

    Shapes:
        x: [B, in_channels], mixed features; for `whole` [N, in_channels], features as they are.
        result: [B, out_channels] or [N, out_channels], class scores.
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
        """The dropout that `mix_features` should apply: `input_dropout`, or 0 where a norm comes before it.

        Both places give the same result, but `mix_features` passes over zeros and is quicker.
        """
        return self.input_dropout if self.linear_first else 0.0

    @property
    def linear_first(self) -> bool:
        """Whether the first layer may be applied before the mixing, that is, whether no norm lies between."""
        return not len(self.norms) and not self.row_norm

    def forward(self, x: torch.Tensor, key: int | None = None) -> torch.Tensor:
        """Compute the class scores of mixed features; `key` decides the dropout, None leaves it out."""
        if self.row_norm:
            x = torch.nn.functional.normalize(x, dim=1)
        if len(self.norms):
            x = self.norms[0](x)
        p = self.input_dropout - self.mixes_dropout
        return self._further(self.layers[0](_dropped(x, p, key, 0)), key)

    def whole(
        self, x: SparseFeatures, rows: Rows, keep: torch.Tensor | None = None, key: int | None = None
    ) -> torch.Tensor:
        """Compute the class scores of all nodes at once, applying the first layer before the mixing.

        The input dropout falls on the features as they are, not mixed. `rows` say how each node mixes; `keep`
        [N, 1] is a factor for each node's transformed features: 0 drops it for everybody who hears it. `key`
        decides the dropout, None leaves it out.
        """
        if not self.linear_first:
            raise ValueError("batch_norm and row_norm need mixed features, and `whole` mixes after a layer")
        first: Any = self.layers[0]
        p = 0.0 if key is None else self.input_dropout
        z = ops.transform(x, first.weight.t().contiguous(), p, 0 if key is None else derive(key, 0))
        z = ops.propagate(z if keep is None else z * keep, rows)
        return self._further(z + first.bias, key)

    def _further(self, x: torch.Tensor, key: int | None) -> torch.Tensor:
        """Apply the layers after the first one."""
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
