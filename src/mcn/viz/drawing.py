"""Drawing for print: places of nodes, colours, profiles, and files that are the same every time."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphmotifs._files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mcn.motifs import MotifSignificance

Places = NDArray[np.float64]
Pairs = NDArray[np.int64]
# Colours that people with any of the usual colour deficiencies tell apart (Okabe and Ito), ordered so that
# the first three are the paper's blue, red and green; markers keep them apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, FAINT = "#222222", "#C9C9C9"
MAX_NODES = 2000
# Below this size stress majorisation takes seconds; it shows paths and fringes better than springs do.
_STRESS = 500
_FORMATS = (".pdf", ".png", ".svg")
# Identifiers in SVG files are random without a salt, and files carry their date unless told not to.
STYLE = {"svg.hashsalt": "mcn", "pdf.fonttype": 42, "font.family": "DejaVu Sans", "font.size": 8}
_UNDATED: dict[str, dict[str, None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def look(number: int) -> tuple[str, str]:
    """The colour and the marker of a category; after eight they come again."""
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def check_path(path: str | os.PathLike[str]) -> Path:
    """The path of a figure, or an error that names the formats; checked before anything is computed."""
    path = Path(path)
    if path.suffix.lower() not in _FORMATS:
        raise ValueError(f"{path}: a figure is written as .pdf, .svg or .png, by the suffix of its name")
    return path


def check_libraries(*names: str) -> None:
    """Say which of these libraries is missing; called before anything is computed."""
    for name in names:
        if find_spec(name) is None:
            raise ValueError(f"figures need {name}: pip install 'mcn[viz]'")


def check_size(nodes: int) -> None:
    """Refuse a graph that would print as a blot."""
    if not 0 < nodes <= MAX_NODES:
        raise ValueError(
            f"a printed figure shows 1 to {MAX_NODES:,} nodes, this graph has {nodes:,}; "
            "draw a part of it, or look at the whole with mcn view"
        )


def new_figure(width: float, height: float, panels: int) -> tuple[Figure, list[Axes]]:
    """An empty figure (inches) with panels side by side; needs no display and changes no global state."""
    check_libraries("matplotlib")
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = list(np.atleast_1d(figure.subplots(1, panels)))
    for ax in axes:
        ax.set_axis_off()
        ax.set_aspect("equal")
        ax.margins(0.04)
    return figure, axes


def save_figure(figure: Figure, path: Path) -> None:
    """Write the figure in the format of its suffix; the same figure gives the same bytes."""
    import matplotlib

    suffix = path.suffix.lower()
    with matplotlib.rc_context(STYLE), atomic_write(path) as file:
        figure.savefig(file, format=suffix[1:], dpi=300, metadata=_UNDATED.get(suffix))


def places(adjacency: sp.csr_array[Any], seed: int = 0) -> Places:
    """A place in the plane for every node, float64 [N, 2]; the same for the same graph and seed."""
    check_libraries("networkx")
    import networkx as nx

    graph = nx.from_scipy_sparse_array(adjacency)
    if len(graph) > _STRESS:
        place = nx.spring_layout(graph, seed=seed, iterations=200)
    else:
        place = nx.kamada_kawai_layout(graph, dist=_distances(adjacency), weight=None)
    return _lying(np.array([place[node] for node in range(len(graph))], np.float64).reshape(-1, 2))


def _distances(adjacency: sp.csr_array[Any]) -> dict[int, dict[int, float]]:
    """How far apart two nodes should stand: the steps between them, and room for nodes drawn large.

    Components stand two steps further apart than any path is long.
    """
    steps = sp.csgraph.shortest_path(adjacency, unweighted=True, directed=False)
    finite = np.isfinite(steps)
    steps[~finite] = steps[finite].max(initial=0.0) + 2.0
    radius = np.sqrt(np.diff(adjacency.indptr))
    radius = 0.5 * radius / radius.max(initial=1.0)
    wanted = steps + radius[:, None] + radius[None, :]
    return {i: dict(enumerate(row.tolist())) for i, row in enumerate(wanted)}


def _lying(place: Places) -> Places:
    """The same picture, turned so that it is widest from left to right."""
    centred = place - place.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    return np.asarray(centred @ axes.T, np.float64)


def draw_edges(ax: Axes, place: Places, pairs: Pairs, weight: NDArray[np.float64] | None = None) -> None:
    """Lines between pairs of nodes; with weights (0 … 1), width and darkness follow them."""
    from matplotlib.collections import LineCollection

    style: dict[str, Any] = {"colors": FAINT, "linewidths": 0.5, "linestyles": (0, (1, 1.6)), "zorder": 1}
    if weight is not None:
        style = {"colors": INK, "linewidths": 0.5 + 2.6 * weight, "alpha": 0.25 + 0.6 * weight, "zorder": 2}
        style["capstyle"] = "round"
    ax.add_collection(LineCollection(list(place[pairs]), **style))
    ax.autoscale_view()


def draw_nodes(ax: Axes, place: Places, area: Any, colour: str, ring: str = "white", **style: Any) -> None:
    """Marks at places, each of an area in square points and with a ring; `style` is matplotlib's."""
    style = {"facecolors": colour, "edgecolors": ring, "linewidths": 0.5, "zorder": 3, **style}
    ax.scatter(place[:, 0], place[:, 1], s=area, **style)


def draw_weights(
    ax: Axes, place: Places, pairs: Pairs, matrix: sp.csr_array[Any], *, largest: float, colour: str
) -> None:
    """A weighted graph: node areas proportional to weighted degree, edge widths by weight.

    `largest` is the area of the heaviest node in square points. Pairs of weight 0 are dotted, nodes without
    weight are rings.
    """
    edge = np.asarray(matrix[pairs[:, 0], pairs[:, 1]], np.float64).reshape(-1)
    node = np.asarray(matrix.sum(axis=1), np.float64).reshape(-1)
    kept, inside = edge > 0, node > 0
    draw_edges(ax, place, pairs[~kept])
    # Weights that are all the same say nothing: such edges are all thin.
    same = edge[kept].min(initial=edge.max(initial=1.0)) == edge.max(initial=1.0)
    draw_edges(ax, place, pairs[kept], edge[kept] / edge.max(initial=1.0) * (0.2 if same else 1.0))
    draw_nodes(ax, place[~inside], 5, "white", ring=INK)
    draw_nodes(ax, place[inside], largest * node[inside] / node.max(initial=1.0), colour, zorder=4)


def draw_profile(found: MotifSignificance, path: str | os.PathLike[str]) -> Figure:
    """Draw the significance profile and write it to `path` (.pdf, .svg or .png)."""
    path = check_path(path)
    figure, (ax,) = new_figure(1.2 + 0.36 * len(found.lines), 2.8, 1)
    ax.set_axis_on()
    ax.set_aspect("auto")
    places = range(len(found.lines))
    ax.axhline(0, color=INK, linewidth=0.6)
    ax.plot(places, [line.profile for line in found.lines], color=COLOURS[0], marker="o", markersize=4)
    ax.set_xticks(places, [line.motif for line in found.lines], rotation=60, ha="right")
    ax.set_ylabel("normalised z")
    ax.set_title(f"{found.samples} random graphs with the same {found.keep}", fontsize=8)
    save_figure(figure, path)
    return figure
