"""What a careful colleague would say of a graph before training, and of a result afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from mcn._names import spell_option
from mcn.data.checks import both_ways, direction_note, given_weights
from mcn.data.sparse import feature_csr
from mcn.train.features import features
from mcn.train.metrics import merit, shown
from mcn.train.problem import Known, Problem, class_names, known_labels
from mcn.train.tasks.task import Evidence

if TYPE_CHECKING:
    from torch_geometric.data import Data

_OVERFIT = 0.25
_COPIES, _BY_CHANCE = 0.02, 1e-6
_MOST, _TRIED = 20_000, 100
_FEW_TESTS = 10


@dataclass(frozen=True)
class SimpleScores:
    """What simple methods reach on the validation nodes by a metric, and by roc-auc beside it.

    guess: the best guess that is the same for all nodes, their most frequent class or their mean. features: a
    linear model of a node's own features. graph: labels of training nodes spread along edges, no features.
    None where a metric is not defined, and the last two for a graph that stays on disk.
    """

    metric: str
    guess: float | None
    features: float | None
    graph: float | None
    features_auc: float | None = None
    graph_auc: float | None = None


def simple_scores(data: Data, metric: str | None = None, known: Known | None = None) -> SimpleScores:
    """Measure what one guess for all nodes, the features alone and the graph alone give, in seconds.

    Test labels are out of reach: everything is fitted on training nodes and scored on validation nodes.
    """
    known = known_labels(data) if known is None else known
    task, truth = known.task, known.labels.numpy()[known.val]
    metric = task.usual if metric is None else metric

    # Training nodes are often as many of every class: their largest class would be any of them.
    guess = task.score(metric, np.tile(task.guess(truth), (len(truth), 1)), truth)
    if data.edge_index is None:
        return SimpleScores(metric, guess, None, None)
    by_features, by_graph = _by_features(data, known), _by_graph(data, known)[known.val]
    values = [task.score(metric, each, truth) for each in (by_features, by_graph)]
    if "roc-auc" in task.metrics:
        values += [task.score("roc-auc", each, truth) for each in (by_features, by_graph)]
    return SimpleScores(metric, guess, *values)


def _by_features(data: Data, known: Known) -> NDArray[np.float64]:
    """What a linear model on a node's own features says of the validation nodes; its strength suits them."""
    x: Any = feature_csr(features(data.x, "raw")).astype(np.float64)
    scale = abs(x[known.train]).max(axis=0).toarray().ravel() if x.shape[1] else np.ones(0)
    x = x @ sparse.diags_array(np.divide(1.0, scale, out=np.ones_like(scale), where=scale > 0))
    rows, targets, task = known.train, known.labels.numpy(), known.task
    if len(rows) > _MOST:  # enough to know what features say
        rows = rows[np.random.default_rng(0).permutation(len(rows))[:_MOST]]
    # A feature of ten times the size is one with a tenth of the penalty's square root on it.
    sizes = (0.3, 1.0, 3.0) if task.outputs <= _TRIED else (1.0,)
    found = [task.by_features(x[rows] * size, targets[rows], x[known.val] * size) for size in sizes]
    return min(found, key=lambda each: float(task.losses(each, targets[known.val]).mean()))


def _by_graph(data: Data, known: Known) -> NDArray[np.float64]:
    """What training nodes near a node say of it: their targets spread along edges, as weights have it."""
    from torch_geometric.nn import LabelPropagation

    task, targets = known.task, known.labels.numpy()[known.train]
    start = torch.zeros(data.num_nodes, task.outputs + 1, dtype=torch.float64)
    start[known.train, :-1] = torch.from_numpy(task.truth(targets))
    start[known.train, -1] = 1.0
    weights = given_weights(data)
    each = None if weights is None else weights[1].double()
    spread = LabelPropagation(30, 0.9)(
        start, both_ways(data), edge_weight=each, post_step=lambda values: values
    ).numpy()
    reached = spread[:, -1:] > 0
    guess = np.tile(task.guess(targets), (data.num_nodes, 1))
    return np.asarray(np.divide(spread[:, :-1], spread[:, -1:], out=guess, where=reached))


def graph_remarks(data: Data, known: Known | None = None) -> list[str]:
    """Say what is odd about a graph, its labels and its split; no label of a test node is looked at."""
    known = known_labels(data) if known is None else known
    names = class_names(data)
    tests = int(data.test_mask.sum())
    few = [f"the test figures rest on {tests} node{'s' * (tests > 1)}: chance decides them"]
    said = few if 0 < tests < _FEW_TESTS else []
    said += known.task.graph_remarks(data, known, lambda c: str(c) if names is None else names[c])
    return said if data.edge_index is None else [*said, *_direction(data), *_copies(data, known)]


def _direction(data: Data) -> list[str]:
    """Say what became of direction, where the graph has one or seems to."""
    if data.get("directed"):
        return [f"direction is used: the {data.num_edges:,} edges are arcs from source to target"]
    one_way = data.get("one_way")
    return [direction_note(one_way, spell_option("directed", True))] if one_way else []


def _copies(data: Data, known: Known) -> list[str]:
    """Nodes whose features are, to the last bit, those of a training node, where chance explains none."""
    x = feature_csr(data.x)
    if x.shape[1] < 8:  # few columns coincide by chance
        return []
    x.sort_indices()
    rare = _chance_of_row(x) * len(known.train) < _BY_CHANCE
    train = {_row(x, i) for i in known.train.tolist() if rare[i]}
    part = np.flatnonzero(~np.isin(np.arange(data.num_nodes), known.train))
    copies = sum(_row(x, i) in train for i in part.tolist() if rare[i])
    if copies < _COPIES * len(part):
        return []
    return [
        f"{copies:,} of {len(part):,} nodes outside the training part have exactly the features of a "
        "training node: near copies make a result look better than it will be on new nodes; if they are the "
        "same thing twice, keep one of each, or keep them together "
        f"({spell_option('split_by')})"
    ]


def _chance_of_row(x: Any) -> NDArray[np.float64]:
    """Return how likely a row would be if columns had their values independently of each other, [n]."""
    rows, columns = x.shape
    by_column = x.tocsc()
    logs = np.zeros(by_column.nnz)
    zeros = np.log(np.maximum(rows - np.diff(by_column.indptr), 1) / rows)
    for c in range(columns):
        own = slice(by_column.indptr[c], by_column.indptr[c + 1])
        _, which, counts = np.unique(by_column.data[own], return_inverse=True, return_counts=True)
        logs[own] = np.log(counts[which] / rows) - zeros[c]
    sums = np.bincount(by_column.indices, logs, minlength=rows) + zeros.sum()
    return np.asarray(np.exp(sums))


def _row(x: Any, i: int) -> tuple[bytes, bytes]:
    a, b = x.indptr[i], x.indptr[i + 1]
    return x.indices[a:b].tobytes(), x.data[a:b].tobytes()


def result_remarks(
    problem: Problem,
    outputs: NDArray[Any],
    summary: dict[str, Any],
    simple: SimpleScores,
    max_epochs: int | None,
    evidence: Evidence,
    names: list[str],
) -> list[str]:
    """Say what is off with a result, by its predictions, scores and epochs, and by held-out nodes."""
    task, known = problem.task, problem.known
    said = task.result_remarks(outputs, known, evidence, names)
    val, train = (summary["scores"][part] for part in ("val", "train"))
    error, usual = evidence.error, task.usual
    noise = 3 * error if usual == "accuracy" else 0.0  # that of other tasks is of losses, not of the metric
    if (train[usual] or 0) - (val[usual] or 0) > max(_OVERFIT, noise):
        own, other = (shown(usual, part[usual]) for part in (train, val))
        said.append(
            f"overfitted: {usual} is {own} on training nodes and {other} on validation nodes, and new nodes "
            "will be like the latter; more labels, dropout or L2 may help"
        )
    runs = summary.get("candidate_runs")
    # The epochs of candidates are counted through in the summary; each has the limit to itself.
    longest = summary["epochs"] if runs is None else max(int(run["epochs"]) for run in runs)
    if max_epochs is not None and longest >= max_epochs:
        said.append(f"stopped at the limit of {max_epochs} epochs, not because nothing improved any more")
    choosing = summary.get("choosing", {"blend": {}, "winner": ""})
    cut = [run["candidate"] for run in runs or () if run["cut"] and not run["round"]]
    early = [name for name in cut if name in (choosing["blend"] or [choosing["winner"]])]
    if early:
        said.append(f"the budget ended the training of {', '.join(early)} early; more minutes may help")
    if val[simple.metric] is not None:
        said += _no_better_than_half(val, simple, error, evidence.auc_error)
    return said


def _no_better_than_half(
    val: dict[str, Any], simple: SimpleScores, error: float, area_error: float
) -> list[str]:
    """Say where the features alone, or the graph alone, do as well within the error, by roc-auc too."""
    said, metric = [], simple.metric
    linear, spreading = "a linear model on the features", "spreading labels along edges"
    smaller, other_columns = "an mlp on the features would do", "other columns may help"
    for half, other, how, score_of_half, area, instead in (
        ("features", "graph adds", linear, simple.features, simple.features_auc, smaller),
        ("graph", "features add", spreading, simple.graph, simple.graph_auc, other_columns),
    ):
        own, alone = merit(metric, val[metric]), merit(metric, score_of_half)
        if own is None or alone is None or own - alone > error:
            continue
        if area is not None and val.get("roc-auc") is not None and val["roc-auc"] - area > area_error:
            continue
        said.append(
            f"the {other} nothing measurable to the {half}: {metric} on validation nodes is "
            f"{shown(metric, val[metric])}, and {how} alone reaches {shown(metric, score_of_half)} "
            f"(standard error {shown(metric, error)}); {instead}"
        )
    return said
