"""Why a trained network says what it says of every node, and what else it could have said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.data import simple_graph
from mcn.nn import MCN
from mcn.train import Config, Run, in_classes
from mcn.viz.coefficients import LayerState, inputs_of, layer_state
from mcn.viz.neighbours import Neighbourhood, neighbourhood
from mcn.viz.view_parts import view_parts

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
    kind: "choices" for a network whose nodes choose. "views" for one that averages over motif views: L is 0,
    an option is a view (the rows that mix the features), its alternative the prediction by that view alone.
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


@torch.no_grad()
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
    run.model.eval()
    edges = np.asarray(simple_graph(data.edge_index, data.num_nodes).pairs, np.int64)
    parts = _choice_parts(run, data, edges, keep) if isinstance(run.model, MCN) else None
    labelled = in_classes(data, run.classes)
    ids = getattr(data, "node_ids", None)
    return Explanation(
        ids=None if ids is None else [str(each) for each in ids],
        classes=list(run.classes),
        motifs=run.config.motifs,
        edges=edges,
        truth=np.full(data.num_nodes, -1) if data.y is None else labelled.y.numpy().astype(np.int64),
        split=_split(data),
        **(view_parts(run, data, edges, keep) if parts is None else parts),
    )


def _choice_parts(run: Run, data: Data, edges: NDArray[np.int64], keep: int) -> dict[str, Any]:
    """What there is to say of a network whose nodes choose."""
    assert isinstance(run.model, MCN)
    assert isinstance(run.config, Config)
    x, stack = run.inputs_of(data)
    with inputs_of(run.model) as inputs:
        scores, choices = run.model(x, stack, return_choices=True)
    states = [
        layer_state(conv, h, chosen.rows)
        for conv, h, chosen in zip(run.model.convs, inputs, choices, strict=True)
    ]
    # What the network adds to its last layer, such as a correction of the class priors.
    added = scores.numpy() - states[-1].output(choices[-1].rows)
    options, alternatives = [], []
    for number in range(stack.num_motifs * stack.steps):
        rows = stack.select(np.full(stack.num_dst, number, np.int64))
        alternatives.append(torch.from_numpy(states[-1].output(rows) + added).softmax(1).numpy())
        own = [state.mean_coefficients(rows) for state in _ends(states)]
        t, k = divmod(number, stack.steps)
        options.append(neighbourhood(stack.motifs[t], k + 1, rows, own, edges, keep))
    return {
        "steps": stack.steps,
        "self_attention": run.config.self_attention,
        "probabilities": scores.softmax(1).numpy(),
        "motif": np.stack([each.motif.numpy() for each in choices], 1),
        "step": np.stack([each.step.numpy() for each in choices], 1),
        "motif_probs": [None if each.state is None else each.motif_probs.numpy() for each in choices],
        "step_probs": [None if each.state is None else each.step_probs.numpy() for each in choices],
        "options": options,
        "alternatives": np.stack(alternatives),
    }


def _ends(states: list[LayerState]) -> list[LayerState]:
    """The first and the last layer, or the only one."""
    return states if len(states) == 1 else [states[0], states[-1]]


def _split(data: Data) -> NDArray[np.int64]:
    split = np.zeros(data.num_nodes, np.int64)
    for number, part in enumerate(PARTS[1:], 1):
        mask = data.get(f"{part}_mask")
        if mask is not None:
            split[mask.numpy()] = number
    return split
