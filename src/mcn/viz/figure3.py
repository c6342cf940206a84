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
from mcn.viz._drawing import COLOURS, FAINT, INK, MARKERS, check_path, new_figure, save_figure
from mcn.viz.explanation import Explanation, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEWEST, _HEAVIEST = 3, 4  # a node is worth drawing if it hears so many, and so many lines to it are drawn
_TINT = 0.85
_BESIDE = (((-8, 0), "right", "center"), ((0, 8), "center", "bottom"), ((8, 0), "left", "center"))
"""Where a node's name stands in each column, in points: away from the lines that begin or end there."""


@dataclass(frozen=True)
class Flow:
    """What reaches a node: who hears whom in a layer, how strongly, and under which choice.

    to, of: node ids [E]. weight: coefficients [E]. option: number of the choice of the hearing node [E].
    """

    to: NDArray[np.int64]
    of: NDArray[np.int64]
    weight: NDArray[np.float32]
    option: NDArray[np.int64]


def flow_into(found: Explanation, nodes: NDArray[np.int64], layer: int) -> Flow:
    """What the given nodes heard in a layer (0: the first, 1: the last) of a network whose nodes choose."""
    chosen = found.motif[:, -1 if layer else 0] * found.steps + found.step[:, -1 if layer else 0] - 1
    parts: list[tuple[Any, ...]] = []
    for node in nodes:
        option = found.options[chosen[node]]
        row = option.row(int(node))
        heard = option.indices[row].astype(np.int64)
        weight = option.coefficients[-1 if layer else 0][row]
        parts.append((np.full(len(heard), node), heard, weight, np.full(len(heard), chosen[node])))
    to, of, weights, options = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Flow(to, of, weights, options)


def telling_nodes(found: Explanation) -> list[int]:
    """The nodes to draw: for every motif that some node chose in the last layer, one that did.

    It is rightly predicted and hears at least three nodes; of these the one with the fewest lines.

    Raises:
        ValueError: there is no such node.
    """
    best: dict[int, tuple[int, int]] = {}
    for node in np.flatnonzero(found.predicted == found.truth):
        heard = flow_into(found, np.array([node]), 1)
        lines = len(heard.of) + len(flow_into(found, heard.of, 0).of)
        motif = int(found.motif[node, -1])
        if len(heard.of) >= _FEWEST and (motif not in best or lines < best[motif][0]):
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
    found = explain(run, data, keep=_HEAVIEST)
    if found.kind != "choices" or found.motif.shape[1] != 2:
        raise ValueError(f"{run.folder}: figure 3 shows two layers of nodes that choose; this run has others")
    targets = np.array(telling_nodes(found) if nodes is None else nodes, np.int64)
    last = flow_into(found, targets, 1)
    middle = _by_centre(last, targets)
    first = flow_into(found, middle, 0)
    left = _by_centre(first, middle)
    columns = [left, middle, targets]
    figure, axes = new_figure(7.0, 0.8 + 0.2 * max(len(left), len(middle)), 1)
    ax = axes[0]
    ax.set_aspect("auto")
    height = [np.linspace(1, 0, len(own) + 2)[1:-1] for own in columns]
    _lines(ax, first, (columns[0], height[0], 0.0), (columns[1], height[1], 1.0))
    _lines(ax, last, (columns[1], height[1], 1.0), (columns[2], height[2], 2.0))
    for x, own, y in zip((0.0, 1.0, 2.0), columns, height, strict=True):
        _points(ax, found, own, np.full(len(own), x), y)
    _words(ax, found, columns, height)
    ax.set_xlim(-0.15, 2.75)
    ax.set_ylim(-0.02, 1.1)
    used = np.unique(np.concatenate([first.option, last.option]))
    _legend(figure, found, used)
    save_figure(figure, path)
    return figure


def option_name(found: Explanation, option: int) -> str:
    """A choice in words."""
    motif, step = divmod(int(option), found.steps)
    return f"{found.motifs[motif]}, {step + 1} step{'s' if step else ''}"


def _by_centre(flow: Flow, middle: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes that are heard, ordered by where those that hear them stand: fewer lines cross."""
    place = {int(node): at for at, node in enumerate(middle)}
    nodes = np.unique(flow.of)
    centre = [np.mean([place[int(to)] for to in flow.to[flow.of == node]]) for node in nodes]
    return np.asarray(nodes[np.argsort(centre, kind="stable")], np.int64)


def _lines(ax: Axes, flow: Flow, source: tuple[Any, ...], target: tuple[Any, ...]) -> None:
    at = [
        {int(node): float(h) for node, h in zip(nodes, heights, strict=True)}
        for nodes, heights, _ in (source, target)
    ]
    for to, of, weight, option in zip(flow.to, flow.of, flow.weight, flow.option, strict=True):
        ax.plot(
            [source[2], target[2]],
            [at[0][int(of)], at[1][int(to)]],
            color=COLOURS[int(option) % len(COLOURS)],
            linewidth=0.4 + 4.0 * float(weight),
            alpha=_TINT,
            solid_capstyle="round",
            zorder=1,
        )


def _points(
    ax: Axes, found: Explanation, nodes: NDArray[np.int64], x: NDArray[np.float64], y: NDArray[np.float64]
) -> None:
    for label in np.unique(found.truth[nodes]):
        mine = found.truth[nodes] == label
        ax.scatter(
            x[mine],
            y[mine],
            s=70,
            c="white" if label >= 0 else FAINT,
            marker=MARKERS[int(label) % len(MARKERS)],
            edgecolors=INK,
            linewidths=1.0,
            zorder=3,
        )


def _words(
    ax: Axes, found: Explanation, columns: list[NDArray[np.int64]], height: list[NDArray[np.float64]]
) -> None:
    titles = ("features of the nodes", "layer 1", "layer 2")
    for x, title in zip((0.0, 1.0, 2.0), titles, strict=True):
        ax.text(x, 1.05, title, ha="center", va="bottom", fontsize=9)
    ids = found.ids
    for column, (own, y) in enumerate(zip(columns, height, strict=True)):
        for node, h in zip(own, y, strict=True):
            name = str(node) if ids is None else ids[node][:12]
            if column:
                layer = 0 if column == 1 else -1
                option = found.motif[node, layer] * found.steps + found.step[node, layer] - 1
                name = f"{name}: {option_name(found, option)}"
            offset, ha, va = _BESIDE[column]
            ax.annotate(
                name,
                (float(column), h),
                xytext=offset,
                textcoords="offset points",
                ha=ha,
                va=va,
                fontsize=6.5,
                zorder=4,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
            )


def _legend(figure: Figure, found: Explanation, used: NDArray[np.int64]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [], [], color=COLOURS[int(option) % len(COLOURS)], linewidth=2.5, label=option_name(found, option)
        )
        for option in used
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
