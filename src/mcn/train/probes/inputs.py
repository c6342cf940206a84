"""What the candidates take from a graph: one motif stack and one matrix of features for all of them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.matrices import MotifStack
from mcn.motifs import MotifCounts
from mcn.train.mcn.config import MCNConfig
from mcn.train.mcn.work import StackInputs, stack_inputs
from mcn.train.probes.choose import Float, structure
from mcn.train.probes.network import Chosen
from mcn.train.probes.plan import Probe, by_layer
from mcn.train.problem import Known, Memory
from mcn.train.recipes import work_of


@dataclass(eq=False)
class ProbesInputs:
    """A graph, from which the inputs of each candidate are made when they are first needed.

    model: the trained network, once there is one; `state` is what it remembers of the graph.
    """

    data: Data
    counts: MotifCounts
    config: MCNConfig
    memory: Memory | None = None
    model: Chosen | None = None
    _made: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def whole(self) -> StackInputs:
        """The features, and the stack with every option of the candidates."""
        return stack_inputs(self.data, self.config, self.counts, self.memory)

    @property
    def stack(self) -> MotifStack:
        """The stack with every option of the candidates."""
        return self.whole.stack

    @property
    def in_channels(self) -> int:
        """Number of input features."""
        return self.whole.in_channels

    @cached_property
    def node_state(self) -> Float:
        """The state that nodes choose by, [N, state]."""
        return structure(self.counts.per_node)

    def of(self, probe: Probe) -> Any:
        """Return the inputs of a candidate: the same for all its seeds, and for all on the same rows."""
        own = probe.config
        if isinstance(own, MCNConfig):
            key: Any = probe.option, own.features
            if key not in self._made:
                self._made[key] = self._part(own, probe.option)
        else:
            key = probe.name
            if key not in self._made:
                memory = self.memory
                if memory is not None:
                    memory = memory._replace(state=memory.state["own"][probe.name])
                self._made[key] = work_of(own).inputs(self.data, own, self.counts, memory)
        return self._made[key]

    def chosen(self, probe: Probe, options: NDArray[np.int64]) -> StackInputs:
        """Return the inputs of one of `REFITS`, on the rows that nodes chose."""
        assert isinstance(probe.config, MCNConfig)
        return self._part(probe.config, by_layer(probe, options, probe.config.num_layers))

    def _part(self, config: MCNConfig, choice: Any) -> StackInputs:
        stack = self.stack.fixed(choice)
        x = torch.from_numpy(stack.node_counts) if config.features == "motifs" else self.whole.x
        return dataclasses.replace(self.whole, x=x, stack=stack)

    def state(self) -> dict[str, Any]:
        """Return the decision, the candidates with their settings, and what their inputs remember."""
        assert self.model is not None
        own = {each.name: self.of(each).state() for each in self.model.probes if each.option is None}
        wide = [self.of(each).in_channels for each in self.model.probes]
        if self.model.decision.refit is not None:
            wide.append(self.whole.in_channels)
        return {**self.whole.state(), "chosen": self.model.to_dict(), "widths": wide, "own": own}

    def fingerprint(self, known: Known) -> str:
        """Return the SHA-256 of edges, features and what is known of the classes."""
        return self.whole.fingerprint(known)
