"""What `MCNConv` and `SumConv` share: sizes, the product H W, dropouts, self weights and the bias."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import Parameter

from mcn.matrices import RowSource
from mcn.nn import ops
from mcn.nn._rng import derive
from mcn.nn.features import DenseRows, SparseFeatures, check_kind, is_sparse, sparse_features
from mcn.nn.selector import Selector

INPUT_KEY, COEFFICIENT_KEY, FEATURE_KEY, EXPLORATION_KEY = range(4)
"""What the random keys are for that a layer derives from the key of a call."""


def check_sizes(**sizes: int) -> None:
    """Refuse a size that is not a positive integer."""
    for name, size in sizes.items():
        if int(size) != size or size < 1:
            raise ValueError(f"{name} must be a positive integer, got {size!r}")


class MotifLayer(torch.nn.Module):
    """A layer over the rows of a motif stack: the base class of `MCNConv` and `SumConv`.

    Args:
        in_channels, out_channels: feature widths; out_channels is per head.
        motifs, steps: T and K of the stacks that the layer will be given.
        products: the number of products H W: one per head, or one per motif and step of a sum.
        width: the width of the result.
        dropout, feature_dropout, input_dropout: probability of dropping a coefficient, an entry of H W, an
            entry of H.
        bias: add a learned bias.
        self_weights: give the node's own features weights of their own, beside those of its neighbours.
    """

    self_attention = False
    selector: Selector | None
    sums_motifs = False
    """Whether the layer sums over all motifs and steps, so that no node chooses."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        motifs: int,
        steps: int,
        *,
        products: int,
        width: int,
        dropout: float = 0.0,
        feature_dropout: float = 0.0,
        input_dropout: float = 0.0,
        bias: bool = True,
        self_weights: bool = False,
    ) -> None:
        super().__init__()
        rates = {"dropout": dropout, "feature_dropout": feature_dropout, "input_dropout": input_dropout}
        for name, rate in rates.items():
            if not 0.0 <= rate < 1.0:
                raise ValueError(f"{name} must be at least 0 and less than 1, got {rate!r}")
        self.in_channels, self.out_channels, self.motifs, self.steps = (
            in_channels,
            out_channels,
            motifs,
            steps,
        )
        self.dropout, self.feature_dropout, self.input_dropout = dropout, feature_dropout, input_dropout
        # [in, out], so that a row of the product is a sum of contiguous rows.
        self.weight = Parameter(torch.empty(in_channels, products * out_channels))
        self.self_weight = Parameter(torch.empty(in_channels, width)) if self_weights else None
        self.bias = Parameter(torch.empty(width)) if bias else None

    def _check_stack(self, stack: RowSource) -> None:
        """Refuse a stack with other numbers of motifs and steps than the layer was made for."""
        if (stack.num_motifs, stack.steps) != (self.motifs, self.steps):
            raise ValueError(
                f"stack has {stack.num_motifs} motifs and {stack.steps} steps, but the layer was made for "
                f"motifs={self.motifs}, steps={self.steps}"
            )

    def _transform(
        self, x: torch.Tensor | SparseFeatures | DenseRows, stack: RowSource, key: int | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Check that the layer, the features and the stack fit; compute H W, and H W_self for the targets."""
        if not isinstance(stack, RowSource):
            raise ValueError(f"stack is a {type(stack).__name__}; expected a MotifStack or a block of one")
        self._check_stack(stack)
        check_kind(x, self.weight)
        if tuple(x.shape) != (stack.num_src, self.in_channels):
            raise ValueError(
                f"x has shape {tuple(x.shape)}, expected {(stack.num_src, self.in_channels)}: "
                "one row per source of the stack, in_channels columns"
            )
        features: Any = sparse_features(x) if is_sparse(x) else x
        dropped = dropout_of(self.input_dropout, key, INPUT_KEY)
        nodes = stack.src if stack.dropout_by_node else None
        if self.self_weight is None:
            return ops.transform(features, self.weight, *dropped, nodes), None
        width, both = self.weight.shape[1], torch.cat([self.weight, self.self_weight], 1)
        z = ops.transform(features, both, *dropped, nodes)
        return z[:, :width].contiguous(), z[: stack.num_dst, width:]

    def _add_own(self, neighbours: torch.Tensor, own: torch.Tensor | None) -> torch.Tensor:
        """Add H W_self, if the layer has self weights, and the bias to what the neighbours gave."""
        out = neighbours if own is None else neighbours + own
        return out if self.bias is None else ops.add_bias(out, self.bias)


def dropout_of(probability: float, key: int | None, purpose: int) -> tuple[float, int]:
    """Return the probability and the key of a dropout; without a key nothing is dropped."""
    return (0.0, 0) if key is None or probability == 0.0 else (probability, derive(key, purpose))
