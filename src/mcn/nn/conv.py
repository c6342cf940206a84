"""The motif convolution: one layer of the paper's network."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._messages import one_of
from mcn.matrices import MotifStack, Rows, RowSource
from mcn.nn import ops
from mcn.nn._rng import derive, torch_key
from mcn.nn.attend import PRIORS, Attention
from mcn.nn.features import DenseRows, SparseFeatures
from mcn.nn.layer import COEFFICIENT_KEY, EXPLORATION_KEY, FEATURE_KEY, MotifLayer, check_sizes, dropout_of
from mcn.nn.linear import first_numbers
from mcn.nn.selector import Choices, Selector, epsilon_greedy, greedy, report_choices


class MCNConv(MotifLayer):
    """A layer in which every node chooses the motif and the step size it listens to.

    Node i picks motif t and step k by f and f' (see `Selector`); row i of Â is then row i of Ψ(A_t^k)
    (eq:att_matrix). With self-attention each head computes (eq:gat-integrate with Ψ as the prior)::

        h'_i = Σ_j α_ij h_j W + b,   α_ij ∝ Â_ij exp(LeakyReLU(a [h_i W, h_j W])),   Σ_j α_ij = 1

    and without it (eq:gcn)::

        H' = D^-1/2 Â D^-1/2 H W + b,   D_ii = Σ_j Â_ij

    GCN and GAT are special cases (tab:gen); see `from_pyg`. With `self_weights`, h_i W_self is added: a node
    then need not hear itself through the same weights as its neighbours, and a layer can take differences.
    `SumConv` is the layer in which every node hears all motifs and steps, and none chooses.

    Args:
        in_channels, out_channels: feature widths; out_channels is per head.
        motifs, steps: T and K of the stacks this layer will be given.
        heads, concat: number of attention heads, and whether they are concatenated or averaged.
        self_attention: learn the coefficients (as GAT), or take those of eq:gcn.
        motif_attention: without it every node uses the stack's first motif with one step.
        negative_slope: of the LeakyReLU.
        dropout, feature_dropout, input_dropout: probability of dropping a coefficient, an entry of H W, an
            entry of H.
        prior: how Â enters α. "softmax" adds log Â to the logits, as above; "product" multiplies the finished
            softmax by Â.
        bias: add a learned bias.
        self_weights: give the node's own features weights of their own, beside those of what it hears.
        epsilon: the share of random choices in training; all others, and those in evaluation, are the most
            probable ones.
        policy_grad: let the gradient of the choices flow into W through the state.
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
        self_weights: bool = False,
        epsilon: float = 0.1,
        policy_grad: bool = False,
        init_bias: float = 0.0,
    ) -> None:
        sizes = {"in_channels": in_channels, "out_channels": out_channels, "motifs": motifs, "steps": steps}
        check_sizes(**sizes, heads=heads)
        if not 0.0 <= epsilon <= 1.0:
            raise ValueError(f"epsilon must be between 0 and 1, got {epsilon!r}")
        one_of("prior", prior, PRIORS)
        super().__init__(
            **sizes,
            products=heads,
            width=heads * out_channels if concat else out_channels,
            dropout=dropout,
            feature_dropout=feature_dropout,
            input_dropout=input_dropout,
            bias=bias,
            self_weights=self_weights,
        )
        self.heads, self.concat = heads, concat
        self.self_attention, self.motif_attention = self_attention, motif_attention
        self.negative_slope, self.prior = negative_slope, prior
        self.epsilon, self.policy_grad = epsilon, policy_grad
        shape = (heads, out_channels)
        self.att_src = torch.nn.Parameter(torch.empty(shape)) if self_attention else None
        self.att_dst = torch.nn.Parameter(torch.empty(shape)) if self_attention else None
        chooses = motif_attention and motifs * steps > 1
        self.selector = Selector(heads * out_channels, motifs, steps, init_bias) if chooses else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W and a by Glorot's rule and set the bias to zero, as GAT does."""
        for parameter in (self.weight, self.att_src, self.att_dst, self.self_weight):
            if parameter is not None:
                torch.nn.init.xavier_uniform_(parameter)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)
        if self.selector is not None:
            self.selector.reset_parameters()

    @classmethod
    def from_pyg(cls, conv: torch.nn.Module) -> MCNConv:
        """Make a layer that computes what PyG's `GCNConv` or `GATConv` computes, with its weights (tab:gen).

        Give it a stack whose first motif is the edge, with Ψ `unweighted`.
        """
        from torch_geometric.nn import GATConv, GCNConv

        if not isinstance(conv, GCNConv | GATConv):
            kind = type(conv).__name__
            raise ValueError(f"conv: expected a torch_geometric GCNConv or GATConv, got {kind}")
        out = _from_gcn(conv) if isinstance(conv, GCNConv) else _from_gat(conv)
        with torch.no_grad():
            out.weight.copy_(conv.lin.weight.T)
            if out.bias is not None:
                out.bias.copy_(conv.bias)
        return out.to(conv.lin.weight.device, conv.lin.weight.dtype).train(conv.training)

    @ops.uncompiled
    def forward(
        self,
        x: torch.Tensor | SparseFeatures | DenseRows,
        stack: RowSource,
        *,
        choice: Any = None,
        epsilon: float | None = None,
        degrees: NDArray[np.float64] | None = None,
        key: int | None = None,
        return_choices: bool = False,
        return_coefficients: bool = False,
    ) -> torch.Tensor | tuple[torch.Tensor, Choices]:
        """Convolve: choose a row of Â for every target, weigh its entries, and sum the sources' features.

        Args:
            x: features of the sources of `stack`, a `MotifStack` or a block of one.
            choice: pin the choices, ``t·K + (k-1)``: one int for all targets, or an array [num_dst].
            epsilon: overrides the layer's ε for this call (training only).
            degrees: the row sums of Â for all sources, which a block needs without self-attention.
            key: 64-bit key of this call's randomness; by default drawn from torch's global generator.
            return_choices: also return the `Choices`.
            return_coefficients: also return the `Choices`, with their `coefficients` (after the dropout, in
                training).

        Returns:
            The convolved features; with `return_choices` or `return_coefficients` the pair
            (features, `Choices`).
        """
        if self.training and key is None:
            key = torch_key()
        key = key if self.training else None
        report = return_choices or return_coefficients
        z, own = self._transform(x, stack, key)
        chosen = self._choose(z, stack, choice, epsilon, key, report)
        # Coefficients are told of the chosen entries alone, so the host has to know which those are.
        number = _numpy(chosen.number) if return_coefficients else chosen.number
        rows = weights = ops.select(stack, number, z)
        if not self.self_attention:
            weights = ops.normalised(stack, rows, degrees, z)
        out, coefficients = self._aggregate(z, own, stack, weights, key, return_coefficients)
        if not report:
            return out
        return out, report_choices(*chosen, stack.steps, rows, coefficients)

    def what_if(
        self, x: torch.Tensor | SparseFeatures, stack: RowSource, choice: Any, degrees: NDArray[Any] | None
    ) -> tuple[torch.Tensor, Choices]:
        """Compute what each target would get if it alone had made another choice.

        Row i of the result answers a question of its own: target i chooses `choice`, all other nodes choose
        as before. With self-attention the rows of a layer do not interact, and the result is that of
        `forward` with a pinned choice. Without it, D^-1/2 Â D^-1/2 takes the new degree for target i and the
        old `degrees` (``choices.rows.sums()``, of all sources) for all others. Nothing is dropped out, in
        training mode either. The `Choices` come with their `coefficients`.
        """
        z, own = self._transform(x, stack, None)
        chosen = self._choose(z, stack, choice, None, None, True)
        rows = weights = stack.select(_numpy(chosen.number))
        if not self.self_attention:
            weights = _with_one_changed(rows, ops.source_degrees(stack, degrees))
        out, coefficients = self._aggregate(z, own, stack, weights, None, True)
        return out, report_choices(*chosen, stack.steps, rows, coefficients)

    def _check_stack(self, stack: RowSource) -> None:
        if self.selector is not None:  # without one, every node takes the first row of any stack
            super()._check_stack(stack)

    def _choose(
        self,
        z: torch.Tensor,
        stack: RowSource,
        choice: Any,
        epsilon: float | None,
        key: int | None,
        wanted: bool,
    ) -> _Chosen:
        """Choose for every target: as pinned, the first motif where there is no selector, or by f and f'."""
        count = stack.num_options
        log_probs, state = (z.new_zeros(stack.num_dst, 1),) * 2, None
        if self.selector is not None and (wanted or choice is None):
            source = z if self.policy_grad else z.detach()
            state = torch.cat([ops.propagate(source, stack.base), ops.node_counts(stack, z)], 1)
            log_probs = self.selector(state)
        number: Any
        if choice is not None:
            checked = stack.check_choice(choice)
            number = checked if count > 1 else None
            if isinstance(choice, int) and isinstance(stack, MotifStack) and count > 1 and not ops.fused(z):
                # The rows of every option are on the device already.
                number = torch.full((stack.num_dst,), choice, device=z.device)
        elif count == 1:
            number = None
        elif self.selector is None:
            number = np.zeros(stack.num_dst, np.int64)
        else:
            rate = self.epsilon if epsilon is None else epsilon
            if key is None or rate == 0.0:
                motif, step = greedy(*log_probs)
            else:
                motif, step = epsilon_greedy(*log_probs, rate, derive(key, EXPLORATION_KEY))
            number = motif * stack.steps + step
            number = number.numpy() if ops.fused(z) else number
        return _Chosen(number, log_probs, state)

    def _aggregate(
        self,
        z: torch.Tensor,
        own: torch.Tensor | None,
        stack: RowSource,
        weights: Any,
        key: int | None,
        wanted: bool,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the convolved features, and the coefficients if they are wanted.

        `weights` are the rows of Â, or without self-attention those of D^-1/2 Â D^-1/2. `own` is H W_self of
        each target, None without self weights.
        """
        p, p_key = dropout_of(self.dropout, key, COEFFICIENT_KEY)
        feature = dropout_of(self.feature_dropout, key, FEATURE_KEY)
        shape, coefficients = (-1, self.heads, self.out_channels), None
        nodes = stack.src if stack.dropout_by_node else None
        if self.att_src is None or self.att_dst is None:
            z = ops.dropout(z, *feature, nodes)
            out = ops.propagate(z, weights, p, p_key).view(shape)
            if wanted:
                coefficients = torch.as_tensor(weights.values).to(z.device, z.dtype)
        else:
            s_src, s_dst = ops.head_logits(z.view(shape), self.att_src, self.att_dst, stack.num_dst)
            if nodes is not None:
                z, feature = ops.dropout(z, *feature, nodes), (0.0, 0)
            numbers = None if nodes is None else first_numbers(stack.targets)
            (q, q_key), z = feature, z.view(shape)
            how = Attention(self.prior, self.negative_slope, p, q, p_key, q_key, numbers, wanted)
            out = ops.attend(z, s_dst, s_src, weights, how)
            if wanted:
                out, coefficients = out
        if coefficients is not None:
            coefficients = ops.dropout(coefficients, p, p_key).view(len(coefficients), -1)
            coefficients = coefficients.expand(-1, self.heads)
        out = out.flatten(1) if self.concat or self.heads == 1 else out.mean(1)
        return self._add_own(out, own), coefficients

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"{self.in_channels}, {self.out_channels}, motifs={self.motifs}, steps={self.steps}, "
            f"heads={self.heads}, self_attention={self.self_attention}"
        )


class _Chosen(NamedTuple):
    """The choice of every target (None where there is only one), its log-probabilities and the state."""

    number: NDArray[np.int64] | torch.Tensor | None
    log_probs: tuple[torch.Tensor, torch.Tensor]
    state: torch.Tensor | None


def _with_one_changed(rows: Rows, degrees: NDArray[np.float64]) -> Rows:
    """Scale rows to D^-1/2 Â D^-1/2 (eq:gcn) where each target alone has another row than before.

    A target uses the sum of its new row for itself, and `degrees` for all others.
    """
    sums, target = rows.sums(), np.repeat(np.arange(len(rows.indptr) - 1), rows.lengths)
    weights, loops = rows.normalised(degrees, sums), rows.indices == target
    weights.values[loops] = rows.values[loops] / sums[target[loops]]
    return weights


def _numpy(number: NDArray[np.int64] | torch.Tensor | None) -> NDArray[np.int64] | None:
    return number.cpu().numpy() if isinstance(number, torch.Tensor) else number


def _refuse(conv: Any, reason: str) -> ValueError:
    return ValueError(f"{conv} cannot be taken over: {reason}")


def _from_gcn(conv: Any) -> MCNConv:
    """Make the layer for a `GCNConv`, whose weights are still to be copied."""
    if conv.improved or not conv.normalize or not conv.add_self_loops:
        raise _refuse(
            conv,
            "expected GCNConv(improved=False, normalize=True, add_self_loops=True), got "
            f"improved={conv.improved}, normalize={conv.normalize}, add_self_loops={conv.add_self_loops}",
        )
    bias = conv.bias is not None
    return MCNConv(
        conv.in_channels, conv.out_channels, self_attention=False, motif_attention=False, bias=bias
    )


def _from_gat(conv: Any) -> MCNConv:
    """Make the layer for a `GATConv` with the weights of its attention."""
    if not isinstance(conv.in_channels, int):
        raise _refuse(conv, f"in_channels={conv.in_channels} is bipartite; expected a single int")
    if conv.edge_dim is not None:
        raise _refuse(conv, f"edge features (edge_dim={conv.edge_dim}) have no place in a motif stack")
    if getattr(conv, "residual", False):
        raise _refuse(conv, "residual=True is not supported; add the residual outside the layer")
    if not conv.add_self_loops:
        raise _refuse(conv, "add_self_loops=False, but every row of Ψ(A) contains the node itself")
    out: Any = MCNConv(
        conv.in_channels,
        conv.out_channels,
        heads=conv.heads,
        concat=conv.concat,
        motif_attention=False,
        negative_slope=conv.negative_slope,
        dropout=conv.dropout,
        bias=conv.bias is not None,
    )
    with torch.no_grad():
        out.att_src.copy_(conv.att_src[0])
        out.att_dst.copy_(conv.att_dst[0])
    return out  # type: ignore[no-any-return]
