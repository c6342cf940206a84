"""Figure 2 of the paper (fig:motiv): a node whose neighbours mislead, and whose strong ties do not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcn.motifs import MotifCounts
from mcn.viz import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch_geometric.data import Data

_SHOWN = 14  # neighbours of the node that is drawn, at most


@dataclass(frozen=True)
class Votes:
    """How the neighbours of all nodes under a motif vote.

    nodes: how many have neighbours under it. right: share of these whose most frequent class among the
    neighbours is their own; a tie counts as its share of the tied classes.
    """

    motif: str
    nodes: int
    right: float


def votes(data: Data, counts: MotifCounts, motif: str) -> tuple[Votes, NDArray[np.float64]]:
    """How often neighbours under a motif vote for a node's class; credit by node, nan without any."""
    labels, credit = data.y.numpy(), np.full(data.num_nodes, np.nan)
    neighbours = (counts.adjacency(motif) > 0).astype(np.float64)  # how strong a tie is does not count
    shares = neighbours @ np.eye(labels.max() + 1)[labels]
    heard = shares.sum(1) > 0
    best = shares[heard].max(1, keepdims=True)
    tied = shares[heard] == best
    right = tied[np.arange(len(tied)), labels[heard]]
    credit[heard] = right / tied.sum(1)
    return Votes(motif, int(heard.sum()), float(credit[heard].mean()) if heard.any() else 0.0), credit


def misled_node(data: Data, counts: MotifCounts, motif: str) -> int:
    """The node to draw: neighbours are wrong about it, those under the motif are right.

    Of those with at most 14 neighbours the one with most of them, then the first.

    Raises:
        ValueError: there is no such node.
    """
    degree = np.diff(counts.adjacency("edge").indptr)
    plain, strong = (votes(data, counts, name)[1] for name in ("edge", motif))
    able = (plain == 0) & (strong == 1) & (degree <= _SHOWN)
    if not able.any():
        raise ValueError(f"no node has neighbours that are wrong about it and a right {motif} neighbourhood")
    return int(np.where(able, degree, -1).argmax())


def draw_figure2(
    data: Data,
    counts: MotifCounts,
    path: str | os.PathLike[str],
    *,
    motif: str = "triangle",
    node: int | None = None,
) -> Figure:
    """Draw a node with its neighbours, and with those that a motif leaves it (figure 2, fig:motiv).

    Colours and shapes are true classes. Panel (b) has the same nodes; ties that are in no instance of the
    motif are dotted, and nodes that the target no longer hears of are grey.

    Args:
        data: a graph with classes.
        counts: its motif counts.
        path: .pdf or .svg (vectors) or .png.
        motif: what limits the neighbourhood.
        node: the target; by default one whose neighbours mislead (see `misled_node`).

    Raises:
        ValueError: another format, an unknown motif, or a node without neighbours.
    """
    path = drawing.check_path(path)
    target = misled_node(data, counts, motif) if node is None else node
    edge, limited = counts.adjacency("edge"), counts.adjacency(motif)
    around = edge.indices[edge.indptr[target] : edge.indptr[target + 1]]
    if not len(around):
        raise ValueError(f"node {target} has no neighbours; choose another")
    members = np.concatenate([[target], around]).astype(np.int64)
    graph = edge[members][:, members]
    pairs = np.stack(sp.triu(graph).nonzero(), axis=1).astype(np.int64)
    place, labels = drawing.places(graph), data.y.numpy()[members]
    figure, axes = drawing.new_figure(6.2, 2.9, 2)
    for letter, ax, matrix, name in zip("ab", axes, (edge, limited), ("edge", motif), strict=True):
        weights = matrix[members][:, members].toarray()
        strong = weights[pairs[:, 0], pairs[:, 1]] > 0
        drawing.draw_edges(ax, place, pairs[~strong])
        drawing.draw_edges(ax, place, pairs[strong], np.zeros(int(strong.sum())))
        heard = weights[0] > 0
        heard[0] = True
        _draw_classes(ax, place, labels, heard)
        agree = int((labels[1:][heard[1:]] == labels[0]).sum())
        ax.set_title(
            f"({letter}) {name}: {agree} of {int(heard.sum()) - 1} agree with the target", fontsize=9
        )
    drawing.save_figure(figure, path)
    return figure


def _draw_classes(
    ax: Axes, place: NDArray[np.float64], labels: NDArray[np.int64], heard: NDArray[np.bool_]
) -> None:
    for label in np.unique(labels):
        colour, marker = drawing.look(label)
        drawing.draw_nodes(ax, place[(labels == label) & heard], 60, colour, marker=marker)
        drawing.draw_nodes(ax, place[(labels == label) & ~heard], 60, drawing.FAINT, marker=marker)
    drawing.draw_nodes(ax, place[:1], 190, "none", ring=drawing.INK, linewidths=1.2, zorder=4)
