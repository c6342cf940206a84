"""The advantage: the reward less what was to be expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch


class Advantage(Protocol):
    """Turns rewards into advantages; `loss` is what training the expectation itself costs."""

    module: torch.nn.Module | None

    def __call__(
        self, reward: torch.Tensor, state: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The advantage per node, and a loss of its own or None."""
        ...

    def state_dict(self) -> dict[str, float]:
        """Plain values to go on from."""
        ...

    def load_state_dict(self, state: dict[str, float]) -> None:
        """Go on from saved values."""
        ...


class PlainReward:
    """No baseline: the reward itself."""

    module: torch.nn.Module | None = None

    def __call__(
        self, reward: torch.Tensor, state: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The reward as it is."""
        return reward, None

    def state_dict(self) -> dict[str, float]:
        """Nothing to remember."""
        return {}

    def load_state_dict(self, state: dict[str, float]) -> None:
        """Nothing to remember."""


class RunningMean(PlainReward):
    """The reward less the running mean of the mean reward."""

    def __init__(self, momentum: float = 0.9) -> None:
        self.momentum, self.weight = momentum, 0.0
        # A tensor while it is on a device, so that nobody waits for it; in double precision where there is.
        self.mean: float | torch.Tensor = 0.0
        self.mean_of: Callable[[torch.Tensor], float | torch.Tensor] = _mean

    def __call__(
        self, reward: torch.Tensor, state: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Subtract what the steps before this one brought."""
        now = self.mean_of(reward)
        expected = self.mean / self.weight if self.weight else now
        self.mean = self.momentum * self.mean + (1 - self.momentum) * now
        self.weight = self.momentum * self.weight + (1 - self.momentum)
        return reward - expected, None

    def state_dict(self) -> dict[str, float]:
        """The mean so far."""
        return {"mean": float(self.mean), "weight": self.weight}

    def load_state_dict(self, state: dict[str, float]) -> None:
        """Go on from saved values."""
        self.mean, self.weight = float(state["mean"]), float(state["weight"])


def _mean(reward: torch.Tensor) -> torch.Tensor:
    mean = reward.mean()
    return mean if mean.device.type == "mps" else mean.double()


class LearnedValue(PlainReward):
    """The reward less a value that a linear head predicts from the state of the classified node."""

    def __init__(self, width: int) -> None:
        with torch.random.fork_rng(devices=[]):  # leave the caller's random numbers alone
            head = torch.nn.Linear(width, 1)
        torch.nn.init.zeros_(head.weight)
        torch.nn.init.zeros_(head.bias)
        self.module = head

    def __call__(
        self, reward: torch.Tensor, state: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Subtract the predicted value; the head is trained on the squared error."""
        assert state is not None
        assert self.module is not None
        value = self.module(state.detach()).squeeze(1)
        return reward - value.detach(), ((value - reward) ** 2).sum()


def advantage(kind: str, state_width: int) -> Advantage:
    """The advantage of this name: "none", "mean" or "learned"."""
    if kind == "learned":
        return LearnedValue(state_width)
    return RunningMean() if kind == "mean" else PlainReward()
