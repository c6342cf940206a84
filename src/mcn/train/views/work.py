"""What the recipe `views` does: inputs, network, trainer, predictions, explanation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.data.sparse import feature_csr, feature_tensor
from mcn.matrices import PageRankRows, Rows, view_rows
from mcn.motifs import MotifCounts, count_motifs
from mcn.motifs.triads import directed_neighbourhood
from mcn.nn import MotifViews
from mcn.nn.features import SparseFeatures, sparse_features
from mcn.train.features import check_features, node_features
from mcn.train.predictions import Explained, Option, Predictions
from mcn.train.problem import Known, Memory, Problem, fingerprint, input_weights
from mcn.train.tasks import Task
from mcn.train.views.config import ViewsConfig
from mcn.train.views.trainer import ViewsTrainer, exact_scores

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class ViewsInputs:
    """What an `mcn.nn.MotifViews` is fed from.

    x: the features as CSR. rows: how each view mixes them. names: of the views. features: as they came.
    edges: CSR pattern (indptr, indices) of the graph. scaled: what was done to the features, see
    `node_features`. weights: of the edges, see `input_weights`.
    """

    x: SparseFeatures
    rows: PageRankRows
    names: tuple[str, ...]
    features: torch.Tensor
    edges: tuple[NDArray[Any], NDArray[Any]]
    scaled: dict[str, Any]
    weights: Any

    @property
    def in_channels(self) -> int:
        """Number of input features."""
        return int(self.x.shape[1])

    def state(self) -> dict[str, Any]:
        """Return what was done to the features, to be done to those of another graph."""
        return self.scaled if self.weights is None else {**self.scaled, "weighted": True}

    def fingerprint(self, known: Known) -> str:
        """Return the SHA-256 of edges, features and what is known of the classes."""
        return fingerprint(self.features, *self.edges, known, self.weights)


def inputs(
    data: Data, config: ViewsConfig, counts: MotifCounts | None = None, memory: Memory | None = None
) -> ViewsInputs:
    """Compute the PageRank rows of every view, once, on all cores."""
    if memory is not None and config.features != "motifs":
        check_features(data, memory)
    if any(map(directed_neighbourhood, config.motifs)):
        raise ValueError(f"motifs {', '.join(config.motifs)}: views of directed motifs, not yet; use mcn")
    if counts is None:
        counts = count_motifs(data.edge_index, data.num_nodes)
    x, scaled = node_features(data, config.features, counts, memory)
    edges, weights = counts.adjacency("edge"), input_weights(data, memory)
    rows = view_rows(
        counts,
        config.motifs,
        order=config.walk_length,
        alpha=config.stop_probability,
        top=config.max_neighbours,
        scope=config.scope,
        symmetric=config.symmetric,
        tolerance=config.tolerance,
        edge_weights=weights,
    )
    held = sparse_features(feature_tensor(feature_csr(x)) if x.layout == torch.strided else x)
    return ViewsInputs(held, rows, config.motifs, x, (edges.indptr, edges.indices), scaled, weights)


def network(
    in_channels: int, num_classes: int, config: ViewsConfig, memory: Memory | None = None
) -> MotifViews:
    """Make an untrained network."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return MotifViews(
            in_channels,
            config.hidden,
            num_classes,
            config.num_layers,
            input_dropout=config.input_dropout,
            dropout=config.dropout,
            batch_norm=config.batch_norm,
            row_norm=config.row_norm,
            smooth=config.smooth_predictions,
        )


def trainer(problem: Problem, config: ViewsConfig) -> ViewsTrainer:
    """Start a training run with a fresh network."""
    return ViewsTrainer(network(problem.inputs.in_channels, problem.num_classes, config), problem, config)


def predict(model: MotifViews, inputs: ViewsInputs, task: Task) -> Predictions:
    """Predict all nodes by exact features: the mean over the views, no neighbour dropped."""
    none: NDArray[np.int64] = np.empty((inputs.rows.num_nodes, 0), np.int64)
    outputs = _outputs(model, inputs.x, inputs.rows, task)
    return Predictions(outputs, none, none, inputs.names, task=task)


@torch.no_grad()
def _outputs(model: MotifViews, x: SparseFeatures, rows: PageRankRows, task: Task) -> NDArray[np.float32]:
    training = model.training
    model.eval()
    found: NDArray[np.float32] = task.outputs_of(exact_scores(model, x, rows, task)).numpy()
    model.train(training)
    return found


def explain(model: MotifViews, inputs: ViewsInputs, task: Task) -> Explained:
    """Say what each node hears in each view, and what that view alone would predict."""
    shown = _options(model, inputs, task)
    return Explained("views", predict(model, inputs, task), 1, False, [], [], shown)


def _options(model: MotifViews, inputs: ViewsInputs, task: Task) -> Iterator[Option]:
    for view, name in enumerate(inputs.names):
        matrix = inputs.rows.matrix(view)
        matrix.sort_indices()
        rows = Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
        total = np.repeat(np.asarray(matrix.sum(1)).ravel(), np.diff(rows.indptr))
        shares = np.asarray(matrix.data / total, np.float32)
        alone = _outputs(model, inputs.x, inputs.rows.only(view), task)
        yield Option(name, 1, rows, [shares], alone)
