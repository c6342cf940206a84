"""Why a trained network says what it says of every node, and what else it could have said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.data import simple_graph
from mcn.train.predictions import Option, in_classes
from mcn.train.run import Run
from mcn.train.tasks.task import Displayed

PARTS = ("none", "train", "val", "test")
_KEPT = 30  # entries per row; a picture of more helps nobody
_NETWORKS = {"choices": "MCN", "sums": "a sum over motifs", "views": "MotifViews", "trees": "boosted trees"}
"""The network of a run without candidates, by the kind of its explanation."""


@dataclass(frozen=True)
class Predictor:
    """The network, or the networks, that predict.

    mode: "network" where only one was trained. Where candidates were: "one" if one of them predicts all
    nodes, "blend" if all nodes have the same blend of several.
    shares: the networks by name, the largest share of the blend first; 1 for a single one.
    """

    mode: str
    shares: dict[str, float]

    @property
    def sentence(self) -> str:
        """Say what predicts."""
        if self.mode == "blend":
            parts = ", ".join(f"{100 * share:.0f} % {name}" for name, share in self.shares.items())
            return f"A blend of {len(self.shares)} candidates predicts, their weighted mean: {parts}."
        return f"All nodes are predicted by {next(iter(self.shares))}."


@dataclass(frozen=True)
class Neighbourhood:
    """Rows of Ψ(A_t^k) for all nodes, the node itself included, heaviest entries first.

    indptr, indices: CSR over all nodes. weights: the entries of Ψ(A_t^k).
    coefficients: one array per layer: what the layer would multiply each neighbour by, mean over heads.
    total: how long each row was before only its heaviest entries were kept.
    members: bool [M, 2], per edge (u, v) of the graph: whether v is in u's whole row, and u in v's.
    """

    motif: str
    step: int
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]
    coefficients: list[NDArray[np.float32]]
    total: NDArray[np.int64]
    members: NDArray[np.bool_]

    def row(self, node: int) -> slice:
        """Where the entries of a node are."""
        return slice(int(self.indptr[node]), int(self.indptr[node + 1]))

    def keep(self, most: int) -> Neighbourhood:
        """At most `most` entries per row."""
        return self._only(
            np.arange(len(self.indices)) - np.repeat(self.indptr[:-1], np.diff(self.indptr)) < most
        )

    def part(self, nodes: NDArray[np.int64], edges: NDArray[np.bool_]) -> Neighbourhood:
        """The rows of some nodes, ascending, and in them only these nodes; `edges`: those in between."""
        number = numbers_within(nodes, len(self.total))
        row = np.repeat(number, np.diff(self.indptr))
        kept = self._only((row >= 0) & (number[self.indices] >= 0))
        return replace(
            kept,
            indptr=np.append(0, kept.indptr[nodes + 1]),
            indices=number[kept.indices].astype(np.int32),
            total=self.total[nodes],
            members=self.members[edges],
        )

    def _only(self, kept: NDArray[np.bool_]) -> Neighbourhood:
        """Leave out entries."""
        return replace(
            self,
            indptr=np.append(0, np.cumsum(kept))[self.indptr],
            indices=self.indices[kept],
            weights=self.weights[kept],
            coefficients=[values[kept] for values in self.coefficients],
        )


@dataclass(frozen=True)
class Explanation:
    """A run and its graph, node by node (N nodes, L choices per node, T motifs, K steps, C classes).

    kind: "choices" for an `mcn.MCN`, whose nodes choose a motif and a step in each of L layers. "candidates"
    where an option is a network of its own: L is 0. "views" for a network that averages over motif views: L
    is 0, an option is a view (the rows that mix the features).
    "trees" for boosted trees: L is 0, an option is a motif whose neighbours' values they know. "sums" for a
    network that sums over motifs: L is 0, an option is a motif, heard alone in the last layer.
    predictor: what predicts.
    ids: what the data calls the nodes, or their numbers. edges: int64 [M, 2], u < v.
    classes: names of what is shown. truth, predicted: class numbers, truth is -1 where unknown.
    shown: all that is shown of predictions and, after them, of alternatives. split: numbers into `PARTS`.
    details: by part, `Task.details` of labelled nodes. probabilities: [N, C]; of a numeric target the number.
    motif, step: the choices, [N, L], 0-based motif and 1-based step.
    motif_probs [L, N, T], step_probs [L, N, K]: the selectors f and f' (eq:state); None in a layer without.
    motifs: names of the motifs; of the candidates or views where these are the options.
    options: the neighbourhood of every motif and step, in the order t·K + (k-1), with the coefficients that
    the first and the last layer would give it.
    alternatives: [T·K, N, C], the prediction for a node if it alone chose this motif and step in the last
    layer and everything else stayed as it is; of a candidate or view, its own prediction.
    """

    kind: str
    predictor: Predictor
    ids: list[str]
    classes: list[str]
    motifs: tuple[str, ...]
    steps: int
    self_attention: bool
    edges: NDArray[np.int64]
    truth: NDArray[np.int64]
    predicted: NDArray[np.int64]
    shown: Displayed
    split: NDArray[np.int64]
    details: dict[str, dict[str, Any]]
    probabilities: NDArray[np.float32]
    motif: NDArray[np.int64]
    step: NDArray[np.int64]
    motif_probs: list[NDArray[np.float32] | None]
    step_probs: list[NDArray[np.float32] | None]
    options: list[Neighbourhood]
    alternatives: NDArray[np.float32]

    @property
    def chosen(self) -> NDArray[np.int64]:
        """The number of the option that each node chose, [N, L]."""
        return np.asarray(self.motif * self.steps + self.step - 1)

    @property
    def num_nodes(self) -> int:
        """N."""
        return len(self.truth)

    @property
    def degree(self) -> NDArray[np.int64]:
        """How many neighbours each node has."""
        return np.bincount(self.edges.ravel(), minlength=self.num_nodes)


def explain(run: Run, data: Data, keep: int = _KEPT, target: str | None = None) -> Explanation:
    """Explain the predictions of a finished run for the nodes of a graph.

    Args:
        run: read with `mcn.train.Run.load`, or just trained; what it prepared of `data` is used again.
        data: the run's graph, or another one with the same features.
        keep: how many neighbours of each motif and step to hold per node, the heaviest ones.
        target: of several yes/no targets the one to show; the first by default.

    Raises:
        ValueError: the graph's features are not those the network was trained on; there is no such target.
    """
    if keep < 1:
        raise ValueError(f"keep must be at least 1, got {keep}")
    edges = np.asarray(simple_graph(data.edge_index, data.num_nodes).pairs, np.int64)
    explained = run.explain(data)
    predictions, ids = explained.predictions, getattr(data, "node_ids", None)
    predictor = _predictor(explained.kind, run.summary)
    options, alternatives = [], []
    for option in explained.options:  # one at a time: together they may be large
        options.append(_neighbourhood(option, edges).keep(keep))
        alternatives.append(option.alternative)
    several = explained.kind == "candidates"
    choices = predictions.motif.shape[1]
    task, split, outputs = run.task, _split(data), np.stack([predictions.probabilities, *alternatives])
    targets = task.unknown(len(split)) if data.y is None else in_classes(data, run.classes).y.numpy()
    shown = task.displayed(outputs, targets, run.classes, split == PARTS.index("train"), target)
    if target not in (None, shown.target):
        there = f"{task.title.format(len(run.classes), run.classes[0])}: {', '.join(run.classes[:20])}"
        raise ValueError(f"no target {target!r} to show; the run predicts {there}")
    return Explanation(
        kind=explained.kind,
        predictor=predictor,
        ids=list(map(str, range(len(split)) if ids is None else ids)),
        classes=list(shown.classes),
        motifs=tuple(option.motif for option in options) if several else predictions.motifs,
        steps=explained.steps,
        self_attention=explained.self_attention,
        edges=edges,
        truth=shown.truth,
        predicted=shown.predicted[0],
        shown=shown,
        split=split,
        details={
            part: task.details(outputs[0, nodes], targets[nodes], run.classes)
            for part, nodes in labelled_parts(shown.truth, split)
        },
        probabilities=outputs[0],
        motif=predictions.motif,
        step=predictions.step,
        motif_probs=explained.motif_probs[:choices],
        step_probs=explained.step_probs[:choices],
        options=options,
        alternatives=outputs[1:],
    )


def _predictor(kind: str, summary: Mapping[str, Any]) -> Predictor:
    """Say which network predicts, from a run's summary."""
    if "candidates" not in summary:
        return Predictor("network", {_NETWORKS[kind]: 1.0})
    choosing = summary["choosing"]
    shares = choosing["blend"] if choosing["mode"] == "blend" else {choosing["winner"]: 1.0}
    return Predictor(choosing["mode"], dict(sorted(shares.items(), key=lambda part: -part[1])))


def _neighbourhood(option: Option, edges: NDArray[np.int64]) -> Neighbourhood:
    """The rows of an option with each one's entries in order: the node itself, then by the last layer."""
    rows = option.rows
    lengths = np.diff(rows.indptr)
    target = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((rows.indices, -option.coefficients[-1], rows.indices != target, target))
    keys = target * len(lengths) + rows.indices  # one per entry, ascending; those of the edges are looked up
    wanted = edges * len(lengths) + edges[:, ::-1]
    return Neighbourhood(
        option.motif,
        option.step,
        rows.indptr,
        rows.indices[order],
        rows.values[order],
        [values[order] for values in option.coefficients],
        lengths,
        keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted,
    )


def numbers_within(nodes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The number of each of `count` nodes among `nodes`; -1 for those that are not among them."""
    numbers = np.full(count, -1)
    numbers[nodes] = np.arange(len(nodes))
    return numbers


def labelled_parts(truth: NDArray[np.int64], split: NDArray[np.int64]) -> Iterator[tuple[str, Any]]:
    """Yield the parts of the nodes that have labelled ones, with a mask of those."""
    for number, part in enumerate(PARTS):
        nodes = (split == number) & (truth >= 0)
        if nodes.any():
            yield part, nodes


def _split(data: Data) -> NDArray[np.int64]:
    split = np.zeros(data.num_nodes, np.int64)
    for number, part in enumerate(PARTS[1:], 1):
        mask = data.get(f"{part}_mask")
        if mask is not None:
            split[mask.numpy()] = number
    return split
