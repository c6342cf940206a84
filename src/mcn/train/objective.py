"""What one training step minimises: the classifier's loss and, after one of two rules, the attention's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from mcn.nn import MCN
from mcn.train.advantage import Advantage, advantage
from mcn.train.config import Config
from mcn.train.losses import attention_loss, classification_loss, correctness
from mcn.train.problem import Problem


class Step(NamedTuple):
    """The loss of one step, and what to log."""

    loss: torch.Tensor
    train_loss: float
    train_accuracy: float


class PaperObjective:
    """L_C + L_A (eq:loss), both divided by the number of training nodes, which Adam does not notice but
    L2 regularisation does: it then weighs as much as in GAT's reference.
    """

    def __init__(self, model: MCN, problem: Problem, config: Config) -> None:
        self._problem, self._config = problem, config
        self._labels = problem.train_labels
        self._chooses = config.motif_attention and len(config.motifs) * config.steps > 1
        self._advantage: Advantage = advantage(config.advantage, _state_width(model))

    def step(self, model: MCN, epoch: int) -> Step:
        """One pass over the training nodes' receptive field."""
        p, c = self._problem, self._config
        if not self._chooses or c.policy_weight == 0:
            logits = model(p.x, p.stack, p.train)
            loss = classification_loss(logits, self._labels)
            return self._result(loss, loss, logits)
        logits, choices = model(p.x, p.stack, p.train, return_choices=True)
        loss_c = classification_loss(logits, self._labels)
        gain, extra = self._advantage(correctness(logits.detach(), self._labels), choices[-1].state)
        loss = loss_c + c.policy_weight * attention_loss(choices, gain)
        return self._result(loss if extra is None else loss + extra, loss_c, logits)

    def _result(self, loss: torch.Tensor, loss_c: torch.Tensor, logits: torch.Tensor) -> Step:
        count = len(self._labels)
        right = float((logits.detach().argmax(1) == self._labels).float().mean())
        return Step(loss / count, float(loss_c.detach()) / count, right)

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        """Of the learned value, if there is one."""
        module = self._advantage.module
        return iter(()) if module is None else module.parameters()

    def tensors(self) -> dict[str, torch.Tensor]:
        """To go on from, for a checkpoint."""
        module = self._advantage.module
        return {} if module is None else dict(module.state_dict())

    def state_dict(self) -> dict[str, Any]:
        """Plain values to go on from."""
        return dict(self._advantage.state_dict())

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from saved values."""
        if self._advantage.module is not None:
            self._advantage.module.load_state_dict(tensors)
        self._advantage.load_state_dict(state)


def _state_width(model: MCN) -> int:
    conv = model.convs[-1]
    return int(conv.heads) * int(conv.out_channels) + 15  # type: ignore[arg-type]


def objective(model: MCN, problem: Problem, config: Config) -> PaperObjective:
    """The objective that a configuration asks for."""
    if config.attention == "paired":
        from mcn.train.paired import PairedObjective

        return PairedObjective(model, problem, config)
    return PaperObjective(model, problem, config)


__all__ = ["PaperObjective", "Step", "objective"]
