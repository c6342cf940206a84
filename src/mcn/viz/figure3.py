"""Figure 3 of the paper (fig:model): what flowed where in a trained network, layer by layer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.train.run import Run, load_run
from mcn.viz.drawing import FAINT, INK, check_path, draw_nodes, look, new_figure, save_figure
from mcn.viz.explanation import Explanation, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Heights = dict[int, float]
"""Where the nodes of a column stand."""
_FEWEST, _HEAVIEST = 3, 4  # a node is worth drawing if it hears so many, and so many lines to it are drawn
_COLUMNS = (
    ("features of the nodes", (-8, 0), "right", "center"),
    ("layer 1", (0, 8), "center", "bottom"),
    ("layer 2", (8, 0), "left", "center"),
)
"""Titles of the columns, and where a node's name stands: away from the lines that begin or end there."""


@dataclass(frozen=True)
class Flow:
    """What reaches a node: who hears whom in a layer, how strongly, and under which choice.

    to, of: node ids [E]. weight: coefficients [E]. option: number of the choice of the hearing node [E].
    """

    to: NDArray[np.int64]
    of: NDArray[np.int64]
    weight: NDArray[np.float32]
    option: NDArray[np.int64]


def flow_into(explanation: Explanation, nodes: NDArray[np.int64], layer: int) -> Flow:
    """What the given nodes heard in a layer (0: the first, -1: the last) of a network whose nodes choose."""
    numbers = explanation.chosen[nodes, layer]
    options = [explanation.options[number] for number in numbers]
    rows = [option.row(int(node)) for option, node in zip(options, nodes, strict=True)]
    heard = [option.indices[row] for option, row in zip(options, rows, strict=True)]
    weights = [option.coefficients[layer][row] for option, row in zip(options, rows, strict=True)]
    lengths = [len(neighbours) for neighbours in heard]
    of = np.concatenate(heard).astype(np.int64)
    return Flow(np.repeat(nodes, lengths), of, np.concatenate(weights), np.repeat(numbers, lengths))


def telling_nodes(explanation: Explanation) -> list[int]:
    """The nodes to draw: for every motif that some node chose in the last layer, one that did.

    It is rightly predicted and hears at least three nodes; of these the one with the fewest lines.

    Raises:
        ValueError: there is no such node.
    """
    best: dict[int, tuple[int, int]] = {}
    for node in np.flatnonzero(explanation.predicted == explanation.truth):
        last = flow_into(explanation, np.array([node]), -1)
        lines = len(last.of) + len(flow_into(explanation, last.of, 0).of)
        motif = int(explanation.motif[node, -1])
        if len(last.of) >= _FEWEST and (motif not in best or lines < best[motif][0]):
            best[motif] = lines, int(node)
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
    run = run if isinstance(run, Run) else load_run(run)
    explanation = explain(run, data, keep=_HEAVIEST)
    if explanation.kind != "choices" or explanation.motif.shape[1] != 2:
        raise ValueError(f"{run.folder}: figure 3 shows two layers of nodes that choose; this run has others")
    right = np.array(telling_nodes(explanation) if nodes is None else nodes, np.int64)
    last = flow_into(explanation, right, -1)
    middle = _by_centre(last, right)
    first = flow_into(explanation, middle, 0)
    left = _by_centre(first, middle)
    figure, (ax,) = new_figure(7.0, 0.8 + 0.2 * max(len(left), len(middle)), 1)
    ax.set(aspect="auto", xlim=(-0.15, 2.75), ylim=(-0.02, 1.1))
    heights = [
        dict(zip(column.tolist(), np.linspace(1, 0, len(column) + 2)[1:-1].tolist(), strict=True))
        for column in (left, middle, right)
    ]
    for layer, flow in enumerate((first, last)):
        _draw_flow(ax, flow, (layer, heights[layer]), (layer + 1, heights[layer + 1]))
    for x, column in enumerate(heights):
        _draw_column(ax, explanation, x, column)
    _draw_legend(figure, explanation, np.union1d(first.option, last.option))
    save_figure(figure, path)
    return figure


def _draw_flow(ax: Axes, flow: Flow, source: tuple[int, Heights], target: tuple[int, Heights]) -> None:
    for to, of, weight, option in zip(flow.to, flow.of, flow.weight, flow.option, strict=True):
        ends = [source[1][int(of)], target[1][int(to)]]
        style = {"color": look(option)[0], "linewidth": 0.4 + 4.0 * weight, "alpha": 0.85}
        ax.plot([source[0], target[0]], ends, solid_capstyle="round", zorder=1, **style)


def _draw_column(ax: Axes, explanation: Explanation, x: int, column: Heights) -> None:
    title, offset, ha, va = _COLUMNS[x]
    ax.text(x, 1.05, title, ha="center", va="bottom", fontsize=9)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 6.5, "zorder": 4, "bbox": box}
    for node, y in column.items():
        label = int(explanation.truth[node])
        fill, (_, marker) = "white" if label >= 0 else FAINT, look(label)
        draw_nodes(ax, np.array([[x, y]]), 70, fill, marker=marker, ring=INK, width=1.0)
        name = str(node) if explanation.ids is None else explanation.ids[node][:12]
        if x:
            name = f"{name}: {option_name(explanation, explanation.chosen[node, x - 1])}"
        ax.annotate(name, (x, y), xytext=offset, ha=ha, va=va, **style)


def _draw_legend(figure: Figure, explanation: Explanation, options: NDArray[np.int64]) -> None:
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


def _by_centre(flow: Flow, hearing: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes that are heard, ordered by where those that hear them stand: fewer lines cross."""
    place = {int(node): at for at, node in enumerate(hearing)}
    nodes = np.unique(flow.of)
    centre = [np.mean([place[int(to)] for to in flow.to[flow.of == node]]) for node in nodes]
    return np.asarray(nodes[np.argsort(centre, kind="stable")], np.int64)
