"""What the recipe `trees` does: inputs, trees, trainer, predictions, explanation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mcn.matrices import MotifStack
from mcn.motifs import MotifCounts, count_motifs
from mcn.nn.features import mostly_zero
from mcn.train.features import check_features
from mcn.train.loop import Scores, Trainer
from mcn.train.predictions import Explained, Option, Predictions
from mcn.train.problem import Memory, Problem, input_weights, stack_counts
from mcn.train.settings import at_least
from mcn.train.tasks import Task
from mcn.train.tasks.classes import with_many_classes
from mcn.train.trees.boosting import Trees, importance_remarks, important_columns
from mcn.train.trees.columns import WIDE, Table, TreesInputs, counts_degrees_alone, directions_of
from mcn.train.trees.config import TreesConfig

if TYPE_CHECKING:
    from torch_geometric.data import Data

_ROUNDS, _TREES = 10, 200
"""Rounds of an epoch, and its trees at most: every round has one for each class."""


def inputs(
    data: Data, config: TreesConfig, counts: MotifCounts | None = None, memory: Memory | None = None
) -> TreesInputs:
    """Hold the columns and neighbourhoods of a graph; the table is made of them for given trees."""
    x = torch.empty(data.num_nodes, 0) if config.features == "motifs" else data.x
    components = 0
    if memory is not None:
        given = at_least(0)("given", memory.state.get("given"))
        if config.features != "motifs":
            check_features(data, memory._replace(in_channels=given))
        components = at_least(0, given)("components", memory.state.get("components"))
    elif x.shape[1] > WIDE and (x.layout != torch.strided or mostly_zero(x)):
        components = max(1, min(config.components, x.shape[0] - 1))
    if counts is None:
        counts = count_motifs(data.edge_index, data.num_nodes)
    weights = input_weights(data, memory)
    stack = MotifStack.from_counts(
        stack_counts(data, counts, config.motifs),
        config.motifs,
        scope=config.scope,
        materialize=False,
        weights=weights,
    )
    given_names = getattr(data, "feature_names", None) or [f"column {i}" for i in range(x.shape[1])]
    names = [str(name) for name in given_names[: x.shape[1]]]
    per_node = counts.per_node.astype(np.float32)
    if counts_degrees_alone(config.motifs):
        per_node = per_node[:, :1]
    arcs = [np.diff(stack.adjacency(stack.motifs.index(way)).indptr) for way in directions_of(stack)]
    per_node = np.column_stack([per_node, *arcs]).astype(np.float32)
    return TreesInputs(config, x, names, components, per_node, stack, weights)


def network(in_channels: int, num_classes: int, config: TreesConfig, memory: Memory | None = None) -> Trees:
    """Make a model without trees."""
    return Trees(in_channels, num_classes)


def trainer(problem: Problem, config: TreesConfig) -> TreesTrainer:
    """Start without trees."""
    model = network(problem.inputs.in_channels, problem.num_classes, config)
    model.projection = problem.inputs.projection
    return TreesTrainer(model, problem, config)


def predict(model: Trees, inputs: TreesInputs, task: Task) -> Predictions:
    """Predict all nodes."""
    none: NDArray[np.int64] = np.empty((len(inputs.counts), 0), np.int64)
    outputs = _outputs(model, inputs.table(model.projection), task)
    return Predictions(outputs, none, none, inputs.stack.motifs, task=task)


def _outputs(model: Trees, table: Table, task: Task) -> NDArray[np.float32]:
    found: NDArray[np.float32] = task.outputs_of(model.logits(table)).numpy()
    return found


def explain(model: Trees, inputs: TreesInputs, task: Task) -> Explained:
    """Say whose values are averaged for each node, and what is predicted without the other motifs."""
    shown = _options(model, inputs, task)
    return Explained("trees", predict(model, inputs, task), 1, False, [], [], shown)


def _options(model: Trees, inputs: TreesInputs, task: Task) -> Iterator[Option]:
    table, columns = inputs.table(model.projection), inputs.columns()
    for number, motif in enumerate(inputs.stack.motifs):
        rows = inputs.stack.select(np.full(len(table), number))
        shares = (rows.values / np.repeat(rows.sums(), rows.lengths)).astype(np.float32)
        alone = table.copy()
        alone[:, [other not in (None, motif) for _, other in columns]] = np.nan
        yield Option(motif, 1, rows, [shares], _outputs(model, alone, task))


@dataclass
class TreesTrainer(Trainer):
    """Training of boosted trees by scikit-learn's `HistGradientBoostingClassifier`, or `…Regressor`.

    An epoch goes on with the same estimator for ten rounds (fewer of many classes, whose trees take long), on
    one thread, and copies its new trees into the model. When to stop is decided by the validation nodes, as
    for every network.
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

    def _begin(self) -> None:
        """Begin without trees."""
        model, targets = self.model, self.problem.train_labels.numpy()
        self._estimators = [self._estimator(each.numeric) for each in self._learned]
        empty = Trees(len(model.gain), len(model.baseline))
        empty.baseline.copy_(torch.from_numpy(self.problem.task.start(targets)))
        empty.projection = model.projection
        trees = sum(len(each.outputs) for each in self._learned)  # of a round
        self._rounds = max(1, min(_ROUNDS, _TREES // max(1, trees)))
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
            estimator.max_iter += self._rounds
            # One thread: the same bits however many cores there are.
            with threadpool_limits(1), with_many_classes(labels):
                estimator.fit(self._table[:rows], labels, self._weights)
            # scikit-learn has no public names for these two. Of two classes, it grows trees for one alone.
            baseline = np.ravel(estimator._baseline_prediction)
            grown = estimator._predictors[-self._rounds :]
            outputs = outputs[-len(baseline) :]
            if not before:
                model.baseline[outputs] = torch.from_numpy(baseline)
            model.append([tree.nodes for trees in grown for tree in trees], outputs * self._rounds)
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
