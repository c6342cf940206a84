"""Which part of the enumeration a motif needs, so that only its work is done."""

from __future__ import annotations

from collections.abc import Sequence

from mcn.motifs.catalogue import EDGE_ORBITS, edge_copies, orbit_weights
from mcn.motifs.enumerate import CLIQUES, CYCLES, TRIANGLES

_CYCLES = ("4-path-edge", "4-path-center", "4-cycle")
ORBIT_STAGES = [
    TRIANGLES if orbit in EDGE_ORBITS[:3] else CYCLES if orbit in _CYCLES else CLIQUES
    for orbit in EDGE_ORBITS
]
"""The stage that each edge orbit needs (see `derive`): only paths and cycles on four nodes need them all."""


def stage_of(motif: str, induced: bool = True) -> int:
    """Return the stage that the counts of a motif need.

    >>> stage_of("triangle"), stage_of("4-clique"), stage_of("4-cycle")
    (1, 2, 3)
    """
    weights = orbit_weights(motif)
    if not induced:
        weights = weights @ edge_copies()
    return max(stage for stage, part in zip(ORBIT_STAGES, weights, strict=True) if part)


def stage_of_all(motifs: Sequence[str] | None, induced: bool = True) -> int:
    """Return the stage that several motifs need; all stages if none are named.

    Raises:
        ValueError: a string instead of several names, or an unknown motif.
    """
    if motifs is None:
        return CYCLES
    if isinstance(motifs, str):
        raise ValueError(f"motifs must be several names, got the string {motifs!r}; write [{motifs!r}]")
    return max((stage_of(motif, induced) for motif in motifs), default=TRIANGLES)
