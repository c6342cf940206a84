"""Motif attention trained by comparing two passes, on labelled and unlabelled nodes."""

from __future__ import annotations

import torch

from mcn.nn import MCN, Choices
from mcn.train.config import Config
from mcn.train.losses import pass_down
from mcn.train.objective import PaperObjective, Step
from mcn.train.problem import Problem


class PairedObjective(PaperObjective):
    """Two passes with other dropout masks and other choices; the one that did better for a node is
    rewarded for it, the other one is punished as much.

    A node's score in a pass is the log-probability of its label or, for an unlabelled node whose two
    predictions together are sure enough, of their sharpened mean. The advantage of a pass is half of the
    difference of the scores: nothing to learn where both passes agree, and nothing that depends on how
    easy the node is. The passes are also drawn towards their sharpened mean (`consistency`).
    """

    def __init__(self, model: MCN, problem: Problem, config: Config) -> None:
        super().__init__(model, problem, config)
        self._train = torch.from_numpy(problem.train)
        self._known = torch.zeros(len(problem.labels), dtype=torch.bool)
        self._known[self._train] = True
        self._target = torch.zeros(len(problem.labels), problem.num_classes)
        self._target[self._train, self._labels] = 1.0

    def step(self, model: MCN, epoch: int) -> Step:
        """Two passes over the whole graph."""
        p, c = self._problem, self._config
        passes = [model(p.x, p.stack, return_choices=True) for _ in range(2)]
        logs = [logits.log_softmax(1) for logits, _ in passes]
        loss_c = sum(-log[self._train].gather(1, self._labels[:, None]).mean() for log in logs) / 2
        mean = (logs[0].detach().exp() + logs[1].detach().exp()) / 2
        sharp = torch.softmax(mean.clamp_min(1e-12).log() / c.temperature, 1)
        target = torch.where(self._known[:, None], self._target, sharp)
        sure = self._known | (mean.max(1).values > 2 / p.num_classes)

        weight = c.consistency * min(1.0, epoch / max(1, c.ramp))
        agree = sum(((log.exp() - sharp) ** 2).sum(1)[sure].mean() for log in logs) / 2
        loss = loss_c + weight * agree
        if self._chooses and c.policy_weight > 0:
            scores = [(log.detach() * target).sum(1).clamp_min(-5.0) for log in logs]
            gain = torch.where(sure, (scores[0] - scores[1]) / 2, torch.zeros(()))
            for sign, (_, choices) in zip((1.0, -1.0), passes, strict=True):
                loss = loss + c.policy_weight * _mean_attention_loss(choices, sign * gain)
        assert isinstance(loss_c, torch.Tensor)
        first = passes[0][0].detach()[self._train]
        right = float((first.argmax(1) == self._labels).float().mean())
        return Step(loss, float(loss_c.detach()), right)


def _mean_attention_loss(choices: list[Choices], gain: torch.Tensor) -> torch.Tensor:
    """As eq:att_loss, but a node of a lower layer receives the mean of what its listeners got."""
    loss = gain.new_zeros(())
    credit = gain
    for layer in reversed(range(len(choices))):
        chosen = choices[layer]
        loss = loss - (credit * (chosen.log_motif + chosen.log_step)).mean()
        if layer:
            size = len(choices[layer - 1].motif)
            listeners = pass_down(chosen, torch.ones_like(credit), size)
            credit = pass_down(chosen, credit, size) / listeners.clamp_min(1.0)
    return loss
