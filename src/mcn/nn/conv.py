"""The motif convolution: one layer of the paper's network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import StackView
from mcn.nn import ops
from mcn.nn._rng import derive, torch_key
from mcn.nn.attend import PRIORS, Attention
from mcn.nn.choices import Choices
from mcn.nn.features import SparseFeatures, is_sparse, sparse_features
from mcn.nn.propagate import row_sums, symmetric_normalised
from mcn.nn.selector import Selector, epsilon_greedy, greedy, sample

_INPUT, _COEFFICIENT, _FEATURE, _EXPLORE = range(4)  # what the keys below a layer's key are for


class MCNConv(torch.nn.Module):
    r"""A layer in which every node chooses the motif and the step size it listens to.

    :math:`H' = \hat{D}^{-1/2} \hat{A} \hat{D}^{-1/2} H W` (eq:gcn with Â of eq:att_matrix), or with
    self-attention :math:`\alpha_{ij} \propto \tilde{A}_{ij} \exp(LeakyReLU(a[h_i W, h_j W]))`
    (eq:gat-integrate with Ψ as the prior). GCN and GAT are special cases (tab:gen); see `from_pyg`.

    Args:
        in_channels, out_channels: feature widths; out_channels is per head.
        motifs, steps: T and K of the stacks this layer will be given.
        heads, concat: number of attention heads, and whether they are concatenated or averaged.
        self_attention: learned coefficients (GAT) or fixed ones (GCN).
        motif_attention: without it every node uses the stack's first motif with one step.
        negative_slope: of the LeakyReLU.
        dropout: on the (attention) coefficients.
        feature_dropout: on the transformed features H W.
        input_dropout: on the inputs H.
        prior: "softmax" (log Ã added to the logits) or "product" (Ã multiplied onto the softmax).
        bias: add a learned bias.
        epsilon: share of random actions in training (ε-greedy); none in evaluation.
        explore: "epsilon" for ε-greedy actions in training, "sample" to draw from the policy.
        policy_grad: let the selector's gradient flow into W through the state.
        init_bias: see `Selector`.

    Shapes:
        x: [num_src, in_channels], dense or sparse CSR; the sources of the stack (or block) in order.
        result: [num_dst, heads × out_channels], or [num_dst, out_channels] when heads are averaged.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        motifs: int = 1,
        steps: int = 1,
        heads: int = 1,
        *,
        concat: bool = True,
        self_attention: bool = True,
        motif_attention: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        feature_dropout: float = 0.0,
        input_dropout: float = 0.0,
        prior: str = "softmax",
        bias: bool = True,
        epsilon: float = 0.1,
        explore: str = "epsilon",
        policy_grad: bool = False,
        init_bias: float = 0.0,
    ) -> None:
        super().__init__()
        sizes = {"in_channels": in_channels, "out_channels": out_channels, "motifs": motifs, "steps": steps}
        for name, size in (*sizes.items(), ("heads", heads)):
            if int(size) != size or size < 1:
                raise ValueError(f"{name} must be a positive integer, got {size!r}")
        rates = {"dropout": dropout, "feature_dropout": feature_dropout, "input_dropout": input_dropout}
        for name, rate in rates.items():
            if not 0.0 <= rate < 1.0:
                raise ValueError(f"{name} must be at least 0 and less than 1, got {rate!r}")
        if not 0.0 <= epsilon <= 1.0:
            raise ValueError(f"epsilon must be between 0 and 1, got {epsilon!r}")
        if prior not in PRIORS:
            raise ValueError(f"prior must be one of {', '.join(PRIORS)}, got {prior!r}")
        if explore not in ("epsilon", "sample"):
            raise ValueError(f"explore must be 'epsilon' or 'sample', got {explore!r}")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.motifs, self.steps, self.heads, self.concat = motifs, steps, heads, concat
        self.self_attention, self.motif_attention = self_attention, motif_attention
        self.negative_slope, self.prior = negative_slope, prior
        self.dropout, self.feature_dropout, self.input_dropout = dropout, feature_dropout, input_dropout
        self.epsilon, self.explore, self.policy_grad = epsilon, explore, policy_grad
        # [in, out], so that a row of the product is a sum of contiguous rows.
        self.weight = torch.nn.Parameter(torch.empty(in_channels, heads * out_channels))
        shape = (heads, out_channels)
        self.att_src = torch.nn.Parameter(torch.empty(shape)) if self_attention else None
        self.att_dst = torch.nn.Parameter(torch.empty(shape)) if self_attention else None
        width = heads * out_channels if concat else out_channels
        self.bias = torch.nn.Parameter(torch.empty(width)) if bias else None
        chooses = motif_attention and motifs * steps > 1
        self.selector = Selector(heads * out_channels, motifs, steps, init_bias) if chooses else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot for W and a, zero for the bias, as in GAT."""
        torch.nn.init.xavier_uniform_(self.weight)
        for att in (self.att_src, self.att_dst):
            if att is not None:
                torch.nn.init.xavier_uniform_(att)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)
        if self.selector is not None:
            self.selector.reset_parameters()

    @classmethod
    def from_pyg(cls, conv: torch.nn.Module) -> MCNConv:
        """The layer that computes what a PyG `GCNConv` or `GATConv` computes, with its weights (tab:gen).

        Give it a stack whose first motif is the edge, with Ψ `unweighted`.
        """
        from mcn.nn.convert import from_pyg

        return from_pyg(conv)

    @overload
    def forward(
        self,
        x: torch.Tensor | SparseFeatures,
        stack: StackView,
        *,
        choice: Any = None,
        epsilon: float | None = None,
        degrees: NDArray[np.float64] | None = None,
        key: int | None = None,
        return_choices: Literal[False] = False,
    ) -> torch.Tensor: ...

    @overload
    def forward(
        self,
        x: torch.Tensor | SparseFeatures,
        stack: StackView,
        *,
        choice: Any = None,
        epsilon: float | None = None,
        degrees: NDArray[np.float64] | None = None,
        key: int | None = None,
        return_choices: Literal[True],
    ) -> tuple[torch.Tensor, Choices]: ...

    def forward(
        self,
        x: torch.Tensor | SparseFeatures,
        stack: StackView,
        *,
        choice: Any = None,
        epsilon: float | None = None,
        degrees: NDArray[np.float64] | None = None,
        key: int | None = None,
        return_choices: bool = False,
    ) -> torch.Tensor | tuple[torch.Tensor, Choices]:
        """Convolve.

        Args:
            x: features of the stack's sources.
            stack: a `MotifStack`, or a block of one.
            choice: pin the choices, ``t·K + (k-1)``: one int for all targets, or an array [num_dst].
            epsilon: overrides the layer's ε for this call (training only).
            degrees: without self-attention on a block: the row sums of Â for all its sources.
            key: 64-bit key of this call's randomness; by default drawn from torch's global generator.
            return_choices: also return the `Choices`.
        """
        features = self._check(x, stack)
        if self.training and key is None:
            key = torch_key()
        live = key if self.training and key is not None else None
        z = ops.transform(features, self.weight, *self._drop(self.input_dropout, live, _INPUT))
        picked, log_probs, state = self._choose(z, stack, choice, epsilon, live, return_choices)
        rows = stack.select(picked)
        out = self._aggregate(z, stack, rows, degrees, live)
        if self.bias is not None:
            out = ops.add_bias(out, self.bias)
        if not return_choices:
            return out
        number = torch.zeros(stack.num_dst, dtype=torch.int64) if picked is None else torch.from_numpy(picked)
        number = number.to(z.device)
        motif, step = number // stack.steps, number % stack.steps + 1
        return out, Choices(motif, step, *log_probs, rows, state)

    def _check(self, x: torch.Tensor | SparseFeatures, stack: StackView) -> torch.Tensor | SparseFeatures:
        if self.selector is not None and (stack.num_motifs, stack.steps) != (self.motifs, self.steps):
            raise ValueError(
                f"stack has {stack.num_motifs} motifs and {stack.steps} steps, but the layer was made for "
                f"motifs={self.motifs}, steps={self.steps}"
            )
        if tuple(x.shape) != (stack.num_src, self.in_channels):
            raise ValueError(
                f"x has shape {tuple(x.shape)}, expected {(stack.num_src, self.in_channels)}: "
                "one row per source of the stack, in_channels columns"
            )
        return sparse_features(x) if is_sparse(x) else x

    @staticmethod
    def _drop(p: float, key: int | None, purpose: int) -> tuple[float, int]:
        return (0.0, 0) if key is None or p == 0.0 else (p, derive(key, purpose))

    def _choose(
        self,
        z: torch.Tensor,
        stack: StackView,
        choice: Any,
        epsilon: float | None,
        key: int | None,
        wanted: bool,
    ) -> tuple[NDArray[np.int64] | None, tuple[torch.Tensor, torch.Tensor], torch.Tensor | None]:
        """The choice per target, the log-probabilities of f and f', and the state."""
        count = stack.num_motifs * stack.steps
        nothing = z.new_zeros(stack.num_dst, 1)
        log_probs, state = (nothing, nothing), None
        if self.selector is not None and (wanted or choice is None):
            source = z if self.policy_grad else z.detach()
            counts = torch.from_numpy(stack.node_counts).to(z.device, z.dtype)
            state = torch.cat([ops.propagate(source, stack.base), counts], 1)
            log_probs = self.selector(state)
        if choice is not None:
            return pinned(choice, stack.num_dst, count), log_probs, state
        if count == 1:
            return None, log_probs, state
        if self.selector is None:
            return np.zeros(stack.num_dst, np.int64), log_probs, state
        motif, step = self._action(epsilon, key)(*log_probs)
        number = motif * stack.steps + step
        return number.cpu().numpy(), log_probs, state

    def _action(
        self, epsilon: float | None, key: int | None
    ) -> Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
        """How actions are taken: as configured in training, the most probable one otherwise."""
        rate = self.epsilon if epsilon is None else epsilon
        if key is None or (self.explore == "epsilon" and rate == 0.0):
            return greedy
        generator = torch.Generator().manual_seed(derive(key, _EXPLORE) >> 1)
        if self.explore == "sample":
            return lambda motif, step: sample(motif, step, generator)
        return lambda motif, step: epsilon_greedy(motif, step, rate, generator)

    def _aggregate(
        self, z: torch.Tensor, stack: StackView, rows: Any, degrees: Any, key: int | None
    ) -> torch.Tensor:
        coefficient = self._drop(self.dropout, key, _COEFFICIENT)
        feature = self._drop(self.feature_dropout, key, _FEATURE)
        shape = (-1, self.heads, self.out_channels)
        if self.att_src is None or self.att_dst is None:
            rows = symmetric_normalised(rows, _source_degrees(stack, rows, degrees))
            out = ops.propagate(ops.dropout(z, *feature), rows, *coefficient).view(shape)
        else:
            z = z.view(shape)
            s_src, s_dst = ops.head_logits(z, self.att_src, self.att_dst, stack.num_dst)
            how = Attention(
                self.prior, self.negative_slope, coefficient[0], feature[0], coefficient[1], feature[1]
            )
            out = ops.attend(z, s_dst, s_src, rows, how)
        if self.concat or self.heads == 1:
            return out.flatten(1)
        return out.mean(1)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"{self.in_channels}, {self.out_channels}, motifs={self.motifs}, steps={self.steps}, "
            f"heads={self.heads}, self_attention={self.self_attention}"
        )


def pinned(choice: Any, num_dst: int, count: int) -> NDArray[np.int64] | None:
    """A checked array of choices from an int, an array or a tensor; None where there is only one."""
    if isinstance(choice, torch.Tensor):
        choice = choice.detach().cpu().numpy()
    given = np.asarray(choice)
    if given.dtype.kind not in "iu" or given.shape not in ((), (num_dst,)):
        raise ValueError(
            f"choice: expected an int or {num_dst} integers t·K + (k-1), got "
            f"shape {given.shape} of {given.dtype}"
        )
    if given.size and not 0 <= given.min() <= given.max() < count:
        raise ValueError(f"choice: values must lie in 0 … {count - 1}, got {given.min()} … {given.max()}")
    if count == 1:
        return None
    return np.array(np.broadcast_to(given, num_dst), np.int64)


def _source_degrees(stack: StackView, rows: Any, degrees: Any) -> NDArray[np.float64]:
    if degrees is not None:
        found = np.asarray(degrees, np.float64)
        if found.shape != (stack.num_src,):
            raise ValueError(f"degrees: expected {stack.num_src} row sums, got shape {found.shape}")
        return found
    if stack.num_src != stack.num_dst:
        raise ValueError(
            f"without self-attention D^-1/2 Â D^-1/2 needs the row sums for all {stack.num_src} sources, "
            f"but only {stack.num_dst} of them choose in this block; pass degrees=… or the full stack"
        )
    return row_sums(rows)
