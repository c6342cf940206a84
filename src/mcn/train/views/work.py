"""What the recipe `views` does: inputs, network, trainer, predictions, explanation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn._composition import check_composition
from mcn.data.sparse import feature_csr, feature_tensor
from mcn.matrices import PageRankRows, Rows, view_rows
from mcn.motifs import MotifCounts, count_motifs
from mcn.motifs.neighbourhoods import directed_neighbourhood
from mcn.nn import MotifViews, exact_features, mix_features, ops
from mcn.nn._rng import derive
from mcn.nn.features import SparseFeatures, sparse_features
from mcn.train.features import check_features, node_features
from mcn.train.loop import Scores, Trainer
from mcn.train.losses import MeanWeights, agreement_loss
from mcn.train.predictions import Explained, Option, Predictions
from mcn.train.problem import Memory, Problem, graph_facts, input_weights
from mcn.train.processes import host
from mcn.train.tasks import Task
from mcn.train.views.config import ViewsConfig

_ROWS = 1024  # nodes whose mixed features are held at a time when all are predicted

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

    def facts(self) -> dict[str, Any]:
        """Return the sizes and check sums of the graph."""
        return graph_facts(self.features, *self.edges, self.weights)


def inputs(
    data: Data, config: ViewsConfig, counts: MotifCounts | None = None, memory: Memory | None = None
) -> ViewsInputs:
    """Compute the PageRank rows of every view, once, on all cores."""
    if memory is not None and config.features != "motifs":
        check_features(data, memory)
    arcs = [motif for motif in config.motifs if directed_neighbourhood(motif)]
    directed = f"direction (motifs {', '.join(arcs)})" if arcs else ""
    check_composition({"direction": directed, "motif views": "the recipe views"})
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


@dataclass
class ViewsTrainer(Trainer):
    """Training of an `mcn.nn.MotifViews`; an epoch is `config.steps_per_epoch` steps.

    A step draws labelled and unlabelled nodes (all nodes if `config.full_batch`) and `config.passes` views of
    each (a motif at random, some of the neighbours dropped). Its loss is the cross-entropy of the labelled
    ones plus, with a weight that rises over `config.consistency_ramp` steps, how far the views of each
    unlabelled node are from their sharpened mean (`mcn.train.losses.agreement_loss`). The running mean of the
    weights is what is validated and kept.
    """

    model: MotifViews
    config: ViewsConfig

    def __post_init__(self) -> None:
        super().__post_init__()
        self.x: SparseFeatures = self.problem.inputs.x
        self.rows: PageRankRows = self.problem.inputs.rows
        self._mean = MeanWeights(self.model)
        weights = self.problem.class_weights(self.config.class_weight)
        self._class_weights = None if weights is None else weights.to(self.device)
        self._others = np.setdiff1d(np.arange(self.rows.num_nodes), self.problem.train)
        self._val_features: torch.Tensor | None = None
        if not self.config.smooth_predictions:
            self._val_features = exact_features(self.rows, self.x, self.problem.val).to(self.device)

    def _learn(self) -> tuple[float, float]:
        count = self.config.steps_per_epoch
        steps = host(torch.stack([self._step(self.epoch * count + i) for i in range(count)]))
        for value, _ in steps:
            self._check(value)
        loss, right = np.mean(steps, axis=0)
        return float(loss), float(right)

    def _step(self, number: int) -> torch.Tensor:
        """Change the weights once; the loss and accuracy on the labelled nodes."""
        c = self.config
        labelled, known, unknown = self._all_nodes(number) if c.full_batch else self._some_nodes(number)
        target = self.problem.labels[torch.from_numpy(labelled)].to(self.device)
        task, repeated = self.problem.task, target.repeat(c.passes, *[1] * (target.dim() - 1))
        loss = task.loss(known.flatten(0, 1), repeated, self._class_weights)
        value = loss.detach()
        weight = c.consistency * min(1.0, number / max(1, c.consistency_ramp))
        if weight > 0 and unknown.shape[1]:
            loss = loss + weight * agreement_loss(task, list(unknown), c.temperature, c.min_confidence)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if c.clip_gradient:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), c.clip_gradient)
        self.optimizer.step()
        self._mean.update(1.0 - self.config.ema_decay)
        return torch.stack([value, task.right(known[0].detach(), target).to(value.dtype).mean()])

    def _some_nodes(self, number: int) -> tuple[NDArray[np.int64], torch.Tensor, torch.Tensor]:
        """Return some labelled nodes, the logits [passes, B, C] of their views, and those of other nodes."""
        c = self.config
        draw, key = np.random.default_rng([c.seed, number]), derive(c.seed, number)
        labelled = _some(draw, self.problem.train, c.labelled_batch)
        others = _some(draw, self._others, c.unlabelled_batch)
        nodes = np.tile(np.concatenate([labelled, others]), c.passes)
        mixed = mix_features(
            self.rows,
            self.x,
            nodes,
            draw.integers(0, self.rows.num_views, len(nodes)),
            drop_neighbours=c.drop_neighbours,
            dropout=self.model.mixes_dropout,
            key=derive(key, 0),
        )
        logits = self.model(mixed.to(self.device), derive(key, 1)).view(
            c.passes, -1, self.problem.num_classes
        )
        return labelled, logits[:, : len(labelled)], logits[:, len(labelled) :]

    def _all_nodes(self, number: int) -> tuple[NDArray[np.int64], torch.Tensor, torch.Tensor]:
        """Do the same for all nodes at once.

        A dropped node is dropped for everyone who hears it; the others are scaled up to make up for it.
        """
        c, count = self.config, self.rows.num_nodes
        draw, key = np.random.default_rng([c.seed, number]), derive(c.seed, number)
        passes = []
        for i in range(c.passes):
            views = draw.integers(0, self.rows.num_views, count)
            heard = draw.random((count, 1), np.float32) >= c.drop_neighbours
            kept = torch.from_numpy(heard.astype(np.float32) / np.float32(1.0 - c.drop_neighbours))
            keep = kept.to(self.device)
            passes.append(self.model.whole(self.x, self.rows.select(views), keep, derive(key, i)))
        logits, train = torch.stack(passes), self.problem.train
        return train, logits[:, train], logits[:, self._others]

    @torch.no_grad()
    def _validate(self) -> Scores:
        with self._mean.in_place():
            return self.final_scores()

    @torch.no_grad()
    def final_scores(self) -> Scores:
        """Score the weights that the model has now on the validation nodes."""
        if self._val_features is not None:
            return self._judge(self.model(self._val_features))
        scores = exact_scores(self.model, self.x, self.rows, self.problem.task)
        return self._judge(scores[self.problem.val])

    def _snapshot(self) -> dict[str, torch.Tensor]:
        return self._mean.copy()

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors of the run, the running mean of the weights among them."""
        return super().tensors() | self._mean.tensors()

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        super().load(tensors, state)
        self._mean.load(tensors)


def exact_scores(model: MotifViews, x: SparseFeatures, rows: PageRankRows, task: Task) -> torch.Tensor:
    """What the network says of all nodes, nothing dropped; with `model.smooth` averaged over neighbours."""
    if model.linear_first:
        logits = model.whole(x, rows.mean)
    else:
        parts = np.array_split(np.arange(rows.num_nodes), max(1, -(-rows.num_nodes // _ROWS)))
        device = next(model.parameters()).device
        logits = torch.cat([model(exact_features(rows, x, part).to(device)) for part in parts])
    if not model.smooth:
        return logits
    return task.scores_of(ops.propagate(task.outputs_of(logits), rows.mean))


def _some(draw: np.random.Generator, nodes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """`count` different nodes at random; all of them if there are no more."""
    return draw.choice(nodes, count, replace=False) if count < len(nodes) else nodes
