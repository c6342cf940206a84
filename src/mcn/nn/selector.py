"""Motif attention: the functions f and f', how a motif and a step are taken by them, and the `Choices`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import Rows
from mcn.motifs import NODE_ORBITS
from mcn.nn import ops
from mcn.nn._rng import hash32_of, threshold
from mcn.nn.plain import Entries, resident


class Selector(torch.nn.Module):
    """The functions f and f', which give a node's probabilities of T motifs and K steps from its state.

    With the state S_l = [Ψ(A) H W, C] (eq:state)::

        f(S) = softmax(S W_f + b_f),   f'(S) = softmax([S, f(S)] W_f' + b_f')

    With T = 1 there is no f (its probability is 1), with K = 1 no f'.

    Args:
        in_channels: width of Ψ(A) H W, that is heads × out_channels of the layer.
        motifs, steps: T and K.
        init_bias: if positive, both functions start with zero weights and this bias on the first motif and
            step 1.

    Shapes:
        state: [n, in_channels + number of node orbits].
        result: log-probabilities [n, T] of the motifs and [n, K] of the steps.
    """

    def __init__(self, in_channels: int, motifs: int, steps: int, init_bias: float = 0.0) -> None:
        super().__init__()
        if motifs < 1 or steps < 1:
            raise ValueError(f"motifs and steps must be at least 1, got motifs={motifs}, steps={steps}")
        if init_bias < 0:
            raise ValueError(f"init_bias must be 0 or positive, got {init_bias}")
        self.motifs, self.steps, self.init_bias = motifs, steps, init_bias
        width = in_channels + len(NODE_ORBITS)
        self.motif_weight = self._parameter(width, motifs) if motifs > 1 else None
        self.motif_bias = self._parameter(motifs) if motifs > 1 else None
        self.step_weight = self._parameter(width + motifs, steps) if steps > 1 else None
        self.step_bias = self._parameter(steps) if steps > 1 else None
        self.reset_parameters()

    @staticmethod
    def _parameter(*shape: int) -> torch.nn.Parameter:
        return torch.nn.Parameter(torch.empty(*shape))

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw weights by Glorot's rule and set biases to zero, or start as `init_bias` says."""
        for weight, bias in ((self.motif_weight, self.motif_bias), (self.step_weight, self.step_bias)):
            if weight is None or bias is None:
                continue
            bias.zero_()
            if self.init_bias > 0:
                weight.zero_()
                bias[0] = self.init_bias
            else:
                torch.nn.init.xavier_uniform_(weight)

    def forward(self, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute the log-probabilities [n, T] of the motifs and [n, K] of the steps."""
        motif = state.new_zeros(len(state), 1)
        step = state.new_zeros(len(state), 1)
        if self.motif_weight is not None and self.motif_bias is not None:
            scores = ops.add_bias(ops.transform(state, self.motif_weight, 0.0, 0), self.motif_bias)
            motif = scores.log_softmax(1)
        if self.step_weight is not None and self.step_bias is not None:
            seen = torch.cat([state, motif.exp()], 1)
            scores = ops.add_bias(ops.transform(seen, self.step_weight, 0.0, 0), self.step_bias)
            step = scores.log_softmax(1)
        return motif, step


def greedy(motif: torch.Tensor, step: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The most probable motif (0-based) and step index (k-1) of every node."""
    return motif.argmax(1), step.argmax(1)


def epsilon_greedy(
    motif: torch.Tensor, step: torch.Tensor, epsilon: float, key: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Take the most probable motif and step, or with probability ε random ones, all equally likely.

    A hash of (key, node) decides, which any device makes for itself: where it is below ε, the part of that
    range in which it lies says which motif and step.
    """
    best_motif, best_step = greedy(motif, step)
    steps, limit = step.shape[1], threshold(epsilon)
    draw = hash32_of(torch.arange(len(motif), device=motif.device), key)
    option = draw * (motif.shape[1] * steps) // max(1, limit)
    explore = draw < limit
    return torch.where(explore, option // steps, best_motif), torch.where(explore, option % steps, best_step)


@dataclass(frozen=True)
class Choices:
    """The motif and step that each target of one layer chose (t_i and k_i of eq:att_matrix).

    Attributes:
        motif: int64 [num_dst], 0-based t.
        step: int64 [num_dst], 1-based k.
        motif_log_probs, step_log_probs: log-probabilities of f, [num_dst, T], and of f', [num_dst, K], with
            gradient in training; zeros where there is nothing to choose (T = 1, K = 1 or no motif attention).
        rows: the chosen rows of Â, as `mcn.nn.plain.Entries` where no kernels are used. Their indices are
            positions among the layer's sources, which are the targets of the layer below in the same order.
        state: S_l of eq:state, or None where no selector was evaluated.
        coefficients: the factor that each head gave to each entry of `rows`, [entries, heads], without
            gradient; None unless the layer was called with `return_coefficients`.
    """

    motif: torch.Tensor
    step: torch.Tensor
    motif_log_probs: torch.Tensor
    step_log_probs: torch.Tensor
    rows: Rows | Entries
    state: torch.Tensor | None
    coefficients: torch.Tensor | None = None

    @property
    def log_motif(self) -> torch.Tensor:
        """log π of the chosen motif, [num_dst] (first term of a line of eq:att_loss)."""
        return self.motif_log_probs.gather(1, self.motif[:, None]).squeeze(1)

    @property
    def log_step(self) -> torch.Tensor:
        """log π of the chosen step, [num_dst] (second term of a line of eq:att_loss)."""
        return self.step_log_probs.gather(1, self.step[:, None] - 1).squeeze(1)

    @property
    def motif_probs(self) -> torch.Tensor:
        """Probabilities of f, [num_dst, T]."""
        return self.motif_log_probs.exp()

    @property
    def step_probs(self) -> torch.Tensor:
        """Probabilities of f', [num_dst, K]."""
        return self.step_log_probs.exp()

    def take(self, ids: NDArray[np.int64]) -> Choices:
        """Cut out the choices of some targets; positions among the sources stay as they are."""
        index = resident(ids, self.motif.device, torch.int64)
        coefficients = self.coefficients
        rows: Rows | Entries
        if isinstance(self.rows, Entries):
            rows, coefficients = self.rows.take(index), None
        else:
            numbered = self.rows._replace(values=np.arange(len(self.rows.indices))).take(ids)
            rows = numbered._replace(values=self.rows.values[numbered.values])
            if coefficients is not None:
                coefficients = coefficients[torch.from_numpy(numbered.values).to(coefficients.device)]
        return Choices(
            self.motif[index],
            self.step[index],
            self.motif_log_probs[index],
            self.step_log_probs[index],
            rows,
            None if self.state is None else self.state[index],
            coefficients,
        )


def report_choices(
    number: NDArray[np.int64] | torch.Tensor | None,
    log_probs: tuple[torch.Tensor, torch.Tensor],
    state: torch.Tensor | None,
    steps: int,
    rows: Rows | Entries,
    coefficients: torch.Tensor | None,
) -> Choices:
    """Make the `Choices` of a layer from the chosen numbers t·K + (k-1); None means that all are 0."""
    device = log_probs[0].device
    if number is None:
        number = torch.zeros(len(log_probs[0]), dtype=torch.int64, device=device)
    elif not isinstance(number, torch.Tensor):
        number = torch.from_numpy(number).to(device)
    return Choices(number // steps, number % steps + 1, *log_probs, rows, state, coefficients)
