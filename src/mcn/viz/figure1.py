"""Figure 1 of the paper (fig:butterfly): one graph under different motif adjacencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcn.motifs import MotifCounts
from mcn.viz.drawing import COLOURS, check_path, check_size, draw_weights, new_figure, places, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch_geometric.data import Data

_LARGEST = 170.0  # area in square points of the node of the largest weight


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
