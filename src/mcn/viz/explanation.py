"""Why a trained network says what it says of every node, and what else it could have said."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.data import simple_graph
from mcn.train.predictions import in_classes
from mcn.train.run import Run
from mcn.viz.neighbours import Neighbourhood, neighbourhood

PARTS = ("none", "train", "val", "test")
_KEPT = 30  # entries per row; a picture of more helps nobody


@dataclass(frozen=True)
class Explanation:
    """A run and its graph, node by node (N nodes, L layers, T motifs, K steps, C classes).

    ids: what the data calls the nodes, or None for their numbers. classes: names.
    edges: int64 [M, 2], u < v. truth: class numbers, -1 where unknown. split: numbers into `PARTS`.
    probabilities: [N, C]. motif, step: the choices, [N, L], 0-based motif and 1-based step.
    motif_probs [L, N, T], step_probs [L, N, K]: the selectors f and f' (eq:state); None in a layer without.
    options: the neighbourhood of every motif and step, in the order t·K + (k-1), with the coefficients that
    the first and the last layer would give it.
    alternatives: [T·K, N, C], the prediction for a node if it alone chose this motif and step in the last
    layer and everything else stayed as it is.
    kind: "choices" for a network whose nodes choose. "candidates" where an option is a network of its own,
    with one neighbourhood for all nodes, and its alternative what that network predicts. "views" for one that
    averages over motif views: L is 0, an option is a view (the rows that mix the features), its alternative
    the prediction by that view alone.
    """

    ids: list[str] | None
    classes: list[str]
    motifs: tuple[str, ...]
    steps: int
    self_attention: bool
    edges: NDArray[np.int64]
    truth: NDArray[np.int64]
    split: NDArray[np.int64]
    probabilities: NDArray[np.float32]
    motif: NDArray[np.int64]
    step: NDArray[np.int64]
    motif_probs: list[NDArray[np.float32] | None]
    step_probs: list[NDArray[np.float32] | None]
    options: list[Neighbourhood]
    alternatives: NDArray[np.float32]
    kind: str = "choices"

    @property
    def predicted(self) -> NDArray[np.int64]:
        """The most probable class of every node."""
        return np.asarray(self.probabilities.argmax(1), np.int64)

    @property
    def num_nodes(self) -> int:
        """N."""
        return len(self.truth)


def explain(run: Run, data: Data, keep: int = _KEPT) -> Explanation:
    """Explain the predictions of a finished run for the nodes of a graph.

    Args:
        run: read with `mcn.train.load_run`.
        data: the run's graph, or another one with the same features.
        keep: how many neighbours of each motif and step to hold per node, the heaviest ones.

    Raises:
        ValueError: the graph's features are not those the network was trained on.
    """
    if keep < 1:
        raise ValueError(f"keep must be at least 1, got {keep}")
    edges = np.asarray(simple_graph(data.edge_index, data.num_nodes).pairs, np.int64)
    found = run.explain(data)
    options, alternatives = [], []
    for each in found.options:
        options.append(neighbourhood(each.motif, each.step, each.rows, each.coefficients, edges, keep))
        alternatives.append(each.alternative)
    own, labelled, ids = found.predictions, in_classes(data, run.classes), getattr(data, "node_ids", None)
    return Explanation(
        ids=None if ids is None else [str(each) for each in ids],
        classes=list(run.classes),
        motifs=own.motifs,
        steps=found.steps,
        self_attention=found.self_attention,
        edges=edges,
        truth=np.full(data.num_nodes, -1) if data.y is None else labelled.y.numpy().astype(np.int64),
        split=_split(data),
        probabilities=own.probabilities,
        motif=own.motif,
        step=own.step,
        motif_probs=found.motif_probs,
        step_probs=found.step_probs,
        options=options,
        alternatives=np.stack(alternatives),
        kind=found.kind,
    )


def _split(data: Data) -> NDArray[np.int64]:
    split = np.zeros(data.num_nodes, np.int64)
    for number, part in enumerate(PARTS[1:], 1):
        mask = data.get(f"{part}_mask")
        if mask is not None:
            split[mask.numpy()] = number
    return split
