"""Figure 2 of the paper (fig:motiv): a node whose neighbours mislead, and whose strong ties do not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.motifs import MotifCounts
from mcn.viz._drawing import (
    COLOURS,
    FAINT,
    INK,
    MARKERS,
    check_path,
    draw_edges,
    new_figure,
    places,
    save_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = 14  # neighbours of the node that is drawn, at most


@dataclass(frozen=True)
class Neighbours:
    """How the neighbours of all nodes under a motif vote.

    nodes: how many have neighbours under it. right: share of these whose most frequent class among the
    neighbours is their own; a tie counts as its share of the tied classes.
    """

    motif: str
    nodes: int
    right: float


def votes(data: Data, counts: MotifCounts, motif: str) -> tuple[Neighbours, NDArray[np.float64]]:
    """How often neighbours under a motif vote for a node's class; credit by node, nan without any."""
    labels, credit = data.y.numpy(), np.full(data.num_nodes, np.nan)
    shares = _class_shares(counts.adjacency(motif), labels)
    heard = shares.sum(1) > 0
    best = shares[heard].max(1, keepdims=True)
    tied = shares[heard] == best
    own = tied[np.arange(len(tied)), labels[heard]]
    credit[heard] = own / tied.sum(1)
    return Neighbours(motif, int(heard.sum()), float(credit[heard].mean()) if heard.any() else 0.0), credit


def _class_shares(matrix: sp.csr_array[Any], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many neighbours of each node have each class, [N, C]; how strong a tie is does not count."""
    classes = sp.csr_array(
        (np.ones(len(labels)), (np.arange(len(labels)), labels)), shape=(len(labels), labels.max() + 1)
    )
    present = matrix.copy()
    present.data = np.ones(len(present.data))
    return np.asarray((present @ classes).toarray(), np.float64)


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
    path = check_path(path)
    target = misled_node(data, counts, motif) if node is None else node
    edge, limited = counts.adjacency("edge"), counts.adjacency(motif)
    around = edge.indices[edge.indptr[target] : edge.indptr[target + 1]]
    if not len(around):
        raise ValueError(f"node {target} has no neighbours; choose another")
    members = np.concatenate([[target], around]).astype(np.int64)
    graph = edge[members][:, members]
    pairs = np.stack(sp.triu(graph).nonzero(), axis=1).astype(np.int64)
    place, labels = places(graph), data.y.numpy()[members]
    figure, axes = new_figure(6.2, 2.9, 2)
    for letter, ax, matrix, name in zip("ab", axes, (edge, limited), ("edge", motif), strict=True):
        own = matrix[members][:, members].toarray()
        strong = own[pairs[:, 0], pairs[:, 1]] > 0
        draw_edges(ax, place, pairs[~strong])
        draw_edges(ax, place, pairs[strong], np.zeros(int(strong.sum())))
        heard = own[0] > 0
        heard[0] = True
        _nodes(ax, place, labels, heard)
        said = int((labels[1:][heard[1:]] == labels[0]).sum())
        ax.set_title(f"({letter}) {name}: {said} of {int(heard.sum()) - 1} agree with the target", fontsize=9)
    save_figure(figure, path)
    return figure


def _nodes(ax: Axes, place: NDArray[np.float64], labels: NDArray[np.int64], heard: NDArray[np.bool_]) -> None:
    for label in np.unique(labels):
        for own in (True, False):
            mine = (labels == label) & (heard == own)
            ax.scatter(
                place[mine, 0],
                place[mine, 1],
                s=60,
                c=COLOURS[label % len(COLOURS)] if own else FAINT,
                marker=MARKERS[label % len(MARKERS)],
                edgecolors="white",
                linewidths=0.5,
                zorder=3,
            )
    ax.scatter(place[:1, 0], place[:1, 1], s=190, facecolors="none", edgecolors=INK, linewidths=1.2, zorder=4)
