"""Names of neighbourhoods that follow the direction of arcs."""

from __future__ import annotations

from graphmotifs._messages import one_of, told
from graphmotifs.triads import DIRECTIONS, directed_name, is_directed_name


def directed_neighbourhood(name: str) -> tuple[str, str] | None:
    """Return the directed motif and the direction that a neighbourhood is named after; None for others.

    "out" and "in" are the nodes that a node points to and is pointed to by. A directed motif has rows by the
    direction of its arcs; ":in" after its name turns them round, ":both" takes either.

    >>> directed_neighbourhood("in"), directed_neighbourhood("cycle"), directed_neighbourhood("M5:both")
    (('arc', 'in'), ('cycle', 'out'), ('feed-forward-loop', 'both'))
    >>> directed_neighbourhood("triangle")
    """
    if name in ("out", "in"):
        return "arc", name
    motif, colon, direction = name.partition(":")
    if not colon and not is_directed_name(motif):
        return None
    one_of(f"the direction of {told(name)}", direction if colon else "out", DIRECTIONS)
    return directed_name(motif), direction or "out"
