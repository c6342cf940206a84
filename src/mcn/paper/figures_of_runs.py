"""Figures 3 and 4 of the paper: what flowed where in a trained network, and the motif that nodes chose."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphmotifs.catalogue import orbit_weights
from mcn.data import simple_graph
from mcn.motifs import count_motifs
from mcn.train.problem import class_names
from mcn.train.run import Run
from mcn.viz import drawing
from mcn.viz.drawing import FAINT, INK, check_path, draw_nodes, look, new_figure, save_figure
from mcn.viz.explanation import Explanation, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from torch_geometric.data import Data

# Square points for each of drawing.MARKERS, so that all look equally large.
_AREAS = (15, 12, 17, 11, 17, 17, 17, 24)
_FEWEST, _HEAVIEST = 3, 4  # a node is worth drawing if it hears so many, and so many lines to it are drawn
_COLUMNS = (
    ("features of the nodes", (-8, 0), "right", "center"),
    ("layer 1", (0, 8), "center", "bottom"),
    ("layer 2", (8, 0), "left", "center"),
)
"""Titles of the columns, and where a node's name stands: away from the lines that begin or end there."""


class Line(NamedTuple):
    """That a node hears another one in a layer: by which coefficient, and under which of its choices."""

    to: int
    of: int
    weight: float
    option: int


def lines_into(explanation: Explanation, nodes: Iterable[int], layer: int) -> list[Line]:
    """What the given nodes heard in a layer (0: the first, -1: the last) of a network whose nodes choose."""
    lines = []
    for node in nodes:
        number = int(explanation.chosen[node, layer])
        option = explanation.options[number]
        row = option.row(node)
        heard = zip(option.indices[row].tolist(), option.coefficients[layer][row].tolist(), strict=True)
        lines += [Line(node, of, weight, number) for of, weight in heard]
    return lines


def telling_nodes(explanation: Explanation) -> list[int]:
    """The nodes to draw: for every motif that some node chose in the last layer, one that did.

    It is rightly predicted and hears at least three nodes; of these the one with the fewest lines.

    Raises:
        ValueError: there is no such node.
    """
    best: dict[int, tuple[int, int]] = {}
    for node in np.flatnonzero(explanation.predicted == explanation.truth).tolist():
        last = lines_into(explanation, [node], -1)
        lines = len(last) + len(lines_into(explanation, [line.of for line in last], 0))
        motif = int(explanation.motif[node, -1])
        if len(last) >= _FEWEST and (motif not in best or lines < best[motif][0]):
            best[motif] = lines, node
    if not best:
        raise ValueError(f"no rightly predicted node hears {_FEWEST} nodes or more; give the nodes to draw")
    return [node for _, (_, node) in sorted(best.items())]


def draw_figure3(
    run: Run | str | os.PathLike[str],
    data: Data,
    path: str | os.PathLike[str],
    *,
    nodes: Sequence[int] | None = None,
) -> Figure:
    """Draw which choice each node made in each layer, and what flowed where (figure 3, fig:model).

    Right: nodes and what they chose in the last layer. Middle: the nodes they then heard, and what each of
    those chose in the first layer. Left: the nodes that these heard. Of every node its own line and the three
    heaviest others are drawn. A line's colour is the choice of the node that hears, its width the coefficient
    by which the layer multiplied (mean over heads). Nodes have the shape of their true class. All of it is
    read from a trained run.

    Args:
        run: a finished run of two layers whose nodes choose, or its folder.
        data: the graph it was trained on.
        path: .pdf or .svg (vectors) or .png.
        nodes: whose predictions to follow; by default see `telling_nodes`.

    Raises:
        ValueError: no finished run, or one whose nodes do not choose in two layers.
    """
    path = check_path(path)
    run = run if isinstance(run, Run) else Run.load(run)
    explanation = explain(run, data, keep=_HEAVIEST)
    if explanation.kind != "choices" or explanation.motif.shape[1] != 2:
        raise ValueError(f"{run.folder}: figure 3 shows two layers of nodes that choose; this run has others")
    right = telling_nodes(explanation) if nodes is None else list(nodes)
    last = lines_into(explanation, right, -1)
    middle = _by_centre(last, right)
    first = lines_into(explanation, middle, 0)
    left = _by_centre(first, middle)
    figure, (ax,) = new_figure(7.0, 0.8 + 0.2 * max(len(left), len(middle)), 1)
    ax.set(aspect="auto", xlim=(-0.15, 2.75), ylim=(-0.02, 1.1))
    heights = [
        dict(zip(column, np.linspace(1, 0, len(column) + 2)[1:-1].tolist(), strict=True))
        for column in (left, middle, right)
    ]
    for x, lines in enumerate((first, last)):
        for line in lines:
            ends = [heights[x][line.of], heights[x + 1][line.to]]
            colour, width = look(line.option)[0], 0.4 + 4.0 * line.weight
            ax.plot([x, x + 1], ends, c=colour, lw=width, alpha=0.85, solid_capstyle="round", zorder=1)
    for x, column in enumerate(heights):
        _draw_column(ax, explanation, x, column)
    _draw_legend(figure, explanation, sorted({line.option for line in first + last}))
    save_figure(figure, path)
    return figure


def _draw_column(ax: Axes, explanation: Explanation, x: int, column: dict[int, float]) -> None:
    title, offset, ha, va = _COLUMNS[x]
    ax.text(x, 1.05, title, ha="center", va="bottom", fontsize=9)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 6.5, "zorder": 4, "bbox": box}
    for node, y in column.items():
        label = int(explanation.truth[node])
        fill, (_, marker) = "white" if label >= 0 else FAINT, look(label)
        draw_nodes(ax, np.array([[x, y]]), 70, fill, marker=marker, ring=INK, linewidths=1.0)
        name = explanation.ids[node][:12]
        if x:
            name = f"{name}: {option_name(explanation, explanation.chosen[node, x - 1])}"
        ax.annotate(name, (x, y), xytext=offset, ha=ha, va=va, **style)


def _draw_legend(figure: Figure, explanation: Explanation, options: list[int]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=look(option)[0], linewidth=2.5, label=option_name(explanation, option))
        for option in options
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=8)


def option_name(explanation: Explanation, option: int) -> str:
    """A choice in words."""
    motif, step = divmod(int(option), explanation.steps)
    return f"{explanation.motifs[motif]}, {step + 1} step{'s' if step else ''}"


def _by_centre(lines: list[Line], hearing: list[int]) -> list[int]:
    """The nodes that are heard, ordered by where those that hear them stand: fewer lines cross."""
    hearers: dict[int, list[int]] = {}
    for line in lines:
        hearers.setdefault(line.of, []).append(hearing.index(line.to))
    return sorted(sorted(hearers), key=lambda node: float(np.mean(hearers[node])))


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
    run = run if isinstance(run, Run) else Run.load(run)
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
