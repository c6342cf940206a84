"""What one training step minimises: the classifier's loss and the attention's, and how views agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.nn import MCN, Choices
from mcn.train.advantage import Advantage, advantage
from mcn.train.config import Config
from mcn.train.losses import agreement_loss, attention_loss, classification_loss, correctness
from mcn.train.problem import Problem


class Step(NamedTuple):
    """The loss of one step, and what to log."""

    loss: torch.Tensor
    train_loss: float
    train_accuracy: float


class Objective:
    """L_C + L_A (eq:loss) over the training nodes and, if asked for, the agreement of two views.

    Both losses are divided by the number of training nodes: Adam does not notice, but L2 regularisation
    then weighs as much as in GAT's reference.

    With `config.consistency` every step makes two passes over the whole graph, which differ in their
    dropout masks and random actions, and draws both towards their common, sharpened prediction on all
    nodes; without it, one pass over the training nodes' receptive field is enough.
    """

    def __init__(self, model: MCN, problem: Problem, config: Config) -> None:
        self._problem, self._config = problem, config
        self._labels = problem.train_labels
        self._train = torch.from_numpy(problem.train)
        self._sizes: list[int] | None = None
        self._advantage: Advantage = advantage(str(config.advantage), _state_width(model))

    def step(self, model: MCN, epoch: int, plain: bool = False) -> Step:
        """The loss of one step.

        Args:
            plain: nodes take the first motif and one step instead of what the selectors recommend; the
                share ε of random actions stays, and the selectors learn from it.
        """
        p, c = self._problem, self._config
        if not c.consistency:
            return self._sum_up(*self._supervised(*self._pass(model, p.train, plain)))
        views = [self._pass(model, None, plain) for _ in range(2)]
        parts = [self._supervised(logits[self._train], choices, self._train) for logits, choices in views]
        losses = [sum(x) / 2 for x in zip(*[part[:2] for part in parts], strict=True)]
        weight = c.consistency * min(1.0, epoch / max(1, c.ramp))
        agree = agreement_loss([logits for logits, _ in views], c.temperature)
        return self._sum_up(losses[0] + weight * len(self._labels) * agree, losses[1], parts[0][2])

    def _pass(
        self, model: MCN, rows: NDArray[np.int64] | None, plain: bool
    ) -> tuple[torch.Tensor, Sequence[Choices]]:
        p = self._problem
        if not self._rewards and not plain:
            return model(p.x, p.stack, rows), []
        pins = self._random_actions(model, rows) if plain else None
        return model(p.x, p.stack, rows, choice=pins, return_choices=True)

    def _random_actions(self, model: MCN, rows: NDArray[np.int64] | None) -> list[NDArray[np.int64]]:
        """Per layer and node: the first motif and one step, or with probability ε any action."""
        stack, c = self._problem.stack, self._config
        if rows is None:
            sizes = [stack.num_dst] * c.num_layers
        else:
            if self._sizes is None:
                self._sizes = [block.num_dst for block in stack.blocks(rows, c.num_layers)]
            sizes = self._sizes
        rng = np.random.default_rng([model.rng.seed, model.rng.step])
        count = stack.num_motifs * stack.steps
        return [np.where(rng.random(n) < c.epsilon, rng.integers(count, size=n), 0) for n in sizes]

    @property
    def _rewards(self) -> bool:
        return self._config.chooses and self._config.policy_weight > 0

    def _supervised(
        self, logits: torch.Tensor, choices: Sequence[Choices], rows: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """L_C + L_A of one pass, L_C alone, and the training nodes' scores.

        `rows`: which of the last layer's targets the training nodes are, where it has others too.
        """
        loss_c = classification_loss(logits, self._labels)
        if not self._rewards:
            return loss_c, loss_c, logits
        reward = correctness(logits.detach(), self._labels)
        state = choices[-1].state
        gain, extra = self._advantage(reward, state if state is None or rows is None else state[rows])
        if rows is not None:
            gain = gain.new_zeros(len(choices[-1].motif)).index_copy_(0, rows, gain)
        loss = loss_c + self._config.policy_weight * attention_loss(choices, gain)
        return (loss if extra is None else loss + extra), loss_c, logits

    def _sum_up(self, loss: Any, loss_c: Any, logits: torch.Tensor) -> Step:
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
