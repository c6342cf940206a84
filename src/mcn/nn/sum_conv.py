"""The layer that sums over all motifs and steps, where no node chooses."""

from __future__ import annotations

from typing import Any

import torch

from mcn.matrices import MotifStack, RowSource
from mcn.nn import ops
from mcn.nn._rng import derive, torch_key
from mcn.nn.features import DenseRows, SparseFeatures
from mcn.nn.layer import COEFFICIENT_KEY, FEATURE_KEY, MotifLayer, check_sizes, dropout_of
from mcn.nn.selector import Choices, report_choices


class SumConv(MotifLayer):
    """A layer in which every node hears all motifs and steps, each with weights of its own.

    ::

        H' = Σ_tk D_tk^-1/2 Ψ(A_t^k) D'_tk^-1/2 H W_tk + b,   D the row sums of Ψ(A_t^k), D' its column sums

    With the motifs `out` and `in` of a directed graph it tells the nodes that a node points to from those
    that point to it. It needs a whole `MotifStack`.

    Args:
        in_channels, out_channels: feature widths.
        motifs, steps: T and K of the stacks that the layer will be given.
        **common: dropout, feature_dropout, input_dropout, bias and self_weights, as of `MCNConv`.

    Shapes:
        x: [num_src, in_channels], dense or sparse CSR; the sources of the stack in order.
        result: [num_dst, out_channels].
    """

    sums_motifs = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        motifs: int = 1,
        steps: int = 1,
        **common: Any,
    ) -> None:
        check_sizes(in_channels=in_channels, out_channels=out_channels, motifs=motifs, steps=steps)
        products = motifs * steps
        super().__init__(
            in_channels, out_channels, motifs, steps, products=products, width=out_channels, **common
        )
        self.selector = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every W_tk and W_self by Glorot's rule and set the bias to zero."""
        for part in self.weight.data.chunk(self.motifs * self.steps, 1):
            torch.nn.init.xavier_uniform_(part)
        if self.self_weight is not None:
            torch.nn.init.xavier_uniform_(self.self_weight)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    @ops.uncompiled
    def forward(
        self,
        x: torch.Tensor | SparseFeatures | DenseRows,
        stack: MotifStack,
        *,
        key: int | None = None,
        **unused: Any,
    ) -> torch.Tensor:
        """Sum what every motif and step gives.

        Args:
            x: features of the sources of `stack`.
            key: 64-bit key of this call's randomness; by default drawn from torch's global generator.
            unused: the other arguments of `MCNConv.forward`; there are no choices to pin or to return.
        """
        wanted = [name for name, value in unused.items() if value not in (None, False)]
        if wanted or not isinstance(stack, MotifStack):
            raise ValueError(
                f"a layer that sums over motifs has no choices, and needs a whole MotifStack; got a "
                f"{type(stack).__name__} and {', '.join(wanted) or 'no further arguments'}"
            )
        if self.training and key is None:
            key = torch_key()
        key = key if self.training else None
        z, own = self._transform(x, stack, key)
        p, p_key = dropout_of(self.dropout, key, COEFFICIENT_KEY)
        nodes = stack.src if stack.dropout_by_node else None
        z = ops.dropout(z, *dropout_of(self.feature_dropout, key, FEATURE_KEY), nodes)
        parts = enumerate(z.chunk(self.motifs * self.steps, 1))
        heard = [ops.propagate(part, stack.balanced(at), p, derive(p_key, at)) for at, part in parts]
        return self._add_own(torch.stack(heard).sum(0), own)

    def what_if(
        self, x: torch.Tensor | SparseFeatures, stack: RowSource, choice: int, degrees: Any = None
    ) -> tuple[torch.Tensor, Choices]:
        """Compute what each target would get if it heard the motif and step number `choice` alone.

        Nothing is dropped out. The `Choices` have the rows of that motif and step, and its coefficients.
        """
        assert isinstance(stack, MotifStack)
        z, own = self._transform(x, stack, None)
        weights = stack.balanced(choice)
        heard = ops.propagate(z.chunk(self.motifs * self.steps, 1)[choice].contiguous(), weights, 0.0, 0)
        coefficients = torch.as_tensor(weights.values).to(z.device, z.dtype).view(-1, 1)
        number = stack.check_choice(choice)
        rows, certain = stack.select(number), z.new_zeros(stack.num_dst, 1)
        chosen = report_choices(number, (certain, certain), None, stack.steps, rows, coefficients)
        return self._add_own(heard, own), chosen
