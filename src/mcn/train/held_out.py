"""Held-out predictions of validation nodes, without training anything twice.

A network is stopped where the validation nodes like it best, so on these very nodes it looks better than it
is, and the more so the longer and noisier its training. Here the validation nodes are cut into folds; for
every fold the epoch is picked by the other folds alone, and the predictions that the fold's nodes get are
those of that epoch. All of it comes from one training run, which no fold's labels have reached: training sees
training nodes, stopping sees the other folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.data.targets import strata
from mcn.train.stopping import StoppingRule
from mcn.train.tasks import Task

FOLDS = 5


def folds_of(labels: NDArray[Any], seed: int) -> NDArray[np.int64]:
    """Deal nodes out to `FOLDS` folds (or one each) at random, every class as evenly as can be."""
    count = min(FOLDS, len(labels))
    draw = np.random.default_rng([seed, 1])
    order = np.lexsort((draw.random(len(labels)), strata(labels)))
    fold = np.empty(len(labels), np.int64)
    fold[order] = (np.arange(len(labels)) + draw.integers(count)) % count
    return fold


class HeldOut:
    """Scores of the validation nodes, each from an epoch that the other folds picked.

    An epoch is picked by the rule `stopping`, which looks at the `metric`. Runs with the same seed have the
    same folds, so that they can be compared.
    """

    def __init__(self, task: Task, labels: torch.Tensor, stopping: str, metric: str, seed: int) -> None:
        self._task, self._labels, self._metric = task, labels, metric
        self.fold = folds_of(labels.numpy(), seed)
        self.logits = torch.empty(0)
        sizes = np.bincount(self.fold)
        self._own = [torch.from_numpy(self.fold == number) for number in range(len(sizes))]
        self._itself, self._others = np.eye(len(sizes), dtype=bool), np.maximum(len(labels) - sizes, 1)
        self._rules = [StoppingRule(stopping, 1) for _ in self._own]

    def update(self, logits: torch.Tensor) -> None:
        """Take the scores of the validation nodes after an epoch."""
        if not len(self.logits):
            self.logits = logits.detach().clone()
        losses = self._task.loss(logits, self._labels, reduction="none")
        right = self._task.right(logits, self._labels)
        others = zip(self._rules, self._own, self._of_others(right), self._of_others(losses), strict=True)
        for rule, own, accuracy, loss in others:
            if not own.all() and rule.update(self._score(logits, own, accuracy), loss).keep:
                self.logits[own] = logits[own]

    def _of_others(self, values: torch.Tensor) -> list[float]:
        """Return the mean of the nodes that are not in a fold, for every fold."""
        sums = np.bincount(self.fold, values.numpy().astype(np.float64))
        # Not the sum of all less the fold's own: that would let rounding tell of it.
        means: list[float] = (np.where(self._itself, 0.0, sums).sum(1) / self._others).tolist()
        return means

    @property
    def outputs(self) -> NDArray[Any]:
        """What the scores predict, [n, outputs]."""
        return self._task.outputs_of(self.logits).numpy()

    def _score(self, logits: torch.Tensor, own: torch.Tensor, right: float) -> float:
        """Return the metric on the nodes outside a fold, of which so many are right."""
        if self._metric == "accuracy":
            return right
        others = self._task.outputs_of(logits[~own]).numpy(), self._labels[~own].numpy()
        found = self._task.merit(self._metric, *others)
        return right if found is None else found  # None: a class that the other folds lack

    def state(self) -> list[dict[str, Any]]:
        """All plain values; `logits` is the only tensor."""
        return [rule.state_dict() for rule in self._rules]

    def load(self, logits: torch.Tensor, state: list[dict[str, Any]]) -> None:
        """Go on from saved values."""
        self.logits = logits.clone()
        for rule, own in zip(self._rules, state, strict=True):
            rule.load_state_dict(own)
