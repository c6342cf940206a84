"""The trained candidates and what was decided between them, as one network."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from mcn._names import one_of
from mcn.train.probes.choose import Chooser, Float
from mcn.train.probes.plan import REFITS, Probe
from mcn.train.recipes import find_recipe, work_of
from mcn.train.settings import at_least

GRAPH, BLEND, NODES, REFIT = "graph", "blend", "nodes", "refit"
"""What predicts: one candidate for all nodes, the same blend of candidates for all, each node's own
candidate, or one network on the rows that nodes chose, in some layer or in all."""

MOST_RUNS = 1000
"""Runs of a candidate that are kept at most."""


class Decision(NamedTuple):
    """How a run ended.

    mode: GRAPH, BLEND, NODES or REFIT. winner: the best candidate for the whole graph. refit: the refitted
    network, one of `mcn.train.probes.plan.REFITS`, where there is one.
    """

    mode: str
    winner: str
    refit: Probe | None = None


class Chosen(torch.nn.Module):
    """The networks of all candidates, temperature and share of each, and the chooser of the nodes.

    A candidate has a network for each of its runs. They predict together, by the mean of their probabilities
    (`mcn.train.probes.work`), which is steadier than any one of them.

    Args:
        probes: the candidates, in order; the seed of each is that of its first run.
        networks: those of each candidate, then the refitted one if there is one.
        decision: what predicts.
        state_width: number of figures in a node's state.
    """

    mean: torch.Tensor
    scale: torch.Tensor
    slopes: torch.Tensor
    intercept: torch.Tensor
    temperatures: torch.Tensor
    shares: torch.Tensor

    def __init__(
        self, probes: list[Probe], networks: list[list[torch.nn.Module]], decision: Decision, state_width: int
    ) -> None:
        super().__init__()
        self.probes, self.decision = probes, decision
        self.networks = torch.nn.ModuleList([torch.nn.ModuleList(runs) for runs in networks])
        count, wide = len(probes), torch.float64
        self.register_buffer("temperatures", torch.ones(len(networks), dtype=wide))
        self.register_buffer("shares", torch.zeros(count, dtype=wide))
        self.register_buffer("mean", torch.zeros(state_width, dtype=wide))
        self.register_buffer("scale", torch.ones(state_width, dtype=wide))
        self.register_buffer("slopes", torch.zeros(state_width, count, dtype=wide))
        self.register_buffer("intercept", torch.zeros(count, dtype=wide))

    @property
    def winner(self) -> int:
        """The number of the best candidate for the whole graph."""
        return [each.name for each in self.probes].index(self.decision.winner)

    @property
    def chooser(self) -> Chooser:
        """What nodes choose by."""
        return Chooser(*(getattr(self, name).numpy() for name in Chooser._fields))

    def set_chooser(self, chooser: Chooser) -> None:
        """Let nodes choose by this."""
        for name, value in zip(Chooser._fields, chooser, strict=True):
            getattr(self, name).copy_(torch.from_numpy(np.asarray(value)))

    def choices(self, state: Float) -> NDArray[np.int64]:
        """Return the number of every node's candidate."""
        if self.decision.mode == GRAPH:
            return np.full(len(state), self.winner)
        return self.chooser.choose(state)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `empty` makes the same networks from."""
        mode, winner, refit = self.decision
        several: Any = self.networks
        return {
            "mode": mode,
            "winner": winner,
            "candidates": [
                _plain(each) | {"runs": len(runs)}
                for each, runs in zip(self.probes, several, strict=False)  # the refitted one is not of them
            ],
            "refit": None if refit is None else _plain(refit),
            "state_width": len(self.mean),
        }


def empty(stored: Any, in_channels: Any, num_classes: int) -> Chosen:
    """Make the untrained networks of stored plain values; `in_channels` of every network in order.

    Raises:
        ValueError: the values, which may come from a file, are not those of a finished run.
    """
    try:
        return _empty(stored, in_channels, num_classes)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not the candidates of a finished run ({type(error).__name__}: {error})") from None


def _empty(stored: Any, in_channels: Any, num_classes: int) -> Chosen:
    probes = [_probe(each) for each in stored["candidates"]]
    refit = None if stored["refit"] is None else _probe(stored["refit"])
    all_ = [*probes, *([] if refit is None else [refit])]
    runs = [at_least(1, MOST_RUNS)("runs", each["runs"]) for each in stored["candidates"]]
    networks = [
        [work_of(each.config).network(width, num_classes, each.config) for _ in range(count)]
        for each, width, count in zip(all_, in_channels, [*runs, 1][: len(all_)], strict=True)
    ]
    one_of("mode", stored["mode"], (GRAPH, BLEND, NODES, REFIT))
    one_of("winner", stored["winner"], [each.name for each in probes])
    if (stored["mode"] == REFIT) != (refit is not None):
        raise ValueError("a refitted network is there if and only if the mode is refit")
    if refit is not None:
        one_of("refit", refit.name, REFITS)
    return Chosen(
        probes, networks, Decision(stored["mode"], stored["winner"], refit), int(stored["state_width"])
    )


def _plain(probe: Probe) -> dict[str, Any]:
    settings = probe.config.to_dict()
    return {"name": probe.name, "recipe": probe.config.recipe, "option": probe.option, "settings": settings}


def _probe(stored: dict[str, Any]) -> Probe:
    kind = find_recipe(stored["recipe"]).config
    return Probe(stored["name"], kind.from_dict(stored["settings"]), stored["option"])
