"""The ways to train: a network whose nodes choose motifs, by our rule or the paper's, or motif views."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from torch_geometric.data import Data

from mcn.motifs import MotifCounts
from mcn.nn import MCN, MotifViews
from mcn.train._settings import one_of
from mcn.train.config import Config
from mcn.train.evaluate import Predictions, predict
from mcn.train.fit import BaseTrainer, Trainer, build_model, make_network
from mcn.train.methods import dataset_config
from mcn.train.problem import Problem, prepare
from mcn.train.views_config import ViewsConfig
from mcn.train.views_fit import ViewsTrainer, make_views_network, predict_views, views_trainer
from mcn.train.views_problem import ViewsProblem, prepare_views

AnyConfig = Config | ViewsConfig
RECIPES = {
    "mcn": "every node chooses its motif and step; the choices must earn their place on validation nodes",
    "paper": "every node chooses its motif and step, trained by the paper's rule to the letter",
    "views": "a perceptron on features mixed along motif random walks, its views made to agree",
}
"""The recipes, each in a sentence."""
VIEWS_SETTINGS: dict[str, dict[str, object]] = {
    "citeseer": {
        "order": 2,
        "smooth": True,
        "whole": True,
        "input_dropout": 0.0,
        "dropout": 0.2,
        "consistency": 2.0,
        "ramp": 200,
        "temperature": 0.3,
        "weight_decay": 0.0005,
        "average": 0.0,
        "max_epochs": 60,
        "patience": 30,
    },
    "pubmed": {
        "order": 6,
        "alpha": 0.5,
        "top": 16,
        "symmetric": False,
        "num_layers": 1,
        "input_dropout": 0.2,
        "batch_norm": True,
        "row_norm": True,
        "batch": 5,
        "consistency": 1.0,
        "sure": 2.0,
        "weight_decay": 0.01,
        "clip": 0.1,
        "average": 0.95,
        "max_epochs": 500,
        "stopping": "accuracy",
    },
}
"""Where a data set's validation nodes preferred other settings of the views than the defaults."""


def best_recipe(dataset: str | None) -> str:
    """The recipe to use unless told otherwise: what did best on the data set's validation nodes."""
    return "views" if dataset in ("cora", *VIEWS_SETTINGS) else "mcn"


def recipe_config(recipe: str, dataset: str | None, **changes: Any) -> AnyConfig:
    """The configuration of a recipe for a data set (by name, or None for a graph of one's own), changed."""
    one_of("recipe", recipe, tuple(RECIPES))
    if recipe == "views":
        return ViewsConfig.from_dict(VIEWS_SETTINGS.get(dataset or "", {}) | changes)
    return dataset_config(dataset, **({"attention": "paper"} if recipe == "paper" else {}) | changes)


def settings_of(recipe: str) -> list[str]:
    """The names of a recipe's settings."""
    return [field.name for field in fields(ViewsConfig if recipe == "views" else Config)]


def recipe_of(config: AnyConfig) -> str:
    """The name of a configuration's recipe."""
    if isinstance(config, ViewsConfig):
        return "views"
    return "paper" if config.attention == "paper" else "mcn"


def config_from(settings: dict[str, Any], recipe: str = "mcn") -> AnyConfig:
    """The configuration of a recipe from plain values."""
    one_of("recipe", recipe, tuple(RECIPES))
    return ViewsConfig.from_dict(settings) if recipe == "views" else Config.from_dict(settings)


def prepare_any(data: Data, config: AnyConfig, counts: MotifCounts | None = None) -> Problem | ViewsProblem:
    """Check a graph and make it ready for the recipe.

    Raises:
        ValueError: says what of `data` cannot be trained on, or which setting does not fit.
    """
    if isinstance(config, ViewsConfig):
        return prepare_views(data, config, counts)
    return prepare(data, config, counts)


def make_trainer(problem: Problem | ViewsProblem, config: AnyConfig) -> BaseTrainer:
    """A fresh training run."""
    if isinstance(config, ViewsConfig):
        assert isinstance(problem, ViewsProblem)
        return views_trainer(problem, config)
    assert isinstance(problem, Problem)
    return Trainer(build_model(problem, config), problem, config)


def predict_trained(trainer: BaseTrainer) -> Predictions:
    """What a trained network says of the nodes it was trained on."""
    p = trainer.problem
    if isinstance(trainer, ViewsTrainer):
        return predict_views(trainer.model, p.x, p.rows)
    return predict(trainer.model, p.x, p.stack)


def network_of(in_channels: int, num_classes: int, config: AnyConfig) -> MCN | MotifViews:
    """An untrained network of a configuration, to load weights into."""
    if isinstance(config, ViewsConfig):
        return make_views_network(in_channels, num_classes, config)
    return make_network(in_channels, num_classes, config)
