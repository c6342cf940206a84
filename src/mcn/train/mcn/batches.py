"""Training a network whose nodes choose in mini-batches, and its exact validation in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.parallel import DistributedDataParallel

from mcn.nn import Choices
from mcn.nn._rng import derive
from mcn.nn.features import FeatureRows
from mcn.nn.graph_rows import GraphRows
from mcn.nn.layerwise import Field, heard_by, infer_fields
from mcn.nn.sampling import Batch, Batches, MotifSampler, Shuffled, sampled_pass
from mcn.train.loop import Scores, below
from mcn.train.losses import MeanWeights
from mcn.train.mcn.objective import RunningMean
from mcn.train.mcn.trainer import MCNTrainer
from mcn.train.processes import host, team

MEMORY = 100
"""Steps that the running mean of the weights remembers at most, unless an epoch has more."""


@dataclass
class BatchTrainer(MCNTrainer):
    """Training of an `mcn.MCN` in mini-batches: an epoch is a step for each batch of training nodes.

    Nodes draw their neighbours from the rows that they choose (`mcn.nn.sampling.MotifSampler`). Their choices
    are those of the exact pass at the end of the epoch before, except for ε; the selectors learn from them as
    in full batches. Validation is exact, layer by layer (`mcn.nn.layerwise.infer`).

    Steps of a constant length on few nodes leave the weights in motion around where they should be. What is
    validated, kept, and asked for choices is therefore their running mean (`mean_share`); training goes on
    from the weights as they are. With one batch an epoch the two are the same.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        c = self.config
        self.graph: GraphRows = self.problem.inputs.graph
        self.features: FeatureRows = self.problem.inputs.features
        self._choosing = c.chooses and c.policy_weight > 0
        self._table: NDArray[np.int16] | None = None
        self._logits: list[torch.Tensor] = []
        self._mean = MeanWeights(self.model)
        self._team = team()
        if isinstance(self.objective.advantage, RunningMean):
            self.objective.advantage.mean_of = self._team.mean
        count = len(self.problem.train)
        share = min(int(c.batch_size or count), -(-count // self._team.size))
        self._shuffled = Shuffled(count, share, c.seed, *self._team)
        self._loss: torch.nn.Module = _Loss(self)
        if self._team.size > 1:
            self._loss = DistributedDataParallel(self._loss, find_unused_parameters=True)

    def _epoch(self) -> Iterable[Batch]:
        """The batches of this epoch; each is drawn for the first motif, for the choices, or for both."""
        c = self.config
        fans = c.neighbours * c.num_layers if len(c.neighbours) == 1 else c.neighbours
        summed = not c.self_attention
        samplers = []
        if self.plain or not c.chooses:
            samplers.append(MotifSampler(self.graph, fans, with_degrees=summed))
        if c.chooses and (self._choosing or not self.plain):
            samplers.append(
                MotifSampler(
                    self.graph,
                    fans,
                    choices=torch.from_numpy(self._choices()),
                    epsilon=float(c.epsilon or 0.0),
                    with_base=self._choosing,
                    with_degrees=summed,
                )
            )
        batches = Batches(samplers, self.features, self.problem.train, self._shuffled, derive(c.seed, 0))
        return batches.of_epoch(self.epoch, c.loader_workers)

    def _choices(self) -> NDArray[np.int16]:
        """What every node chooses in every layer, by the weights that were validated."""
        if self._table is None:
            with self._mean.in_place():
                _, self._table = self._team.from_first(lambda: self._exact(self._fields[:1]))
        return self._table

    def _learn(self) -> tuple[float, float]:
        logged: list[torch.Tensor] = []
        count = len(self._shuffled)
        for batch in self._epoch():
            self.optimizer.zero_grad(set_to_none=True)
            loss, found = self._loss(batch)
            # Gradients are averaged over the processes, and each has its part of the sum.
            whole = self._shuffled.size(batch.number) / self._team.size
            (loss / whole).backward()
            self.optimizer.step()
            self._mean.update(mean_share(batch.number, count))
            logged.append(found)
        total, right = self._team.sum(
            *(math.fsum(each) for each in zip(*host(torch.stack(logged)), strict=True))
        )
        self._check(total)
        return total / len(self.problem.train), right / len(self.problem.train)

    def step(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """The summed loss of a batch; and the classifier's part of it with the number of right answers."""
        if not len(batch.nodes):  # this process has no share of the last batch, but the others wait for it
            if self._choosing:
                nothing = torch.empty(0, self.objective.state_width, device=self.device)
                self.objective.advantage(nothing[:, 0], nothing)
            none = torch.zeros((), device=self.device)
            return sum((p.sum() for p in self._loss.parameters()), none) * 0.0, torch.stack([none, none])
        labels = self.problem.labels[torch.from_numpy(batch.nodes)].to(self.device)
        passes = [self._pass(batch, i) for i in range(len(batch.draws))]
        logits = passes[0][0]
        task = self.problem.task
        loss = loss_c = task.loss(logits, labels, self.objective.class_weights, "sum")
        if self._choosing:
            loss = loss + self.config.policy_weight * self.objective.policy_loss(*passes[-1], labels)
        right = task.right(logits.detach(), labels).sum().to(loss_c.dtype)
        return loss, torch.stack([loss_c.detach(), right])

    def _pass(self, batch: Batch, i: int) -> tuple[torch.Tensor, Sequence[Choices]]:
        x, key = batch.xs[i], derive(self.config.seed, 1, batch.number, i)
        x = x.to(self.device) if isinstance(x, torch.Tensor) else x
        return sampled_pass(self.model, x, batch.draws[i], key)

    @torch.no_grad()
    def _validate(self) -> Scores:
        self._table = None
        with self._mean.in_place():
            return super()._validate()

    def _snapshot(self) -> dict[str, torch.Tensor]:
        with self._mean.in_place():
            return super()._snapshot()

    def _scores(self, choice: int | None) -> Scores:
        if choice is None:
            self._logits, self._table = self._team.from_first(lambda: self._exact(self._fields))
        # What all would say with one choice was computed along with what they say by their own.
        return self._judge(self._logits[0 if choice is None else 1][: len(self.problem.val)])

    def _exact(self, fields: list[Field]) -> tuple[list[torch.Tensor], NDArray[np.int16]]:
        found = infer_fields(self.model, self.features, self.graph, fields)
        return [each.logits.cpu() for each in found], found[0].choices.astype(np.int16)

    @cached_property
    def _fields(self) -> list[Field]:
        """Whom labelled nodes may hear, and validation nodes if all take the first choice: found once."""
        val, train = self.problem.val, self.problem.train
        if not self.config.chooses:
            return [heard_by(self.model, self.graph, val)]
        free = heard_by(self.model, self.graph, np.concatenate([val, train]))
        return [free, heard_by(self.model, self.graph, val, 0)] if self.config.gate else [free]

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors of the run, the mean weights among them."""
        return super().tensors() | (self._mean.tensors() if len(self._shuffled) > 1 else {})

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        super().load(tensors, state)
        if len(self._shuffled) > 1 and below("mean.", tensors):
            self._mean.load(tensors)
        else:  # one batch an epoch, now or, with other processes, when this was saved
            self._mean.update(1.0)
        self._table = None


def mean_share(number: int, per_epoch: int) -> float:
    """Return the share of a step's weights in their running mean.

    The mean forgets with a memory of three epochs, but of a hundred steps at most, or an epoch's if these are
    more. Before it is that old, later steps weigh more, in proportion to their number: the first weights are
    soon forgotten.

    Args:
        number: of the step, counted through all epochs from 0.
        per_epoch: steps of an epoch; with one, the mean is the weights themselves.

    >>> [mean_share(number, 10) for number in (0, 1, 2, 3, 999)]
    [1.0, 0.6666666666666666, 0.5, 0.4, 0.03333333333333333]
    """
    if per_epoch == 1:
        return 1.0
    memory = max(min(MEMORY, 3 * per_epoch), per_epoch)
    return max(1 / memory, 2 / (number + 2))


class _Loss(torch.nn.Module):
    """The loss of a batch as a module: what torch's `DistributedDataParallel` wraps.

    Its parameters are those of the network and of the learned value, if there is one.
    """

    def __init__(self, trainer: BatchTrainer) -> None:
        super().__init__()
        self.model, self.value = trainer.model, trainer.objective.advantage.module
        self._step = trainer.step

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute the loss, and what to log."""
        return self._step(batch)
