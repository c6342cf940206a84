"""Each motif's little picture, as SVG, for docs, notebooks and plots."""

from __future__ import annotations

from mcn.motifs.catalogue import EDGE_ORBITS, graphlet_of

_PLACES = {  # unit square, y downwards
    2: ((0.0, 0.5), (1.0, 0.5)),
    3: ((0.5, 0.0), (0.0, 1.0), (1.0, 1.0)),
    4: ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)),
}
_PLACES_BY_NAME = {
    "3-star": ((0.5, 0.55), (0.5, 0.0), (0.0, 1.0), (1.0, 1.0)),
    "tailed-triangle": ((0.5, 0.4), (0.5, 0.0), (0.0, 1.0), (1.0, 1.0)),
}
INK, ACCENT = "#334155", "#d9480f"


def places(motif: str) -> tuple[tuple[float, float], ...]:
    """Where the nodes of a motif are drawn, in the unit square with y downwards."""
    g = graphlet_of(motif)
    return _PLACES_BY_NAME.get(g.name, _PLACES[g.size])


def orbit_edges(motif: str) -> list[tuple[int, int]]:
    """The edges of the graphlet that a motif name speaks of: one orbit's, or all."""
    g = graphlet_of(motif)
    degree = [sum(u in e for e in g.edges) for u in range(g.size)]
    ends = dict(g.edge_orbits).get(motif) if motif in EDGE_ORBITS else None
    return [e for e in g.edges if ends is None or tuple(sorted(degree[u] for u in e)) == ends]


def picture(motif: str, size: int = 48) -> str:
    """An SVG drawing of a motif; the edges of its orbit stand out.

    >>> picture("triangle").count("<line")
    3
    """
    g = graphlet_of(motif)
    margin = 0.16 * size
    span = size - 2 * margin
    at = [(margin + x * span, margin + y * span) for x, y in places(motif)]
    marked = set(orbit_edges(motif))
    lines = "".join(
        f'<line x1="{at[u][0]:.1f}" y1="{at[u][1]:.1f}" x2="{at[v][0]:.1f}" y2="{at[v][1]:.1f}" '
        f'stroke="{ACCENT if (u, v) in marked else INK}" '
        f'stroke-width="{size * (0.07 if (u, v) in marked else 0.035):.1f}"/>'
        for u, v in g.edges
    )
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size * 0.09:.1f}" fill="{INK}"/>' for x, y in at)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" '
        f'viewBox="0 0 {size} {size}" role="img"><title>{motif}</title>{lines}{dots}</svg>'
    )
