"""What a careful colleague would say of a graph before training, and of a result afterwards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.checks import given_weights
from mcn.data.sparse import feature_csr
from mcn.train.features import features
from mcn.train.metrics import score, shown
from mcn.train.problem import Known, class_names, known_labels

_FEW_TRAIN, _FEW_VAL = 5, 5
_OVERFIT = 0.25
_LOW_HOMOPHILY = 0.2
_COPIES = 0.02
_MOST = 20_000


@dataclass(frozen=True)
class SimpleScores:
    """What simple methods reach on the validation nodes by a metric.

    guess: always the most frequent training class. features: logistic regression on a node's own features.
    graph: labels of training nodes spread along edges, no features. None where a metric is not defined, and
    the last two for a graph that stays on disk.
    """

    metric: str
    guess: float | None
    features: float | None
    graph: float | None


def simple_scores(data: Data, metric: str = "accuracy", known: Known | None = None) -> SimpleScores:
    """Measure what the largest class, the features alone and the graph alone give, in seconds.

    Test labels are out of reach: everything is fitted on training nodes and scored on validation nodes.
    """
    known = known_labels(data) if known is None else known
    labels = known.labels.numpy()
    y, truth = labels[known.train], labels[known.val]
    shares = np.bincount(y, minlength=known.num_classes) / len(y)

    def judged(scores: NDArray[Any]) -> float | None:
        return score(metric, scores, truth)

    guess = judged(np.tile(shares, (len(truth), 1)))
    if data.edge_index is None:
        return SimpleScores(metric, guess, None, None)
    return SimpleScores(
        metric,
        guess,
        judged(_by_features(data, known, y)),
        judged(_by_graph(data, known, y)[known.val]),
    )


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
    """Nodes whose features are, to the last bit, those of a training node."""
    x = feature_csr(data.x)
    if x.shape[1] < 8:  # few columns coincide by chance
        return []
    x.sort_indices()
    train = {_row(x, i) for i in known.train.tolist() if x.indptr[i + 1] - x.indptr[i] > 2}
    part = np.flatnonzero(~np.isin(np.arange(data.num_nodes), known.train))
    copies = sum(_row(x, i) in train for i in part.tolist())
    if copies < _COPIES * len(part):
        return []
    return [
        f"{copies:,} of {len(part):,} nodes outside the training part have exactly the features of a "
        "training node: near copies make a result look better than it will be on new nodes"
    ]


def _row(x: Any, i: int) -> tuple[bytes, bytes]:
    a, b = x.indptr[i], x.indptr[i + 1]
    return x.indices[a:b].tobytes(), x.data[a:b].tobytes()


def result_remarks(
    data: Data,
    predicted: NDArray[np.int64],
    summary: dict[str, Any],
    simple: SimpleScores,
    max_epochs: int | None,
) -> list[str]:
    """Say what is off with a result: the predicted classes, the scores and epochs in a run's summary."""
    said: list[str] = []
    metric = simple.metric
    val, train = summary["scores"]["val"], summary["scores"]["train"]
    error = math.sqrt(max(val["accuracy"] * (1 - val["accuracy"]), 1e-4) / int(data.val_mask.sum()))
    classes = np.unique(predicted)
    if len(classes) == 1:
        said.append(
            f"every node is predicted as {_name(data, int(classes[0]))}: the network has learned nothing but "
            "the largest class; try class weights (balanced), another metric, or other features"
        )
    elif simple.guess is not None and _above(metric, val[metric], simple.guess) <= error:
        said.append(
            f"no better than guessing: {metric} {shown(metric, val[metric])} on validation nodes, always "
            f"the most frequent class {shown(metric, simple.guess)}"
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
        said += _no_better_than_half(metric, val[metric], simple, error)
    return said


def _no_better_than_half(metric: str, value: float, simple: SimpleScores, error: float) -> list[str]:
    """Say where the features alone, or the graph alone, do as well within the error."""
    said = []
    for half, other, how, score_of_half in (
        ("features", "graph adds", "logistic regression on the features", simple.features),
        ("graph", "features add", "spreading labels along edges", simple.graph),
    ):
        if score_of_half is not None and _above(metric, value, score_of_half) <= error:
            said.append(
                f"the {other} nothing measurable to the {half}: {metric} on validation nodes is "
                f"{shown(metric, value)}, and {how} alone reaches {shown(metric, score_of_half)} "
                f"(standard error {100 * error:.1f} points)"
            )
    return said


def _above(metric: str, own: float, other: float) -> float:
    return other - own if metric == "log-loss" else own - other
