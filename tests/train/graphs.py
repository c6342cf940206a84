"""Small graphs to train on, and training them."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric.data import Data

from mcn.data import strong_ties
from mcn.train import MCNConfig, Predictions, fit, prepare
from mcn.train.loop import Trainer
from mcn.train.recipes import work_of
from mcn.train.settings import Settings

SMALL: dict[str, Any] = {"hidden": 4, "heads": 2, "max_epochs": 12, "patience": 100}


def small_graph(seed: int = 0, **changes: Any) -> Data:
    """90 nodes of 3 classes; some listen best to triangles, the others to edges."""
    sizes = {"num_nodes": 90, "num_classes": 3, "num_words": 60, "words_per_node": 8}
    return strong_ties(seed, **{**sizes, "train_per_class": 6, "val": 30, "test": 40, **changes})


def small_config(**changes: Any) -> MCNConfig:
    """A network that trains in one go; `probed`, which trains several, has tests of its own."""
    return MCNConfig(**{**SMALL, "attention": "gated", **changes})


def new_trainer(data: Data, config: Settings) -> Trainer:
    return work_of(config).trainer(prepare(data, config), config)


def trained(data: Data, config: Settings) -> Trainer:
    trainer = new_trainer(data, config)
    fit(trainer)
    return trainer


def predicted(trainer: Trainer) -> Predictions:
    """What a trained network says of its own graph."""
    return work_of(trainer.config).predict(trainer.model, trainer.problem.inputs)


def same_tensors(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    """Bit-equal, names included."""
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)
