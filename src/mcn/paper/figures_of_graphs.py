"""Figures 1 and 2 of the paper: a graph under several motifs; a node whose neighbours mislead."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcn.motifs import MotifCounts
from mcn.viz import drawing
from mcn.viz.drawing import COLOURS, check_path, check_size, draw_weights, new_figure, places, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch_geometric.data import Data

_LARGEST = 170.0  # area in square points of the node of the largest weight
_SHOWN = 14  # neighbours of the node that is drawn, at most


def draw_figure1(
    data: Data,
    counts: MotifCounts,
    path: str | os.PathLike[str],
    *,
    motifs: Sequence[str] = ("edge", "4-clique", "4-path"),
    seed: int = 0,
) -> Figure:
    """Draw the same graph once per motif (figure 1, fig:butterfly) and write it to `path`.

    Nodes stand in the same places in every panel. A node's area is proportional to its weighted degree in
    A_t, an edge's width grows with its weight, both relative to the largest of the panel. Edges in no
    instance of the motif are dotted, nodes in none are small rings.

    Args:
        data: the graph; up to 2,000 nodes are drawn.
        counts: its motif counts, from `mcn.count_motifs`.
        path: .pdf or .svg (vectors) or .png.
        motifs: one panel each.
        seed: of the layout, for graphs of more than 500 nodes; smaller ones need none.

    Returns:
        The matplotlib figure. The bytes of the file depend on the arguments and matplotlib's version only.

    Raises:
        ValueError: another format, an unknown motif, no motif, counts of another graph, too many nodes.
    """
    path = check_path(path)
    if not motifs:
        raise ValueError("figure 1 needs at least one motif, got none")
    if counts.num_nodes != data.num_nodes:
        raise ValueError(
            f"the counts are of {counts.num_nodes:,} nodes, the graph has {data.num_nodes:,}; "
            "give the counts of this graph"
        )
    check_size(counts.num_nodes)
    weights = {motif: counts.adjacency(motif) for motif in motifs}
    place = places(counts.adjacency("edge"), seed)
    figure, axes = new_figure(2.4 * len(motifs), 2.05, len(motifs))
    for letter, ax, (motif, matrix) in zip("abcdefghijklmnop", axes, weights.items(), strict=False):
        draw_weights(ax, place, counts.pairs, matrix, largest=_LARGEST, colour=COLOURS[0])
        ax.set_title(f"({letter}) {motif}", fontsize=9)
    save_figure(figure, path)
    return figure


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
