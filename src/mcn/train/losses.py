"""The loss of the motif attention, L_A; the agreement of several passes; and mean weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch

from mcn.nn import Choices
from mcn.nn.plain import Entries
from mcn.train.loop import below, shapes
from mcn.train.tasks import Task


def attention_loss(choices: Sequence[Choices], reward: torch.Tensor) -> torch.Tensor:
    """L_A (eq:att_loss): the rewards of the classified nodes times the log-probabilities of all actions
    that led there.

    A node of layer l - 1 receives the rewards of every path that reaches it through the chosen
    neighbourhoods of the layers above, with multiplicity, as the nested sums say.

    Args:
        choices: of every layer, input layer first; the last layer's targets are the classified nodes.
        reward: R_v (or an advantage) per classified node.
    """
    loss = reward.new_zeros(())
    credit = reward
    for layer in reversed(range(len(choices))):
        chosen = choices[layer]
        loss = loss - (credit * (chosen.log_motif + chosen.log_step)).sum()
        if layer:
            credit = pass_down(chosen, credit, len(choices[layer - 1].motif))
    return loss


def pass_down(chosen: Choices, credit: torch.Tensor, num_sources: int) -> torch.Tensor:
    """What the nodes below receive: each one the credit of every node that listens to it."""
    if isinstance(chosen.rows, Entries):
        own, each = chosen.rows, credit[chosen.rows.target]
        each = each if own.active is None else each * own.active
        return credit.new_zeros(num_sources).index_add_(0, own.source, each)
    lengths = torch.from_numpy(np.diff(chosen.rows.indptr)).to(credit.device)
    sources = torch.from_numpy(chosen.rows.indices.astype(np.int64)).to(credit.device)
    below = credit.new_zeros(num_sources)
    return below.index_add_(0, sources, credit.repeat_interleave(lengths))


def agreement_loss(
    task: Task, passes: Sequence[torch.Tensor], temperature: float, min_confidence: float = 2.0
) -> torch.Tensor:
    """Measure how far the predictions of several passes are from their common mean, sharpened for classes.

    Of classes, a node counts if the largest probability of its mean prediction exceeds `min_confidence` / C.
    The loss is the mean of the squared distances over the nodes that count and the passes.
    """
    predicted = [task.comparable(scores) for scores in passes]
    mean = torch.stack([p.detach() for p in predicted]).mean(0)
    target, counted = task.agreed(mean, temperature), task.confident(mean, min_confidence)
    distance = torch.stack([((p - target) ** 2).sum(1) for p in predicted]).mean(0)
    return (distance * counted).sum() / counted.sum().clamp_min(1.0)


class MeanWeights:
    """The running mean of a network's weights; steps on few nodes leave the weights themselves in motion.

    Integers, such as counters, are copied and not averaged.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._mean = _copy(model.state_dict())

    def copy(self) -> dict[str, torch.Tensor]:
        """Return a copy of the mean."""
        return _copy(self._mean)

    def update(self, share: float) -> None:
        """Move the mean towards the tensors of the network; with share 1 it becomes them."""
        for name, value in self._model.state_dict().items():
            if share < 1 and value.is_floating_point():
                self._mean[name].lerp_(value, share)
            else:
                self._mean[name].copy_(value)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the mean into the network, and its own weights back at the end."""
        own = _copy(self._model.state_dict())
        self._model.load_state_dict(self._mean)
        try:
            yield
        finally:
            self._model.load_state_dict(own)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return what `load` goes on from."""
        return {f"mean.{name}": value for name, value in self._mean.items()}

    def load(self, tensors: dict[str, torch.Tensor]) -> None:
        """Go on from what `tensors` gave; refuse those of another network."""
        found = below("mean.", tensors)
        if shapes(self._mean) != shapes(found):
            raise ValueError("the mean weights are not those of this network")
        self._mean = _copy(found)


def _copy(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in tensors.items()}
