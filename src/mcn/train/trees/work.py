"""What the recipe `trees` does: inputs, trees, trainer, predictions, explanation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import MotifStack
from mcn.motifs import MotifCounts, count_motifs
from mcn.nn.features import mostly_zero
from mcn.train.features import check_features
from mcn.train.predictions import Explained, Option, Predictions
from mcn.train.problem import Memory, Problem, input_weights, stack_counts
from mcn.train.settings import at_least
from mcn.train.tasks import Task
from mcn.train.trees.boosting import Trees
from mcn.train.trees.columns import DIRECTIONS, WIDE, Table, TreesInputs, directions_of
from mcn.train.trees.config import TreesConfig
from mcn.train.trees.trainer import TreesTrainer

if TYPE_CHECKING:
    from torch_geometric.data import Data


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
    if set(config.motifs) <= {"edge", *DIRECTIONS}:  # then degrees are the only counts that are asked for
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
