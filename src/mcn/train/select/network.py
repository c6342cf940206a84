"""The trained candidates and what was decided between them, as one network."""

from __future__ import annotations

from typing import Any

import torch

from graphmotifs._messages import one_of
from mcn.train.features import check_stored
from mcn.train.problem import Memory
from mcn.train.recipes import work_of
from mcn.train.select.blend import Float
from mcn.train.select.candidates import Candidate
from mcn.train.select.judge import BLEND, ONE
from mcn.train.settings import at_least

MOST_RUNS = 1000
"""Runs of a candidate that are kept at most."""


class Selected(torch.nn.Module):
    """The networks of all candidates, with the temperature and the weight in the blend of each.

    A candidate has a network for each of its runs. They predict together, by the mean of their probabilities
    (`mcn.train.select.work`), which is steadier than any one of them. The seed of a candidate is that of its
    first run. `mode` says what predicts, see `mcn.train.select.judge`. `graph` is the digest of the edges on
    which known labels nearby add to what some candidates predict (`added_<number>`).
    """

    temperatures: torch.Tensor
    shares: torch.Tensor

    def __init__(
        self,
        candidates: list[Candidate],
        networks: list[list[torch.nn.Module]],
        mode: str,
        winner: str,
    ) -> None:
        super().__init__()
        self.candidates, self.mode, self.winner = candidates, mode, winner
        self.graph = ""
        self.networks = torch.nn.ModuleList([torch.nn.ModuleList(runs) for runs in networks])
        count, wide = len(candidates), torch.float64
        self.register_buffer("temperatures", torch.ones(count, dtype=wide))
        self.register_buffer("shares", torch.zeros(count, dtype=wide))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the candidates."""
        return tuple(candidate.name for candidate in self.candidates)

    @property
    def predicting(self) -> list[int]:
        """The numbers of the candidates that have a part in the predictions."""
        if self.mode == BLEND:
            return [number for number, share in enumerate(self.shares.tolist()) if share]
        return [self.names.index(self.winner)]

    def runs_of(self, number: int) -> list[Any]:
        """Return the networks of a candidate, one for each of its runs."""
        runs = self.networks[number]
        assert isinstance(runs, torch.nn.ModuleList)
        return list(runs)

    def set_added(self, added: dict[str, Float], graph: str) -> None:
        """Keep what labels nearby add to candidates on this graph, [N, outputs] by name."""
        self.graph = graph
        for name, values in added.items():
            self.register_buffer(f"added_{self.names.index(name)}", torch.from_numpy(values).float())

    def added(self, number: int, graph: str) -> Float | None:
        """Return what labels nearby add to a candidate; None if nothing does, or on another graph."""
        values: torch.Tensor | None = getattr(self, f"added_{number}", None)
        return None if values is None or graph != self.graph else values.double().numpy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `empty_selected` makes the same networks from."""
        return {
            "mode": self.mode,
            "winner": self.winner,
            "candidates": [
                candidate.to_dict() | {"runs": len(self.runs_of(number))}
                for number, candidate in enumerate(self.candidates)
            ],
            "graph": self.graph,
            "added": {
                name: len(values) for name, values in self.named_buffers(recurse=False) if "added_" in name
            },
        }


def memory_of(name: str, stored: Any, feature_names: list[str] | None = None) -> Memory:
    """Return what a candidate remembers of its graph, from what a run stored for each of them; checked."""
    own = stored[name]
    memory = Memory(at_least(0)("in_channels", own["in_channels"]), feature_names, dict(own["state"]))
    check_stored(memory)
    return memory


def empty_selected(stored: Any, inputs: Any, num_classes: int) -> Selected:
    """Make the untrained networks of plain values (`Selected.to_dict`), and of what the inputs remember.

    Raises:
        ValueError: the values, which may come from a file, are not those of a finished run.
    """
    try:
        candidates = [Candidate.from_dict(values) for values in stored["candidates"]]
        runs = [at_least(1, MOST_RUNS)("runs", values["runs"]) for values in stored["candidates"]]
        if "state_width" in stored:  # of what nodes chose their candidate by
            raise ValueError(
                "a selection by version 0.3.0 or earlier: train again, or read it with that version"
            )
        one_of("mode", stored["mode"], (ONE, BLEND))
        one_of("winner", stored["winner"], [candidate.name for candidate in candidates])
        networks = [
            [
                work_of(candidate.config).network(memory.in_channels, num_classes, candidate.config, memory)
                for _ in range(count)
            ]
            for candidate, count in zip(candidates, runs, strict=True)
            for memory in [memory_of(candidate.name, inputs)]
        ]
        added = {str(name): at_least(0)("added", rows) for name, rows in stored["added"].items()}
        for name in added:
            one_of("added", name, [f"added_{number}" for number in range(len(candidates))])
        graph = str(stored["graph"])
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not the candidates of a finished run ({type(error).__name__}: {error})") from None
    selected = Selected(candidates, networks, stored["mode"], stored["winner"])
    selected.graph = graph
    for name, rows in added.items():
        selected.register_buffer(name, torch.empty(rows, num_classes))
    return selected
