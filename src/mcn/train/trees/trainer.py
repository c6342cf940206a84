"""Growing trees: an epoch is a block of rounds, in each of which every output gets a tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from mcn.train.loop import Scores, Trainer
from mcn.train.trees.boosting import Trees, importance_remarks, important_columns
from mcn.train.trees.config import TreesConfig

_ROUNDS = 10
_BLOCK, _COLUMN, _BINNED = 5e-3, 2.5e-4, 1.4e-7
"""Seconds on one core of 2024 that a block takes beside its trees: in all, per column, per value."""
_TREE, _LEAF, _FILLED = 2e-4, 1.35e-6, 2.5e-9
"""Seconds of a tree: in all, per column and leaf, per value."""


@dataclass
class TreesTrainer(Trainer):
    """Training of boosted trees by scikit-learn's `HistGradientBoostingClassifier`, or `…Regressor`.

    An epoch goes on with the same estimator for ten rounds, on one thread, and copies its new trees into the
    model. When to stop is decided by the validation nodes, as for every network.
    """

    model: Trees
    config: TreesConfig

    def __post_init__(self) -> None:
        super().__post_init__()
        problem = self.problem
        known = np.concatenate([problem.train, problem.val])
        self._table = problem.inputs.table(self.model.projection)[known]
        # scikit-learn cannot bin a column without any value: of a motif that is nowhere, for instance.
        self._table[:, np.isnan(self._table[: len(problem.train)]).all(0)] = 0.0
        targets = problem.train_labels
        self._learned = problem.task.boosted(targets.numpy())
        weights = problem.class_weights(self.config.class_weight)
        self._weights = None if weights is None else weights.double()[targets].numpy()
        self._begin()

    def _make_optimizer(self) -> None:
        """Trees are not moved by gradients."""

    def epoch_work(self) -> float:
        """Estimate a block: sorting every column into bins, then histograms of them in each tree."""
        rows, width = len(self.problem.train), self._table.shape[1]
        tree = _TREE + width * (_LEAF * min(rows // 20, self.config.max_leaves) + _FILLED * rows)
        several = [len(each.outputs) if len(each.outputs) != 2 else 1 for each in self._learned]
        binned = max(1, len(several)) * (_BLOCK + width * (_COLUMN + _BINNED * rows))
        return float(binned + _ROUNDS * sum(several) * tree)

    def _begin(self) -> None:
        """Begin without trees."""
        model, targets = self.model, self.problem.train_labels.numpy()
        self._estimators = [self._estimator(each.numeric) for each in self._learned]
        empty = Trees(len(model.gain), len(model.baseline))
        empty.baseline.copy_(torch.from_numpy(self.problem.task.start(targets)))
        empty.projection = model.projection
        model.load_state_dict(empty.state_dict())
        self._sums = np.tile(model.baseline.numpy(), (len(self._table), 1))

    def _estimator(self, numeric: bool) -> Any:
        """Make what grows the trees."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        c = self.config
        kind = HistGradientBoostingRegressor if numeric else HistGradientBoostingClassifier
        return kind(
            learning_rate=c.lr,
            max_iter=0,
            max_leaf_nodes=c.max_leaves,
            min_samples_leaf=max(1, min(c.smallest_leaf, len(self.problem.train) // 10)),
            l2_regularization=c.leaf_l2,
            max_features=c.column_share,
            early_stopping=False,
            warm_start=True,
            random_state=c.seed % 2**32,
        )

    def _grow(self) -> None:
        """Go on for a block of rounds."""
        model, rows, before = self.model, len(self.problem.train), len(self.model.trees)
        for estimator, (labels, outputs, _) in zip(self._estimators, self._learned, strict=True):
            estimator.max_iter += _ROUNDS
            with threadpool_limits(1):  # the same bits however many cores there are
                estimator.fit(self._table[:rows], labels, self._weights)
            # scikit-learn has no public names for these two. Of two classes, it grows trees for one alone.
            baseline = np.ravel(estimator._baseline_prediction)
            grown = estimator._predictors[-_ROUNDS:]
            outputs = outputs[-len(baseline) :]
            if not before:
                model.baseline[outputs] = torch.from_numpy(baseline)
            model.append([tree.nodes for trees in grown for tree in trees], outputs * _ROUNDS)
        if not before:
            self._sums[:] = model.baseline.numpy()
        model.add(self._table, self._sums, slice(before, None))

    def _learn(self) -> tuple[float, float]:
        if self._learned:
            self._grow()
        task, targets = self.problem.task, self.problem.train_labels
        scores = torch.from_numpy(self._sums[: len(targets)])
        loss = float(task.loss(scores, targets))
        self._check(loss)
        return loss, float(task.right(scores, targets).mean())

    def _validate(self) -> Scores:
        return self._judge(torch.from_numpy(self._sums[len(self.problem.train) :]).float())

    def final_scores(self) -> Scores:
        """Score the trees that the model has now on the validation nodes."""
        return self._judge(self.model.logits(self._table[len(self.problem.train) :]))

    @cached_property
    def _important(self) -> list[dict[str, Any]]:
        problem = self.problem
        return important_columns(self.model, problem.inputs, problem.val, problem.val_labels, problem.task)

    def notes(self) -> dict[str, Any]:
        """Return the columns that mattered most; to be asked for when the run has finished."""
        return {"columns": self._important}

    def remarks(self) -> list[str]:
        """Say which columns mattered most."""
        return importance_remarks(self._important)

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave: the same trees are grown again, and compared."""
        self._begin()
        for _ in range(min(int(state["epoch"]), self.config.max_epochs)):
            self.run_epoch()
        again = self.tensors()
        if tensors.keys() != again.keys() or not all(
            torch.equal(tensors[name], again[name]) for name in again
        ):
            raise ValueError("its trees are not those that this graph and these settings give")
        self.seconds = float(state["seconds"])
