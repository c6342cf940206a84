"""All recipes, ways to train from the settings to the explanation of predictions; a new one is a folder
beside these and a name in this list."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from graphmotifs._messages import did_you_mean, one_of, told
from mcn.train.settings import Setting, Settings, declared

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data

    from mcn.motifs import MotifCounts
    from mcn.store import GraphStore
    from mcn.train.loop import Training
    from mcn.train.predictions import Explained, Predictions
    from mcn.train.problem import Inputs, Memory, Problem
    from mcn.train.tasks import Task


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

        `memory` is what a trained network remembers of its graph; None for the graph to be trained on.

        Raises:
            ValueError: a setting does not fit the graph, or its features are not those of `memory`.
        """
        ...

    def network(
        self, in_channels: int, num_classes: int, config: Any, memory: Memory | None = None
    ) -> torch.nn.Module:
        """Make an untrained network; `config.seed` alone decides its weights.

        `memory` is what a trained network remembers of its graph, where its weights are to be loaded.
        """
        ...

    def trainer(self, problem: Problem, config: Any) -> Training:
        """Start a training run."""
        ...

    def predict(self, model: Any, inputs: Any, task: Task) -> Predictions:
        """Predict all nodes, without randomness."""
        ...

    def explain(self, model: Any, inputs: Any, task: Task) -> Explained:
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


_FOLDERS = ("mcn", "views", "trees", "select")
RECIPES: dict[str, Recipe] = {
    config.recipe: Recipe(config.recipe, title, config, f"mcn.train.{folder}.work")
    for folder in _FOLDERS
    for config, title in importlib.import_module(f"mcn.train.{folder}.config").CONFIGS.items()
}
"""Every recipe by its name; the first one is the default."""


def find_recipe(name: str, what: str = "recipe") -> Recipe:
    """Return the recipe of this name; `what` is how an error calls it.

    Raises:
        ValueError: there is none; says which was probably meant.
    """
    one_of(what, name, RECIPES)
    return RECIPES[name]


def work_of(config: Settings) -> Work:
    """Return the functions of the recipe that a configuration belongs to."""
    return RECIPES[config.recipe].work


def all_settings() -> dict[str, list[tuple[Recipe, Setting]]]:
    """Return the settings of all recipes by name, each with the recipes that have it."""
    settings: dict[str, list[tuple[Recipe, Setting]]] = {}
    for recipe in RECIPES.values():
        for name, setting in declared(recipe.config).items():
            settings.setdefault(name, []).append((recipe, setting))
    return settings


def check_settings(recipe: Recipe, given: dict[str, object]) -> None:
    """Refuse a setting that a recipe lacks.

    Raises:
        ValueError: says which recipes have it, or that none does and which was probably meant.
    """
    everywhere = all_settings()
    for name in given:
        if name not in everywhere:
            raise ValueError(f"unknown setting {told(name)}{did_you_mean(name, everywhere)}")
        having = [owner.name for owner, _ in everywhere[name]]
        if recipe.name not in having:
            raise ValueError(
                f"{name} is a setting of the recipe{'s' if len(having) > 1 else ''} {' and '.join(having)}; "
                f"the recipe {recipe.name} has none of that name"
            )
