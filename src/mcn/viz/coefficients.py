"""What a trained layer multiplies each neighbour by, for any rows: the part of a layer it does not return."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mcn.matrices import Rows
from mcn.nn import MCN, MCNConv, ops
from mcn.nn.features import is_sparse, sparse_features

Array = NDArray[np.float32]


@dataclass(frozen=True)
class LayerState:
    """A layer at one input, without dropout.

    conv: the layer. z: H W, [N, heads, D]. s_dst, s_src: the two halves of the attention logits,
    [N, heads], or None without self-attention. degrees: row sums of the chosen Â.
    """

    conv: MCNConv
    z: Array
    s_dst: Array | None
    s_src: Array | None
    degrees: NDArray[np.float64]

    def coefficients(self, rows: Rows) -> Iterator[Array]:
        """Head by head, one coefficient per entry of `rows`; row i is what node i alone would change to."""
        target, heads = _targets(rows), self.z.shape[1]
        fixed = self._fixed(rows, target) if self.s_dst is None else None
        for head in range(heads):
            yield self._attention(rows, target, head) if fixed is None else fixed

    def mean_coefficients(self, rows: Rows) -> Array:
        """The mean of `coefficients` over the heads."""
        total = np.zeros(len(rows.indices), np.float32)
        for each in self.coefficients(rows):
            total += each
        return total / np.float32(self.z.shape[1])

    def output(self, rows: Rows) -> Array:
        """What the layer gives each node if that node alone had the row in `rows` instead of its own."""
        parts = [_sums(rows, own, self.z[:, head]) for head, own in enumerate(self.coefficients(rows))]
        out = np.concatenate(parts, 1) if self.conv.concat else np.mean(parts, axis=0)
        bias = self.conv.bias
        return np.asarray(out if bias is None else out + bias.detach().numpy(), np.float32)

    def _attention(self, rows: Rows, target: NDArray[np.int64], head: int) -> Array:
        """α of eq:gat-integrate with Ψ as its prior; every row holds at least the node itself."""
        assert self.s_dst is not None
        assert self.s_src is not None
        logits = self.s_dst[target, head] + self.s_src[rows.indices, head]
        logits = np.where(logits > 0, logits, logits * self.conv.negative_slope)
        if self.conv.prior == "softmax":
            with np.errstate(divide="ignore"):  # a weight of nothing is a coefficient of nothing
                logits = logits + np.log(rows.values)
        starts = rows.indptr[:-1]
        powers = np.exp(logits - np.maximum.reduceat(logits, starts)[target])
        alpha = powers / np.add.reduceat(powers, starts)[target]
        return np.asarray(alpha * rows.values if self.conv.prior == "product" else alpha, np.float32)

    def _fixed(self, rows: Rows, target: NDArray[np.int64]) -> Array:
        """D^-1/2 Â D^-1/2 (eq:gcn): the node's own degree is the new row's, the others keep theirs."""
        own = np.add.reduceat(rows.values.astype(np.float64), rows.indptr[:-1])[target]
        other = np.where(rows.indices == target, own, self.degrees[rows.indices])
        product = own * other
        scale = np.divide(1.0, np.sqrt(product), out=np.zeros_like(product), where=product > 0)
        return np.asarray(rows.values * scale, np.float32)


@contextmanager
def inputs_of(model: MCN) -> Iterator[list[Any]]:
    """Collect what goes into each layer of a network while it is called."""
    found: list[Any] = []
    hooks = [conv.register_forward_pre_hook(lambda _, args: found.append(args[0])) for conv in model.convs]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def layer_state(conv: Any, h: Any, rows: Rows) -> LayerState:
    """The state of a layer whose input is `h` and whose chosen rows are `rows`."""
    z = ops.transform(sparse_features(h) if is_sparse(h) else h, conv.weight, 0.0, 0)
    z = z.view(-1, conv.heads, conv.out_channels)
    s_dst = s_src = None
    if conv.att_src is not None and conv.att_dst is not None:
        src, dst = ops.head_logits(z, conv.att_src, conv.att_dst, z.shape[0])
        s_dst, s_src = dst.detach().numpy(), src.detach().numpy()
    degrees = np.add.reduceat(rows.values.astype(np.float64), rows.indptr[:-1])
    return LayerState(conv, z.detach().numpy(), s_dst, s_src, degrees)


def _targets(rows: Rows) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))


def _sums(rows: Rows, values: Array, z: Array) -> Array:
    size = len(rows.indptr) - 1
    return np.asarray(csr_array((values, rows.indices, rows.indptr), shape=(size, len(z))) @ z, np.float32)
