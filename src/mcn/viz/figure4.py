"""Figure 4 of the paper (fig:vis): which motif each node of one class chose."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from mcn.data import simple_graph
from mcn.motifs import count_motifs
from mcn.motifs.catalogue import orbit_weights
from mcn.train.problem import class_names
from mcn.train.run import Run, load_run
from mcn.viz import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from torch_geometric.data import Data

# Square points for each of drawing.MARKERS, so that all look equally large.
_AREAS = (15, 12, 17, 11, 17, 17, 17, 24)


def draw_figure4(
    run: Run | str | os.PathLike[str],
    data: Data,
    path: str | os.PathLike[str],
    *,
    label: int = 4,
    layer: int = 1,
    weights: str | None = "triangle",
    seed: int = 0,
) -> Figure:
    """Draw what the nodes of one class chose in one layer of a trained run (figure 4, fig:vis).

    Drawn is the largest connected component of the subgraph induced by the nodes whose true class is
    `label`. The paper's "class 4" is read as label 4 of the Planetoid files, counted from 0 as `data.y`
    is: Probabilistic Methods, 426 nodes, 333 of them in the component. Labels are read for drawing only,
    after training.

    Args:
        run: a finished run of `mcn train`, or its folder.
        data: the graph it was trained on.
        path: .pdf or .svg (vectors) or .png.
        label: the class, as in `data.y`.
        layer: the layer whose choice is shown, counted from 1.
        weights: a motif whose weights are drawn in a second panel: A_t of the whole graph, which is what
            the network sees, between the nodes drawn; None for one panel.
        seed: of the layout, for components of more than 500 nodes.

    Returns:
        The matplotlib figure.

    Raises:
        ValueError: no finished run, a graph that does not fit it, no node of that class, no such layer.
    """
    path = drawing.check_path(path)
    if weights is not None:
        orbit_weights(weights)  # an unknown name is refused before the network runs
    members = class_component(data, label)
    drawing.check_size(len(members))
    run = run if isinstance(run, Run) else load_run(run)
    predictions = run.predict(data)
    chosen = predictions.motif
    if chosen.shape[1] == 0:
        raise ValueError(
            f"{run.folder}: the nodes of this run choose no motifs; draw one of the recipe mcn or paper"
        )
    if not 1 <= layer <= chosen.shape[1]:
        raise ValueError(f"layer = {layer}: the network of this run has layers 1 to {chosen.shape[1]}")
    graph = component_graph(data, members)
    pairs = np.stack(sp.triu(graph).nonzero(), axis=1).astype(np.int64)
    place = drawing.places(graph, seed)
    figure, axes = drawing.new_figure(4.4 if weights is None else 7.2, 3.3, 1 if weights is None else 2)
    drawing.draw_edges(axes[0], place, pairs, np.zeros(len(pairs)))
    for t, motif in enumerate(predictions.motifs):
        mine = chosen[members, layer - 1] == t
        (colour, marker), area = drawing.look(t), _AREAS[t % len(_AREAS)]
        share = f"{motif}: {int(mine.sum())} ({mine.mean():.0%})"
        drawing.draw_nodes(axes[0], place[mine], area, colour, marker=marker, linewidths=0.3, label=share)
    names = class_names(data)
    title = f"motif chosen in layer {layer}, class {label if names is None else names[label]}"
    axes[0].set_title(title if weights is None else f"(a) {title}", fontsize=9)
    if weights is not None:
        matrix = count_motifs(data.edge_index, data.num_nodes).adjacency(weights)[members][:, members]
        drawing.draw_weights(axes[1], place, pairs, matrix, largest=70, colour=drawing.INK)
        axes[1].set_title(f"(b) weights of the {weights} adjacency", fontsize=9)
    # Outside the panels, so that both keep the same size.
    handles, texts = axes[0].get_legend_handles_labels()
    spacing: dict[str, Any] = {"handletextpad": 0.1, "columnspacing": 1.2}
    figure.legend(handles, texts, loc="outside lower center", ncols=3, frameon=False, fontsize=8, **spacing)
    drawing.save_figure(figure, path)
    return figure


def class_component(data: Data, label: int) -> NDArray[np.int64]:
    """The nodes of the largest connected component of the subgraph induced by a class, ascending.

    Of components of the same size it is the one with the smallest node.
    """
    inside = np.flatnonzero(data.y.numpy() == label)
    if not len(inside):
        known = np.unique(data.y.numpy()[data.y.numpy() >= 0]).tolist()
        raise ValueError(f"label = {label}: no node has this class; the classes are {known}")
    _, part = sp.csgraph.connected_components(component_graph(data, inside), directed=False)
    return np.asarray(inside[part == np.bincount(part).argmax()], np.int64)


def component_graph(data: Data, members: NDArray[np.int64]) -> sp.csr_array[Any]:
    """The edges among some nodes, in their order: CSR of ones."""
    edges = simple_graph(data.edge_index, data.num_nodes).edge_index
    ones, shape = np.ones(edges.shape[1], np.int64), (data.num_nodes, data.num_nodes)
    return sp.csr_array((ones, tuple(edges)), shape=shape)[members][:, members]
