"""Little SVG drawings of the motifs, for pages and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from graphmotifs.catalogue import EDGE_ORBITS, edge_degrees, graphlet_of
from graphmotifs.triads import directed_graphlet_of, directed_name, is_directed_name

PLACES = {  # unit square, y downwards
    2: ((0.0, 0.5), (1.0, 0.5)),
    3: ((0.5, 0.0), (0.0, 1.0), (1.0, 1.0)),
    4: ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)),
}
_PLACES_BY_NAME = {
    "3-star": ((0.5, 0.55), (0.5, 0.0), (0.0, 1.0), (1.0, 1.0)),
    "tailed-triangle": ((0.5, 0.4), (0.5, 0.0), (0.0, 1.0), (1.0, 1.0)),
}
INK, ACCENT = "#334155", "#d9480f"


def picture(motif: str, size: int = 48) -> str:
    """Draw a motif, directed or not, as SVG; the edges or arcs of its orbit stand out.

    >>> picture("triangle").count("<line"), picture("feed-forward-loop").count("<polygon")
    (3, 3)
    """
    if not is_directed_name(str(motif)):
        return _undirected_picture(motif, size)
    name, g = directed_name(motif), directed_graphlet_of(motif)
    at = np.array(PLACES[len(g.roles)])
    shapes = ""
    for (tail, head), orbit in zip(g.arcs, g.arc_orbits, strict=True):
        side_by_side = 0.07 if (head, tail) in g.arcs else 0.0
        shapes += _arrow(at[tail], at[head], side_by_side, size, name in (g.name, orbit))
    return _svg(motif, shapes, at.tolist(), size)


def places(motif: str) -> tuple[tuple[float, float], ...]:
    """Where the nodes of a motif are drawn, in the unit square with y downwards."""
    g = graphlet_of(motif)
    return _PLACES_BY_NAME.get(g.name, PLACES[g.size])


def orbit_edges(motif: str) -> list[tuple[int, int]]:
    """The edges of the graphlet that a motif name speaks of: one orbit's, or all."""
    g = graphlet_of(motif)
    ends = dict(g.edge_orbits).get(motif) if motif in EDGE_ORBITS else None
    return [edge for edge in g.edges if ends is None or edge_degrees(g.edges, edge) == ends]


def _undirected_picture(motif: str, size: int) -> str:
    at, marked = places(motif), set(orbit_edges(motif))
    lines = [_svg_line(at[u], at[v], size, (u, v) in marked) for u, v in graphlet_of(motif).edges]
    return _svg(motif, "".join(lines), at, size)


def _on_canvas(place: Sequence[float], size: int) -> tuple[float, float]:
    """Where a place of the unit square is in a drawing, which has a margin."""
    margin = 0.16 * size
    span = size - 2 * margin
    return margin + place[0] * span, margin + place[1] * span


def _svg_line(start: Sequence[float], end: Sequence[float], size: int, strong: bool) -> str:
    """A line between two places, in SVG."""
    (x1, y1), (x2, y2) = _on_canvas(start, size), _on_canvas(end, size)
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{ACCENT if strong else INK}" stroke-width="{size * (0.07 if strong else 0.035):.1f}"/>'
    )


def _svg(title: str, shapes: str, at: Iterable[Sequence[float]], size: int) -> str:
    """A drawing of shapes with a dot at every place."""
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size * 0.09:.1f}" fill="{INK}"/>'
        for x, y in (_on_canvas(place, size) for place in at)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" '
        f'viewBox="0 0 {size} {size}" role="img"><title>{title}</title>{shapes}{dots}</svg>'
    )


def _arrow(
    tail: NDArray[np.float64], head: NDArray[np.float64], shift: float, size: int, strong: bool
) -> str:
    """A line with a point, from the rim of one node to that of another, moved to its left by `shift`."""
    along = (head - tail) / np.hypot(*(head - tail))
    across = np.array([along[1], -along[0]])
    start, tip = tail + shift * across + 0.13 * along, head + shift * across - 0.13 * along
    neck = tip - 0.2 * along
    corners = [_on_canvas(place, size) for place in (tip, neck + 0.1 * across, neck - 0.1 * across)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    fill = ACCENT if strong else INK
    return f'{_svg_line(start, neck, size, strong)}<polygon points="{points}" fill="{fill}"/>'
