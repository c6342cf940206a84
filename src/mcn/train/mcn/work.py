"""What the recipes `mcn` and `paper` do: inputs, network, trainer, predictions, explanation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch

from mcn._composition import check_composition
from mcn.data.treatment import row_scaling
from mcn.matrices import MotifStack
from mcn.matrices.state import check_scale
from mcn.motifs import MotifCounts, count_motifs
from mcn.nn import MCN, Choices
from mcn.nn.features import FeatureRows
from mcn.nn.graph_rows import StackRows, StoreRows, store_features
from mcn.nn.layerwise import can_infer, infer
from mcn.store import GraphStore
from mcn.train.features import check_features, fitted_scale, node_features, scaling_of
from mcn.train.mcn.batches import BatchTrainer
from mcn.train.mcn.config import MCNConfig
from mcn.train.mcn.trainer import MCNTrainer
from mcn.train.predictions import Explained, Option, Predictions
from mcn.train.problem import Memory, Problem, graph_facts, input_weights, stack_counts
from mcn.train.tasks import Task

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class StackInputs:
    """What an `mcn.MCN` takes: features of all nodes, and the motif stack.

    scaled: what was done to the features, see `node_features`. weights: of the edges, see `input_weights`.
    """

    x: torch.Tensor
    stack: MotifStack
    scaled: dict[str, Any] = field(default_factory=dict)
    weights: Any = None

    @property
    def in_channels(self) -> int:
        """Number of input features."""
        return int(self.x.shape[1])

    @property
    def graph(self) -> StackRows:
        """The rows that batches are drawn from, to be asked for by node."""
        return StackRows(self.stack, edge_is_base=True)

    @property
    def features(self) -> FeatureRows:
        """The features, to be asked for by node."""
        return FeatureRows(self.x)

    def state(self) -> dict[str, Any]:
        """Return the scale of the motif counts and of the features, which other graphs are measured by."""
        weighted = {} if self.weights is None else {"weighted": True}
        return {"count_scale": self.stack.count_scale.tolist(), **self.scaled, **weighted}

    def facts(self) -> dict[str, Any]:
        """Return the sizes and check sums of the graph."""
        return graph_facts(self.x, self.stack.base.indptr, self.stack.base.indices, self.weights)


@dataclass(frozen=True, eq=False)
class StoreInputs:
    """What an `mcn.MCN` takes from a graph on disk, of which nothing is read that no batch asks for.

    scaled: what is done to the features.
    """

    store: GraphStore
    graph: StoreRows
    features: FeatureRows
    scaled: dict[str, Any]

    @property
    def in_channels(self) -> int:
        """Number of input features."""
        return self.features.shape[1]

    def state(self) -> dict[str, Any]:
        """Return the scale of the motif counts and of the features, which other graphs are measured by."""
        return {"count_scale": self.graph.count_scale.tolist(), **self.scaled}

    def facts(self) -> dict[str, Any]:
        """Return the sizes of the graph, and the check sums that the store states of its arrays."""
        sha256 = {name: entry.sha256 for name, entry in self.store.entries.items()}
        columns = hashlib.sha256(" ".join(sha256[name] for name in sorted(sha256) if name[0] == "x").encode())
        sizes = {"nodes": self.store.num_nodes, "edges": self.store.num_edges, "columns": self.in_channels}
        return {**sizes, "sha256": {"edges": sha256["indices"], "columns": columns.hexdigest()}}


def inputs(
    data: Data | GraphStore,
    config: MCNConfig,
    counts: MotifCounts | None = None,
    memory: Memory | None = None,
) -> StackInputs | StoreInputs:
    """Make the motif stack and the features that a configuration asks for; of a store, open them."""
    if isinstance(data, GraphStore):
        return store_inputs(data, config, memory)
    if memory is not None and config.features != "motifs":
        check_features(data, memory)
    if counts is None:
        counts = count_motifs(data.edge_index, data.num_nodes)
    weights = input_weights(data, memory)
    stack = MotifStack.from_counts(
        stack_counts(data, counts, config.motifs),
        config.motifs,
        config.steps,
        config.psi,
        scope=config.scope,
        add_edges=config.add_edges,
        # Batches make rows when they need them; stored ones would only take room.
        materialize=config.materialize and config.batch_size is None,
        count_scale=None if memory is None else memory.state.get("count_scale"),
        weights=weights,
    )
    x, scaled = node_features(data, config.features, counts, memory)
    return StackInputs(x, stack, scaled, weights)


def network(in_channels: int, num_classes: int, config: MCNConfig, memory: Memory | None = None) -> MCN:
    """Make an untrained network. A GCN drops out its inputs only, as in its reference."""
    if memory is not None:
        check_scale(memory.state.get("count_scale"))
    inner = config.dropout if config.self_attention else 0.0
    own: dict[str, Any] = {}
    if not config.sum_motifs:
        own = {
            "self_attention": config.self_attention,
            "motif_attention": config.motif_attention,
            "prior": config.psi_prior,
            "epsilon": config.epsilon,
            "policy_grad": config.policy_grad,
            "init_bias": config.init_bias,
        }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return MCN(
            in_channels,
            config.hidden,
            num_classes,
            config.num_layers,
            motifs=len(config.motifs),
            steps=config.steps,
            heads=config.heads,
            output_heads=config.output_heads,
            input_dropout=config.dropout,
            coefficient_dropout=inner,
            feature_dropout=inner,
            self_weights=config.self_weights,
            sum_motifs=config.sum_motifs,
            norm=config.norm,
            residual=config.residual,
            seed=config.seed,
            **own,
        )


def trainer(problem: Problem, config: MCNConfig) -> MCNTrainer:
    """Start a training run with a fresh network."""
    model = network(problem.inputs.in_channels, problem.num_classes, config)
    if config.class_priors == "validation":
        model.offset.copy_(problem.task.prior_shift(problem.train_labels, problem.val_labels))
    kind = MCNTrainer if config.batch_size is None else BatchTrainer
    return kind(model, problem, config)


@torch.no_grad()
def predict(model: MCN, inputs: StackInputs | StoreInputs, task: Task) -> Predictions:
    """Predict all nodes, with the most probable choices and no randomness."""
    if not isinstance(inputs, StackInputs) or (can_infer(model) and not inputs.stack.materialized):
        graph = inputs.graph
        logits, numbers = infer(model, inputs.features, graph)  # a few rows at a time: all may not fit
        motif, step = np.divmod(numbers.T, graph.steps)
        outputs = task.outputs_of(logits).cpu().numpy()
        return Predictions(outputs, motif, step + 1, graph.motifs, graph.steps, task=task)
    training = model.training
    model.eval()
    logits, choices = _scores(model, inputs)
    model.train(training)
    return _predictions(logits, choices, inputs.stack, task)


def _scores(model: MCN, inputs: StackInputs) -> tuple[torch.Tensor, list[Choices]]:
    """Compute the scores of all nodes and the choices of every layer; sums over motifs make none."""
    if model.convs[0].sums_motifs:
        return model(inputs.x, inputs.stack), []
    logits, choices = model(inputs.x, inputs.stack, return_choices=True)
    return logits, choices


def _predictions(logits: torch.Tensor, choices: list[Choices], stack: MotifStack, task: Task) -> Predictions:
    motif, step = np.empty((2, len(logits), len(choices)), np.int64)
    for layer, chosen in enumerate(choices):
        motif[:, layer], step[:, layer] = chosen.motif.cpu().numpy(), chosen.step.cpu().numpy()
    return Predictions(
        task.outputs_of(logits).cpu().numpy(),
        motif,
        step,
        tuple(stack.motifs),
        stack.steps,
        task=task,
    )


@torch.no_grad()
def explain(model: MCN, inputs: StackInputs, task: Task) -> Explained:
    """Say what each node chose, and what it would have been predicted as under every other choice.

    Where motifs are summed, an option is one of them, heard alone in the last layer.
    """
    model.eval()
    seen: list[Any] = []  # the input of every layer
    hooks = [conv.register_forward_pre_hook(lambda _, args: seen.append(args[0])) for conv in model.convs]
    try:
        logits, choices = _scores(model, inputs)
    finally:
        for hook in hooks:
            hook.remove()
    degrees: list[Any] = [each.rows.sums() for each in choices] or [None] * len(seen)
    layers = list(zip(model.convs, seen, degrees, strict=True))
    shown = layers if len(layers) == 1 else [layers[0], layers[-1]]
    return Explained(
        "choices" if choices else "sums",
        _predictions(logits, choices, inputs.stack, task),
        inputs.stack.steps,
        bool(model.convs[0].self_attention),
        [None if each.state is None else each.motif_probs.numpy() for each in choices],
        [None if each.state is None else each.step_probs.numpy() for each in choices],
        _options(model, shown, inputs.stack, task),
    )


@torch.no_grad()
def _options(
    model: MCN, shown: list[tuple[Any, Any, Any]], stack: MotifStack, task: Task
) -> Iterator[Option]:
    """Yield the options in order, with what the shown layers would make of each."""
    for number in range(stack.num_motifs * stack.steps):
        tried = [conv.what_if(h, stack, number, degrees) for conv, h, degrees in shown]
        coefficients = [chosen.coefficients.mean(1).numpy() for _, chosen in tried]
        alternative = task.outputs_of(tried[-1][0] + model.offset).numpy()
        motif, step = divmod(number, stack.steps)
        yield Option(stack.motifs[motif], step + 1, tried[-1][1].rows, coefficients, alternative)


def store_inputs(store: GraphStore, config: MCNConfig, memory: Memory | None = None) -> StoreInputs:
    """Open what a configuration asks for.

    Raises:
        ValueError: a setting needs the whole graph in memory.
    """
    check_composition(
        {
            "a packed graph": f"the packed graph {store.path}",
            "full batches": memory is None and config.batch_size is None and "batch_size none",
            "several steps": config.steps > 1 and f"steps {config.steps}",
            "pairs of nodes": config.scope != "edges" and f"scope {config.scope}",
            "added edges": config.add_edges and "add_edges true",
            "motif counts as features": config.features != "given" and f"features {config.features}",
        }
    )
    before = {} if memory is None else memory.state
    scaled = dict(before) if "scaling" in before else _fitted(store)
    scale = np.asarray(scaled["feature_scale"]) if scaled["scaling"] == "standard" else None
    features = store_features(store, "raw" if scale is not None else scaled["scaling"], scale)
    if memory is not None and features.shape[1] != memory.in_channels:
        raise ValueError(
            f"{store.path} has {features.shape[1]} features, but the network was trained on "
            f"{memory.in_channels}"
        )
    counts = None if memory is None else np.asarray(memory.state["count_scale"], np.float64)
    kept: dict[str, Any] = {name: scaled[name] for name in ("scaling", "feature_scale") if name in scaled}
    return StoreInputs(store, StoreRows(store, config.motifs, config.psi, counts), features, kept)


def _fitted(store: GraphStore) -> dict[str, Any]:
    """Say what is to be done to the features, as `node_features` does, by those of the training nodes."""
    from torch_geometric.data import Data

    assert store.train_mask is not None
    asked, train = store.about.get("scaling"), np.flatnonzero(store.train_mask)
    if store.x is None:
        if asked in ("raw", "rows", "unit") or store.x_indptr is None:
            return {"scaling": asked or "rows"}
        parts = (np.asarray(part) for part in (store.x_values, store.x_indices, store.x_indptr))
        whole: Any = sp.csr_array(tuple(parts), shape=(store.num_nodes, store.num_features))
        return {"scaling": row_scaling(whole[train], store.num_nodes)}
    seen = torch.from_numpy(np.array(store.x[train]))
    data = Data(x=seen, train_mask=torch.ones(len(seen), dtype=torch.bool), num_nodes=len(seen))
    data.scaling = asked
    scaling = scaling_of(data)
    if asked in (None, "auto") and scaling == "unit":  # which is about all nodes, not these
        scaling = row_scaling(seen.numpy(), store.num_nodes)
    return {"scaling": scaling} | ({"feature_scale": fitted_scale(data)} if scaling == "standard" else {})
