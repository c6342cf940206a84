"""The recipe `auto` at work: inputs made when a candidate needs them, the candidates' trainers in turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch_geometric.data import Data

from mcn._names import one_of
from mcn.motifs import MotifCounts, count_motifs
from mcn.train.auto.config import CANDIDATES, AutoConfig
from mcn.train.auto.trainer import AutoTrainer, Winner
from mcn.train.explained import Explained
from mcn.train.features import features, structure
from mcn.train.predictions import Predictions
from mcn.train.problem import Inputs, Known, Memory, Problem, fingerprint, input_weights
from mcn.train.recipes import work_of
from mcn.train.settings import Settings


@dataclass(eq=False)
class AutoInputs:
    """A graph, from which each candidate's inputs are made when they are first needed.

    winner: the configuration that was kept, once that is known.
    """

    data: Data
    counts: MotifCounts
    memory: Memory | None = None
    winner: Settings | None = None
    _made: dict[Settings, Inputs] = field(default_factory=dict)

    @property
    def in_channels(self) -> int:
        """Number of input features of the winner, or of the graph before there is one."""
        return int(self.data.x.shape[1]) if self.winner is None else self.of(self.winner).in_channels

    def of(self, config: Settings) -> Any:
        """Return the inputs of a candidate; the same for all its seeds."""
        key = config.replace(seed=0)
        if key not in self._made:
            memory = self._candidate_memory()
            self._made[key] = work_of(config).inputs(self.data, config, self.counts, memory)
        return self._made[key]

    def _candidate_memory(self) -> Memory | None:
        """What the winner remembers of the graph it was trained on, once that is known."""
        if self.memory is None:
            return None
        return self.memory._replace(state=self.memory.state["winner_state"])

    def state(self) -> dict[str, Any]:
        """Return which candidate won, its settings, and what its inputs remember."""
        assert self.winner is not None
        name = next(name for name, (kind, _) in CANDIDATES.items() if kind is type(self.winner))
        return {
            "winner_kind": name,
            "winner_settings": self.winner.to_dict(),
            "winner_state": self.of(self.winner).state(),
        }

    def fingerprint(self, known: Known) -> str:
        """Return the SHA-256 of edges, features and what is known of the classes."""
        edges = self.counts.adjacency("edge")
        memory = self._candidate_memory()
        weights = input_weights(self.data, memory)
        own = fingerprint(features(self.data.x, False), edges.indptr, edges.indices, known, weights)
        added = structure(self.data) == "add" if memory is None else "structure_scale" in memory.state
        return f"{own} with structure" if added else own


def inputs(
    data: Data, config: AutoConfig, counts: MotifCounts | None = None, memory: Memory | None = None
) -> AutoInputs:
    """Hold the graph; a trained network's winner is known from its memory."""
    if counts is None:
        counts = count_motifs(data.edge_index, data.num_nodes)
    return AutoInputs(data, counts, memory, None if memory is None else _winner(memory))


def _winner(memory: Memory) -> Settings:
    """Return the settings of the candidate that won.

    Raises:
        ValueError: the memory, which may come from a file, does not state them.
    """
    one_of("winner_kind", memory.state.get("winner_kind"), CANDIDATES)
    kind, _ = CANDIDATES[memory.state["winner_kind"]]
    for name in ("winner_settings", "winner_state"):
        if not isinstance(memory.state.get(name), dict):
            raise ValueError(f"{name} must be a mapping of names to values")
    return kind.from_dict(memory.state["winner_settings"])


def network(
    in_channels: int, num_classes: int, config: AutoConfig, memory: Memory | None = None
) -> torch.nn.Module:
    """Make the network of the candidate that won."""
    assert memory is not None
    own = _winner(memory)
    inner = memory._replace(state=memory.state["winner_state"])
    return Winner(work_of(own).network(in_channels, num_classes, own, inner), own)


def trainer(problem: Problem, config: AutoConfig) -> AutoTrainer:
    """Start with the first candidate."""
    return AutoTrainer(None, problem, config)


def predict(model: Winner, inputs: AutoInputs) -> Predictions:
    """Predict all nodes with the candidate that won."""
    return work_of(model.config).predict(model.network, inputs.of(model.config))


def explain(model: Winner, inputs: AutoInputs) -> Explained:
    """Explain the candidate that won."""
    return work_of(model.config).explain(model.network, inputs.of(model.config))
