"""What one training step minimises: the losses of classifier and attention, and the agreement of passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.motifs import NODE_ORBITS
from mcn.nn import MCN, Choices
from mcn.nn.features import input_features
from mcn.train.losses import agreement_loss, attention_loss
from mcn.train.mcn.config import MCNConfig
from mcn.train.problem import Problem


class PlainReward:
    """The advantage without a baseline: the reward itself.

    The other advantages subtract what was to be expected; `module` is what learns the expectation, an empty
    one if nothing does.
    """

    module = torch.nn.Module()

    def __call__(
        self, reward: torch.Tensor, state: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the advantage per node, and a loss of its own or None."""
        return reward, None

    def state_dict(self) -> dict[str, float]:
        """Return plain values to go on from."""
        return {}

    def load_state_dict(self, state: dict[str, float]) -> None:
        """Go on from saved values."""


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
        value = self.module(state.detach()).squeeze(1)
        return reward - value.detach(), ((value - reward) ** 2).sum()


def advantage(kind: str, state_width: int) -> PlainReward:
    """The advantage of this name: "none", "mean" or "learned"."""
    if kind == "learned":
        return LearnedValue(state_width)
    return RunningMean() if kind == "mean" else PlainReward()


class Objective:
    """L_C + L_A (eq:loss) over the training nodes and, if asked for, the agreement of two passes.

    Both losses are divided by the number of training nodes: Adam does not notice, but L2 regularisation
    then weighs as much as in GAT's reference.

    With `config.consistency` every step makes two passes over the whole graph, which differ in their
    dropout masks and random actions, and draws both towards their common, sharpened prediction on all
    nodes; without it, one pass over the training nodes' receptive field is enough.
    """

    def __init__(self, model: MCN, problem: Problem, config: MCNConfig) -> None:
        self._problem, self._config = problem, config
        self.device = model.offset.device
        self._labels = problem.train_labels.to(self.device)
        weights = problem.class_weights(config.class_weight)
        self.class_weights = None if weights is None else weights.to(self.device)
        self._train = torch.from_numpy(problem.train).to(self.device)
        last: Any = model.convs[-1]
        self.state_width = int(last.weight.shape[1]) + len(NODE_ORBITS)
        self.advantage = advantage(str(config.advantage), self.state_width)
        self.advantage.module.to(self.device)

    @cached_property
    def x(self) -> Any:
        """The features of all nodes for the network's device; sparse ones are copied there when used."""
        x = self._problem.inputs.x
        found = x if self.device.type == "cpu" else input_features(x)
        return found.to(self.device) if isinstance(found, torch.Tensor) else found

    def step(self, model: MCN, epoch: int, plain: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss of one step; and the classifier's part of it with the share of right answers.

        With `plain` the classifier learns with the first motif and one step for every node; the selectors
        learn beside it, from a pass of their own that changes nothing else.
        """
        p, c = self._problem, self._config
        choosing = c.chooses and c.policy_weight > 0
        rows = None if c.consistency else p.train
        passes = [self._pass(model, rows, plain, choosing) for _ in range(2 if c.consistency else 1)]
        scores = [logits if rows is not None else logits[self._train] for logits, _ in passes]
        loss_c = torch.stack([p.task.loss(s, self._labels, self.class_weights, "sum") for s in scores]).mean()
        loss = loss_c
        if c.consistency:
            weight = c.consistency * min(1.0, epoch / max(1, c.consistency_ramp))
            loss = loss + weight * len(self._labels) * agreement_loss(
                p.task, [each[0] for each in passes], c.temperature
            )
        if choosing:
            tried = [self._pass(model, p.train, False, True)] if plain else passes
            losses = [self.policy_loss(*each, self._labels) for each in tried]
            loss = loss + c.policy_weight * torch.stack(losses).mean()
        right = p.task.right(scores[0].detach(), self._labels).to(loss_c.dtype).mean()
        return loss / len(self._labels), torch.stack([loss_c.detach(), right])

    def _pass(
        self, model: MCN, rows: NDArray[np.int64] | None, plain: bool, choosing: bool
    ) -> tuple[torch.Tensor, Sequence[Choices]]:
        p = self._problem
        if plain or not choosing:
            return model(self.x, p.inputs.stack, rows, choice=0 if plain else None), []
        logits, choices = model(self.x, p.inputs.stack, rows, return_choices=True)
        return logits, choices

    def policy_loss(
        self, logits: torch.Tensor, choices: Sequence[Choices], labels: torch.Tensor
    ) -> torch.Tensor:
        """L_A of one pass over labelled nodes, or over all in training; and the value head's own loss."""
        state, among_all = choices[-1].state, len(logits) != len(labels)
        if among_all:
            logits, state = logits[self._train], None if state is None else state[self._train]
        reward = 2 * self._problem.task.right(logits.detach(), labels) - 1  # R_v: 1 if right, -1 if not
        gain, extra = self.advantage(reward, state)
        if among_all:
            gain = gain.new_zeros(len(choices[-1].motif)).index_copy_(0, self._train, gain)
        loss = attention_loss(choices, gain)
        return loss if extra is None else loss + extra

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        """Of the learned value, if there is one."""
        return self.advantage.module.parameters()

    def tensors(self) -> dict[str, torch.Tensor]:
        """To go on from, for a checkpoint."""
        return dict(self.advantage.module.state_dict())

    def state_dict(self) -> dict[str, Any]:
        """Plain values to go on from."""
        return dict(self.advantage.state_dict())

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from saved values."""
        self.advantage.module.load_state_dict(tensors)
        self.advantage.load_state_dict(state)
