"""Which capabilities do not go together: one table, which the code reads and the docs print.

Whatever is built from several capabilities (a graph, a stack, the inputs of a recipe, a command) calls
`check_composition` with those that are asked for. A pair that learns to go together loses its line here, and
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Conflict(NamedTuple):
    """Two capabilities that do not go together, and why or what to do."""

    one: str
    other: str
    advice: str


_GATHERED = "mini-batches gather neighbours by attention alone, without it"
_WHOLE = "it needs the whole graph in memory: load a graph on disk by to_data() or without packing it"
_CLASSES = "it is for one class per node"
CONFLICTS = (
    Conflict("direction", "edge weights", "leave out the one to use the other"),
    Conflict("direction", "motif views", "use the recipe mcn"),
    Conflict("direction", "a packed graph", "give the edges themselves: packing keeps no direction"),
    Conflict("significance", "a packed graph", "give the edges themselves"),
    Conflict("sums over motifs", "self-attention", "set self_attention to false"),
    Conflict("mini-batches", "sums over motifs", _GATHERED),
    Conflict("mini-batches", "self weights", _GATHERED),
    Conflict("mini-batches", "norms", _GATHERED),
    Conflict("mini-batches", "residuals", _GATHERED),
    Conflict("mini-batches", "Ψ as a factor", "drawn neighbours are weighed inside the softmax"),
    Conflict("mini-batches", "consistency", "it compares two passes over the whole graph"),
    Conflict("mini-batches", "candidates of whole graphs", "leave them out of the candidates"),
    Conflict("a packed graph", "full batches", "give batch_size: " + _WHOLE),
    Conflict("a packed graph", "several steps", _WHOLE),
    Conflict("a packed graph", "pairs of nodes", _WHOLE),
    Conflict("a packed graph", "added edges", _WHOLE),
    Conflict("a packed graph", "motif counts as features", _WHOLE),
    Conflict("a packed graph", "model selection", "choose the recipe mcn or paper; " + _WHOLE),
    Conflict("a packed graph", "methods for comparison", _WHOLE),
    Conflict("numbers or several targets", "class weights", _CLASSES),
    Conflict("numbers or several targets", "class priors", _CLASSES),
    Conflict("numbers or several targets", "methods for comparison", _CLASSES),
    Conflict("edge weights", "baselines on edges", "compare mcn, gat, gcn, mlp and views"),
)


def check_composition(used: Mapping[str, object]) -> None:
    """Refuse two capabilities that do not go together, if both are used.

    Args:
        used: by the name of a capability in `CONFLICTS`, how the user asked for it, which the message
            repeats; an empty value where it is not used.
    """
    for one, other, advice in CONFLICTS:
        if used.get(one) and used.get(other):
            raise ValueError(f"{used[one]} does not go with {used[other]}: {advice}")
