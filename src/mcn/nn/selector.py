"""Motif attention: the functions f and f' that recommend a motif and a step to every node."""

from __future__ import annotations

import torch

from mcn.nn import ops

NUM_COUNTS = 15  # the node orbits of the graphlets on 2 to 4 nodes, C of eq:state


class Selector(torch.nn.Module):
    """Probabilities of T motifs and K steps from a node's state S_l = [Ψ(A) H W, C] (eq:state).

    f is one linear layer S → T, f' one linear layer (S + T) → K on the state and the *probabilities*
    of f; both are softmaxed. With T = 1 there is no f (its probability is 1), with K = 1 no f'.

    Args:
        in_channels: width of Ψ(A) H W, that is heads × out_channels of the layer.
        motifs, steps: T and K.
        init_bias: when > 0 both layers start with zero weights and this bias on (first motif, step 1).
    """

    def __init__(self, in_channels: int, motifs: int, steps: int, init_bias: float = 0.0) -> None:
        super().__init__()
        if motifs < 1 or steps < 1:
            raise ValueError(f"motifs and steps must be at least 1, got motifs={motifs}, steps={steps}")
        if init_bias < 0:
            raise ValueError(f"init_bias must be 0 or positive, got {init_bias}")
        self.motifs, self.steps, self.init_bias = motifs, steps, init_bias
        width = in_channels + NUM_COUNTS
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
        """Glorot weights and zero biases, or the start biased to (first motif, step 1)."""
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
        """Log-probabilities [n, T] of the motifs and [n, K] of the steps."""
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

    def extra_repr(self) -> str:
        """T and K."""
        return f"motifs={self.motifs}, steps={self.steps}"


def greedy(motif: torch.Tensor, step: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The most probable motif (0-based) and step index (k-1) of every node."""
    return motif.argmax(1), step.argmax(1)


def epsilon_greedy(
    motif: torch.Tensor, step: torch.Tensor, epsilon: float, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """The most probable action, or with probability ε a random one: uniform over motifs and over steps."""
    best_motif, best_step = greedy(motif, step)
    n = len(motif)
    explore = torch.rand(n, generator=generator) < epsilon
    any_motif = torch.randint(motif.shape[1], (n,), generator=generator)
    any_step = torch.randint(step.shape[1], (n,), generator=generator)
    device = motif.device
    explore = explore.to(device)
    return (
        torch.where(explore, any_motif.to(device), best_motif),
        torch.where(explore, any_step.to(device), best_step),
    )


def sample(
    motif: torch.Tensor, step: torch.Tensor, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Actions drawn from the policy itself."""

    def draw(log_probs: torch.Tensor) -> torch.Tensor:
        # Inverse of the distribution function: one uniform per node, drawn on the CPU for any device.
        u = torch.rand(len(log_probs), 1, generator=generator, dtype=torch.float64).to(log_probs.device)
        below = (log_probs.detach().double().exp().cumsum(1) <= u).sum(1)
        return below.clamp_(max=log_probs.shape[1] - 1)

    return draw(motif), draw(step)
