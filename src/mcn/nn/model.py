"""The motif convolutional network: layers of motif convolutions in GAT's architecture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._arguments import as_array
from graphmotifs._messages import one_of
from mcn.matrices import MotifStack, PinnedBlock, RowSource
from mcn.nn._rng import Stream, derive
from mcn.nn.conv import MCNConv
from mcn.nn.features import DenseRows, SparseFeatures, check_kind, input_features
from mcn.nn.linear import batch_norm
from mcn.nn.ops import uncompiled
from mcn.nn.plain import resident
from mcn.nn.selector import Choices
from mcn.nn.sum_conv import SumConv

NORMS = ("none", "layer", "batch")
_KEPT = 4  # receptive fields that are remembered


class MCN(torch.nn.Module):
    """A network of `MCNConv` layers (figure 3 of the paper) with GAT's architecture.

    ::

        H_0 = X,   H_(l+1) = ELU(MCNConv_l(H_l)),   no ELU after the last layer

    Every layer drops out its inputs, its coefficients and its transformed features. Hidden layers
    concatenate their heads, the last one averages them. Features are used as they come; the caller may
    normalise their rows. With `norm`, hidden layers normalise what they give on, before the ELU: "layer" the
    units of a node, "batch" the nodes of a unit (by running means outside training, and with ReLU in place of
    ELU, which suits it better); with `residual`, a layer that is as wide as its input adds it:
    H_(l+1) = H_l + ….

    ``model.rng`` decides the masks and the random choices of a training pass. It is a `Stream` of two numbers
    (seed, step) and moves on by one step per training pass: save ``model.rng.state_dict()`` with the weights
    to go on exactly where a run stopped. The initial weights come from torch's global generator
    (`torch.manual_seed`). Results are bit-equal at any thread count.

    Args:
        in_channels, hidden, out_channels: input width, width per hidden head, number of classes.
        num_layers: number of convolutions, at least 1.
        motifs, steps: T and K of the stack.
        heads, output_heads: attention heads of the hidden layers and of the last one.
        dropout: probability for all three dropouts; `coefficient_dropout`, `feature_dropout` and
            `input_dropout` override it one by one.
        norm, residual: see above.
        sum_motifs: make the layers `SumConv`s, in which every node hears all motifs and none chooses.
        seed: of `model.rng`.
        **layer: further arguments of the layers: `MCNConv` (self_attention, motif_attention, self_weights,
            prior, …), or `SumConv`.

    Shapes:
        x: [N, in_channels], dense or sparse CSR; dense ones that are mostly zero are turned into CSR once.
        result: [N, out_channels], or [len(rows), out_channels].
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        num_layers: int = 2,
        *,
        motifs: int = 1,
        steps: int = 1,
        heads: int = 8,
        output_heads: int = 1,
        dropout: float = 0.6,
        coefficient_dropout: float | None = None,
        feature_dropout: float | None = None,
        input_dropout: float | None = None,
        norm: str = "none",
        residual: bool = False,
        sum_motifs: bool = False,
        seed: int = 0,
        **layer: Any,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        layer |= {
            "dropout": dropout if coefficient_dropout is None else coefficient_dropout,
            "feature_dropout": dropout if feature_dropout is None else feature_dropout,
            "input_dropout": dropout if input_dropout is None else input_dropout,
        }
        self.in_channels, self.out_channels, self.num_layers = in_channels, out_channels, num_layers
        self.convs = torch.nn.ModuleList()
        width = in_channels
        for number in range(num_layers):
            last = number == num_layers - 1
            # A batch norm would take the bias away again.
            options = layer if last or norm != "batch" else layer | {"bias": False}
            if sum_motifs:
                outputs = out_channels if last else hidden * heads
                self.convs.append(SumConv(width, outputs, motifs, steps, **options))
            else:
                outputs, options["heads"] = (out_channels, output_heads) if last else (hidden, heads)
                self.convs.append(MCNConv(width, outputs, motifs, steps, concat=not last, **options))
            width = hidden * heads
        one_of("norm", norm, NORMS)
        self.norm, self.residual = norm, residual
        if norm == "batch":
            for number in range(num_layers - 1):
                self.register_buffer(f"mean_{number}", torch.zeros(width))
                self.register_buffer(f"variance_{number}", torch.ones(width))
        # Added to the scores outside training: log(prior among the nodes to predict / prior in training).
        self.offset: torch.Tensor
        self.register_buffer("offset", torch.zeros(out_channels))
        self.rng = Stream(seed)
        self._cache = ReceptiveFields()

    def reset_parameters(self) -> None:
        """Draw new weights for every layer."""
        for conv in self.convs:
            conv.reset_parameters()  # type: ignore[operator]

    @uncompiled
    def forward(
        self,
        x: torch.Tensor | SparseFeatures,
        stack: MotifStack,
        rows: Any = None,
        *,
        choice: Any = None,
        epsilon: float | None = None,
        key: int | None = None,
        return_choices: bool = False,
        return_coefficients: bool = False,
    ) -> torch.Tensor | tuple[torch.Tensor, list[Choices]]:
        """Compute the class scores of all nodes, or of `rows` only.

        Args:
            x: features of all nodes of the graph of `stack`, dense or sparse CSR.
            rows: node ids or a boolean mask; only their receptive field is computed. The last few
                receptive fields are remembered, so asking for the same nodes every epoch is cheap.
            choice: pin the choices: an int for all layers, or a list with None, an int or an array per layer.
            epsilon: overrides the layers' ε for this pass.
            key: the key of this pass; by default the next one of `model.rng` (in training).
            return_choices: also return the `Choices` of every layer, input layer first.
            return_coefficients: also return the `Choices`, with their `coefficients`.

        Returns:
            The scores, [N, out_channels] or [len(rows), out_channels] in the order of `rows`; with
            `return_choices` or `return_coefficients` the pair (scores, list of `Choices`).
        """
        report = return_choices or return_coefficients
        pins = self._pins(choice)
        parts, ids = self._parts(stack, rows, pins, report)
        if self.training and key is None:
            key = self.rng.next_key()
        h: Any = self._input(x, stack, parts[0])
        choices: list[Choices] = []
        for layer, (conv, part, pin) in enumerate(zip(self.convs, parts, pins, strict=True)):
            before = h
            h = conv(
                h,
                part,
                choice=pin,
                epsilon=epsilon,
                degrees=self._degrees(stack, part, pin),
                key=None if key is None else derive(key, layer),
                return_choices=return_choices,
                return_coefficients=return_coefficients,
            )
            if report:
                h, chosen = h
                choices.append(chosen)
            if layer + 1 < self.num_layers:
                h = self._between(layer, h, before)
        if ids is not None:
            h = h[resident(ids, h.device, torch.int64)]
            choices[-1:] = [chosen.take(ids) for chosen in choices[-1:]]
        if not self.training:
            h = h + self.offset
        return (h, choices) if report else h

    def _between(self, layer: int, h: torch.Tensor, before: Any) -> torch.Tensor:
        """What a hidden layer gives on: normalised, through ELU, and added to its input, as configured."""
        # Without learned scales, whose gradient would depend on the number of threads.
        if self.norm == "layer":
            h = torch.nn.functional.layer_norm(h, h.shape[1:])
        elif self.norm == "batch":
            mean, variance = getattr(self, f"mean_{layer}"), getattr(self, f"variance_{layer}")
            h = batch_norm(h, mean, variance, self.training)
        h = torch.relu(h) if self.norm == "batch" else torch.nn.functional.elu(h)
        if self.residual and layer and before.shape[1] == h.shape[1]:
            h = h + before[: len(h)]
        return h

    def _pins(self, choice: Any) -> list[Any]:
        """Return the pinned choice of each layer, or None for a layer that chooses itself."""
        if choice is None or isinstance(choice, int | np.integer):
            return [choice] * self.num_layers
        if not isinstance(choice, list | tuple) or len(choice) != self.num_layers:
            raise ValueError(
                f"choice: expected None, an int, or a list with one entry per layer ({self.num_layers}), "
                f"got {choice!r}"
            )
        return list(choice)

    def _fixed(self, stack: MotifStack, pin: Any) -> int | None:
        """Return the choice that all nodes of a layer make, if it is known before the pass, else None."""
        first: Any = self.convs[0]
        if isinstance(pin, int | np.integer):
            stack.check_choice(pin)
            return int(pin)
        return 0 if first.selector is None and pin is None and not first.sums_motifs else None

    def _parts(
        self, stack: MotifStack, rows: Any, pins: list[Any], report: bool
    ) -> tuple[Sequence[RowSource], NDArray[np.int64] | None]:
        """Return the part of the stack that each layer computes, and the rows to keep if that is too much."""
        if rows is None:
            return [stack] * self.num_layers, None
        fixed, ids = tuple(self._fixed(stack, pin) for pin in pins), node_ids(rows)
        if not self.convs[0].self_attention and None in fixed:
            # D^-1/2 Â D^-1/2 needs the row sums, hence the choices, of every source: take the whole graph, as
            # sums over motifs do.
            return [stack] * self.num_layers, ids
        if report and self.convs[0].selector is not None:
            fixed = (None,) * self.num_layers  # the selector's state needs the base rows of ordinary blocks
        return self._cache.blocks(stack, ids, fixed), None

    def _input(
        self, x: torch.Tensor | SparseFeatures, stack: MotifStack, part: RowSource
    ) -> torch.Tensor | SparseFeatures | DenseRows:
        check_kind(x, self.convs[0].weight)  # type: ignore[arg-type]
        if x.shape[0] != stack.num_src:
            raise ValueError(f"x has {x.shape[0]} rows, but the stack has {stack.num_src} nodes")
        features = input_features(x)
        if part is stack:
            return features
        if isinstance(features, SparseFeatures):
            return features.take(part.src)
        taken = DenseRows(features, part.src)
        return taken.tensor() if features.requires_grad else taken

    def _degrees(self, stack: MotifStack, part: RowSource, pin: Any) -> NDArray[np.float64] | None:
        """Row sums of Â for the sources of a block, needed without self-attention."""
        if self.convs[0].self_attention or part is stack:
            return None
        if isinstance(part, PinnedBlock):
            return part.degrees
        return stack.select(stack.check_choice(self._fixed(stack, pin))).sums()[part.src]


class ReceptiveFields:
    """Remembers the last few receptive fields of a model, so that an epoch does not make them anew.

    A receptive field is the part of the stack that each layer must compute for a given set of nodes.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[MotifStack, NDArray[np.int64], tuple[int | None, ...], Any]] = []

    def blocks(
        self, stack: MotifStack, rows: NDArray[np.int64], fixed: tuple[int | None, ...]
    ) -> Sequence[RowSource]:
        """Return the blocks for the nodes `rows`, input layer first.

        `fixed` holds per layer the choice of all nodes where it is known, else None.
        """
        for known_stack, known_rows, known_fixed, known_blocks in self._entries:
            if known_stack is stack and known_fixed == fixed and np.array_equal(known_rows, rows):
                return known_blocks  # type: ignore[no-any-return]
        blocks: list[RowSource] = []
        targets = rows
        for choice in reversed(fixed):
            pin = None if None in fixed else choice
            block = stack.block(targets) if pin is None else stack.pinned_block(targets, pin)
            blocks.insert(0, block)
            targets = block.src
        self._entries = [(stack, rows.copy(), fixed, blocks), *self._entries[: _KEPT - 1]]
        return blocks

    def __deepcopy__(self, memo: dict[int, Any]) -> ReceptiveFields:
        return ReceptiveFields()

    def __getstate__(self) -> dict[str, Any]:
        return {"_entries": []}


def node_ids(rows: Any) -> NDArray[np.int64]:
    """Read node ids from an array or tensor of ids, or from a boolean mask (in ascending order)."""
    ids = as_array(rows, "rows", "[n]")
    if ids.dtype == bool:
        ids = np.flatnonzero(ids)
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or len(ids) == 0:
        raise ValueError(
            "rows: expected a non-empty array [n] of node ids, or a boolean mask with at least one "
            f"node set; got shape {ids.shape} of {ids.dtype}"
        )
    return np.ascontiguousarray(ids, np.int64)
