"""What a careful colleague would say of a graph before training, and of a result afterwards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse, stats
from torch_geometric.data import Data

from mcn.data.checks import given_weights
from mcn.data.sparse import feature_csr
from mcn.train.features import features
from mcn.train.metrics import ranking, score, shown
from mcn.train.problem import Known, class_names, known_labels

_FEW_TRAIN, _FEW_VAL = 5, 5
_OVERFIT = 0.25
_LOW_HOMOPHILY = 0.2
_COPIES, _BY_CHANCE = 0.02, 1e-6
_MOST = 20_000
GUESSING = 0.05
"""Of graphs without anything to learn, the share whose results may still be called better than guessing."""


@dataclass(frozen=True)
class SimpleScores:
    """What simple methods reach on the validation nodes by a metric, and by roc-auc beside it.

    guess: the best guess that is the same for all nodes, their most frequent class. features: logistic
    regression on a node's own features. graph: labels of training nodes spread along edges, no features.
    None where a metric is not defined, and the last two for a graph that stays on disk.
    """

    metric: str
    guess: float | None
    features: float | None
    graph: float | None
    features_auc: float | None = None
    graph_auc: float | None = None


def simple_scores(data: Data, metric: str = "accuracy", known: Known | None = None) -> SimpleScores:
    """Measure what the largest class, the features alone and the graph alone give, in seconds.

    Test labels are out of reach: everything is fitted on training nodes and scored on validation nodes.
    """
    known = known_labels(data) if known is None else known
    labels = known.labels.numpy()
    y, truth = labels[known.train], labels[known.val]
    # Training nodes are often as many of every class: their largest class would be any of them.
    shares = np.bincount(truth, minlength=known.num_classes) / len(truth)

    def judged(scores: NDArray[Any]) -> float | None:
        return score(metric, scores, truth)

    guess = judged(np.tile(shares, (len(truth), 1)))
    if data.edge_index is None:
        return SimpleScores(metric, guess, None, None)
    by_features, by_graph = _by_features(data, known, y), _by_graph(data, known, y)[known.val]
    areas = score("roc-auc", by_features, truth), score("roc-auc", by_graph, truth)
    return SimpleScores(metric, guess, judged(by_features), judged(by_graph), *areas)


@dataclass(frozen=True)
class HeldOutEvidence:
    """How predictions of held-out nodes compare with the best guess that is the same for all nodes.

    accuracy, guess: the share of nodes that is right, by the network and by the guess; lead_error: the error
    of that difference. auc, auc_error: roc-auc. ranks: whether it is above chance; above_guess: whether that
    or the difference is, by one-sided tests that allow for how many networks were tried.
    """

    accuracy: float
    guess: float
    lead_error: float
    auc: float | None
    auc_error: float
    ranks: bool
    above_guess: bool


def held_out_evidence(probabilities: NDArray[Any], labels: NDArray[Any], tried: int) -> HeldOutEvidence:
    """Judge what `tried` networks, or the best of them, say of nodes that chose nothing about them.

    Of graphs without anything to learn, one in twenty (`GUESSING`) is found above guessing at most.
    """
    count = len(labels)
    right, most = probabilities.argmax(1) == labels, int(np.bincount(labels).argmax())
    lead = right.astype(np.float64) - (labels == most)
    error = float(lead.std(ddof=1)) / math.sqrt(count) if count > 1 else 0.0
    area, area_error = ranking(probabilities, labels)
    level = 1 - GUESSING / (2 * tried)  # two measures, each of so many networks
    sizes = np.unique(labels, return_counts=True)[1]
    at_chance = float(np.mean(np.sqrt((count + 1) / (12.0 * sizes * np.maximum(count - sizes, 1)))))
    ranks = area is not None and area - 0.5 > stats.norm.ppf(level) * at_chance
    leads = count > 1 and lead.mean() > stats.t.ppf(level, count - 1) * error
    guess, above = float((labels == most).mean()), bool(ranks or leads)
    return HeldOutEvidence(float(right.mean()), guess, error, area, area_error, bool(ranks), above)


def _by_features(data: Data, known: Known, y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Class probabilities of the validation nodes by logistic regression, its strength chosen on them."""
    from sklearn.linear_model import LogisticRegression

    x: Any = feature_csr(features(data.x, "raw")).astype(np.float64)
    scale = abs(x[known.train]).max(axis=0).toarray().ravel() if x.shape[1] else np.ones(0)
    x = x @ sparse.diags_array(np.divide(1.0, scale, out=np.ones_like(scale), where=scale > 0))
    rows = known.train
    if len(rows) > _MOST:  # enough to know what features say
        some = np.random.default_rng(0).permutation(len(rows))[:_MOST]
        rows, y = rows[some], y[some]
    found = np.zeros((len(known.val), known.num_classes))
    if len(np.unique(y)) < 2:
        found[:, y[0]] = 1.0
        return found
    best, chosen = -math.inf, found
    for strength in (0.1, 1.0, 10.0):
        model = LogisticRegression(C=strength, max_iter=200, tol=1e-3).fit(x[rows], y)
        p = np.zeros_like(found)
        p[:, model.classes_] = model.predict_proba(x[known.val])
        accuracy = score("accuracy", p, known.labels.numpy()[known.val]) or 0.0
        if accuracy > best:
            best, chosen = accuracy, p
    return chosen


def _by_graph(data: Data, known: Known, y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Class scores of all nodes: labels spread along edges, ``F ← 0.9 D^-1/2 A D^-1/2 F + 0.1 Y``.

    With edge weights, A has them.
    """
    from torch_geometric.nn import LabelPropagation

    start = torch.zeros(data.num_nodes, known.num_classes, dtype=torch.float64)
    start[known.train, y] = 1.0
    weights = given_weights(data)
    each = None if weights is None else weights[1].double()
    spread: NDArray[np.float64] = LabelPropagation(30, 0.9)(start, data.edge_index, edge_weight=each).numpy()
    empty = spread.sum(1) == 0
    spread[empty] = np.bincount(y, minlength=known.num_classes) / len(y)
    return np.asarray(spread / spread.sum(1, keepdims=True))


def homophily(edge_index: NDArray[np.int64], labels: NDArray[np.int64]) -> tuple[float, float] | None:
    """Return the share of edges between nodes of one class, and the same adjusted for chance.

    The adjusted one is 0 where edges ignore classes and 1 where they never leave one (Platonov et al. 2023).
    Edges with an end of unknown class (-1) are left out; None if none remain, or with a single class.

    >>> edges = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    >>> share, adjusted = homophily(edges, np.array([0, 0, 1, 1]))
    >>> round(share, 3), round(adjusted, 3)
    (0.667, 0.333)
    """
    ends = labels[edge_index]
    ends = ends[:, (ends >= 0).all(0)]
    if not ends.size:
        return None
    same = float((ends[0] == ends[1]).mean())
    expected = float(((np.bincount(ends.ravel()) / ends.size) ** 2).sum())
    return None if expected >= 1.0 else (same, (same - expected) / (1.0 - expected))


def graph_remarks(data: Data, known: Known | None = None) -> list[str]:
    """Say what is odd about a graph, its labels and its split; no label of a test node is looked at."""
    known = known_labels(data) if known is None else known
    said = _few_nodes(data, known)
    return said if data.edge_index is None else [*said, *_unlike(data, known), *_copies(data, known)]


def _name(data: Data, label: int) -> str:
    names = class_names(data)
    return str(label) if names is None else names[label]


def _few_nodes(data: Data, known: Known) -> list[str]:
    labels, said = known.labels.numpy(), []
    for part, nodes, least in (("training", known.train, _FEW_TRAIN), ("validation", known.val, _FEW_VAL)):
        sizes = np.bincount(labels[nodes], minlength=known.num_classes)
        few = [f"{_name(data, c)} ({sizes[c]})" for c in np.flatnonzero(sizes < least).tolist()]
        if few:
            more = f" and {len(few) - 5} more" if len(few) > 5 else ""
            said.append(
                f"classes with few {part} nodes: {', '.join(few[:5])}{more}; their scores mean little"
            )
    return said


def _unlike(data: Data, known: Known) -> list[str]:
    found = homophily(data.edge_index.numpy(), known.labels.numpy())
    if found is None or found[1] >= _LOW_HOMOPHILY:
        return []
    how = "more often than not" if found[0] < 0.5 else "nearly as often as by chance"
    return [
        f"edges join nodes of different classes {how} (homophily {found[0]:.2f}, adjusted for chance "
        f"{found[1]:.2f}, among nodes whose class is known): neighbours may mislead"
    ]


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
        "same thing twice, keep one of each, or keep them together (--split-by)"
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
    data: Data,
    predicted: NDArray[np.int64],
    summary: dict[str, Any],
    simple: SimpleScores,
    max_epochs: int | None,
    held_out: HeldOutEvidence,
) -> list[str]:
    """Say what is off with a result, by its classes, scores and epochs, and by `held_out` nodes."""
    said: list[str] = []
    metric = simple.metric
    val, train = summary["scores"]["val"], summary["scores"]["train"]
    error = math.sqrt(max(val["accuracy"] * (1 - val["accuracy"]), 1e-4) / int(data.val_mask.sum()))
    classes = np.unique(predicted)
    area = f"ROC-AUC {shown('roc-auc', held_out.auc)} ± {100 * held_out.auc_error:.1f}"
    if not held_out.above_guess:
        said.append(
            f"no better than guessing: of held-out nodes {held_out.accuracy:.1%} are right, always the most "
            f"frequent class {held_out.guess:.1%}, {area} (chance is 50%); more labels or other features are "
            "needed"
        )
    elif len(classes) == 1 and held_out.ranks:
        said.append(
            f"every node is predicted as {_name(data, int(classes[0]))}, but the ranking is good ({area} "
            "on held-out nodes): use the probabilities, or the threshold in summary.json"
        )
    trained_on = np.unique(data.y.numpy()[data.train_mask.numpy()])
    never = np.setdiff1d(trained_on, classes).tolist()
    if never and len(classes) > 1:
        said.append(f"never predicted: {', '.join(_name(data, c) for c in never[:5])}")
    if train["accuracy"] - val["accuracy"] > max(_OVERFIT, 3 * error):
        said.append(
            f"far better on training nodes ({train['accuracy']:.1%}) than on validation nodes "
            f"({val['accuracy']:.1%}): more dropout, L2 or labels may help"
        )
    runs = summary.get("candidate_runs")
    # The epochs of candidates are counted through in the summary; each has the limit to itself.
    longest = summary["epochs"] if runs is None else max(int(run["epochs"]) for run in runs)
    if max_epochs is not None and longest >= max_epochs:
        said.append(f"stopped at the limit of {max_epochs} epochs, not because nothing improved any more")
    cut = list(dict.fromkeys(run["candidate"] for run in runs or () if run["cut"]))
    if cut:
        said.append(f"the budget of time ended the training of {', '.join(cut)} early; more minutes may help")
    if val[metric] is not None:
        said += _no_better_than_half(metric, val, simple, (error, held_out.auc_error))
    return said


def _no_better_than_half(
    metric: str, val: dict[str, Any], simple: SimpleScores, errors: tuple[float, float]
) -> list[str]:
    """Say where the features alone, or the graph alone, do as well within the error, by roc-auc too."""
    said = []
    regression, spreading = "logistic regression on the features", "spreading labels along edges"
    smaller, other_columns = "an mlp on the features would do", "other columns may help"
    for half, other, how, score_of_half, area, instead in (
        ("features", "graph adds", regression, simple.features, simple.features_auc, smaller),
        ("graph", "features add", spreading, simple.graph, simple.graph_auc, other_columns),
    ):
        if score_of_half is None or _above(metric, val[metric], score_of_half) > errors[0]:
            continue
        if area is not None and val["roc-auc"] is not None and val["roc-auc"] - area > errors[1]:
            continue
        said.append(
            f"the {other} nothing measurable to the {half}: {metric} on validation nodes is "
            f"{shown(metric, val[metric])}, and {how} alone reaches {shown(metric, score_of_half)} "
            f"(standard error {100 * errors[0]:.1f} points); {instead}"
        )
    return said


def _above(metric: str, own: float, other: float) -> float:
    return other - own if metric == "log-loss" else own - other
