"""What is tried: the candidates of a run, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn.train.mcn.config import MCNConfig
from mcn.train.mcn.special import CHANGES
from mcn.train.settings import Settings


@dataclass(frozen=True)
class Probe:
    """A candidate.

    name: what it is called. config: its settings; the seed is set for each run. option: the choice
    ``t·K + (k-1)`` that all nodes make, in the stack that the candidates share; None for a candidate with
    inputs of its own kind.
    """

    name: str
    config: Settings
    option: int | None = None


@dataclass(frozen=True)
class Plan:
    """The candidates, cheapest first, and their budget.

    motifs, steps: of the stack that the candidates share. repeats: runs of each, with seeds of their own.
    minutes: of training in all; None for no limit.
    """

    probes: tuple[Probe, ...]
    motifs: tuple[str, ...]
    steps: int
    repeats: int
    minutes: float | None

    def probe(self, name: str) -> Probe:
        """Return the candidate of this name."""
        return next(each for each in self.probes if each.name == name)


def options_of(probes: list[Probe], refit: Probe) -> NDArray[np.int64]:
    """Return the option of every candidate; one with inputs of its own kind has the refitted network's."""
    found = [refit.option if each.option is None else each.option for each in probes]
    return np.asarray(found, np.int64)


REFITS = ("refit", "refit-first", "refit-last")
"""Networks on the rows that nodes chose: in all layers, in the first one only, in the last one only. The
other layers have the neighbourhood of the candidate whose settings the network has, for all nodes."""


def by_layer(refit: Probe, options: NDArray[np.int64], layers: int) -> list[Any]:
    """Return what nodes listen to in each layer of a refitted network, the input layer first.

    Args:
        refit: one of `REFITS`, with the settings and the option of a candidate.
        options: what every node chose, [N].
        layers: number of layers.
    """
    chosen = {"refit": range(layers), "refit-first": (0,), "refit-last": (layers - 1,)}[refit.name]
    return [options if layer in chosen else refit.option for layer in range(layers)]


_GCN = {**CHANGES["gcn"], "hidden": 64}
SUMMED = {key: value for key, value in _GCN.items() if key != "motifs"}
"""A sum over neighbours in the place of attention, as changes to the settings of mcn."""
SPECIAL: dict[str, dict[str, Any]] = {
    "mlp": CHANGES["mlp"],
    "counts": {**CHANGES["mlp"], "features": "motifs"},
    "gcn": _GCN,
    "sage": {**_GCN, "self_weights": True},
}
"""Networks with one neighbourhood for all nodes, cheapest first, as changes to the settings of mcn."""


def probes_of(shared: MCNConfig) -> tuple[Probe, ...]:
    """Return the candidates of a network whose nodes may choose, cheapest first.

    The node alone (mlp), its motif counts alone (counts), the sum over neighbours (gcn), the same with
    weights of its own for the node (sage), attention over the neighbours (gat), and of every other motif and
    step both the sum (triangle-sum, triangle@2-sum for two steps) and attention (triangle, triangle@2).

    Args:
        shared: the settings of the network, with the motifs and steps of the stack that all share.
    """
    alone = {"attention": "gated", "gate": False, "motif_attention": False}  # nothing is left to choose
    config = shared.replace(**alone, consistency=shared.consistency)
    special = [name for name in SPECIAL if _fits(name, shared)]
    found = [_special(name, config, shared) for name in special]
    for number in range(shared.steps, len(shared.motifs) * shared.steps):
        t, k = divmod(number, shared.steps)
        motif, steps = shared.motifs[t], f"@{k + 1}" if k else ""
        own = config.replace(motifs=(motif,), steps=1)
        if motif != "edge" and own.self_attention:
            found.append(Probe(f"{motif}{steps}-sum", own.replace(**SUMMED), number))
        found.append(Probe(("gat" if motif == "edge" else motif) + steps, own, number))
    return tuple(found)


def _fits(name: str, shared: MCNConfig) -> bool:
    if name == "counts":
        return shared.features == "given"
    if name == "sage" and shared.batch_size is not None:
        return False  # mini-batches have no weights of their own for a node
    return name == "mlp" or ("edge" in shared.motifs and shared.self_attention)


def _special(name: str, config: MCNConfig, shared: MCNConfig) -> Probe:
    """Return a special case with the settings of `config`, as far as they do not make it one."""
    own = config.replace(**SPECIAL[name])
    (motif,) = own.motifs
    return Probe(name, own, shared.motifs.index(motif) * shared.steps)
