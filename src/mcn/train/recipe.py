"""What a recipe is: a way to train, from its settings to the explanation of its predictions."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data

    from mcn.motifs import MotifCounts
    from mcn.store import GraphStore
    from mcn.train.loop import Training
    from mcn.train.predictions import Explained, Predictions
    from mcn.train.problem import Inputs, Memory, Problem
    from mcn.train.settings import Settings


class Work(Protocol):
    """The functions that the module of a recipe has; `Recipe` calls them by the same names."""

    def inputs(
        self,
        data: Data | GraphStore,
        config: Any,
        counts: MotifCounts | None = None,
        memory: Memory | None = None,
    ) -> Inputs:
        """Make what the network takes from a graph: its features, and its matrices.

        Args:
            counts: the motif counts of `data`, if they are known already.
            memory: what a trained network remembers of its graph; None for the graph to be trained on.

        Raises:
            ValueError: a setting does not fit the graph, or its features are not those of `memory`.
        """
        ...

    def network(
        self, in_channels: int, num_classes: int, config: Any, memory: Memory | None = None
    ) -> torch.nn.Module:
        """Make an untrained network; `config.seed` alone decides its weights.

        Args:
            memory: what a trained network remembers of its graph, where its weights are to be loaded.
        """
        ...

    def trainer(self, problem: Problem, config: Any) -> Training:
        """Start a training run."""
        ...

    def predict(self, model: Any, inputs: Any) -> Predictions:
        """Predict all nodes, without randomness."""
        ...

    def explain(self, model: Any, inputs: Any) -> Explained:
        """Say what each node listens to, what else it could have, and what would have been predicted."""
        ...


@dataclass(frozen=True)
class Recipe:
    """A way to train; the module with its functions is loaded when one of them is first called.

    Attributes:
        name: what users call it.
        title: one sentence.
        config: the class of its settings.
        home: the module that has the functions of `Work`.
    """

    name: str
    title: str
    config: type[Settings]
    home: str

    @property
    def work(self) -> Work:
        """The functions of the recipe."""
        return cast(Work, importlib.import_module(self.home))
