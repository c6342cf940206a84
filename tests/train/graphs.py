"""Small graphs to train on, and training them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mcn.data import strong_ties
from mcn.train import RECIPES, Epoch, Predictions, fit, prepare, train
from mcn.train.checkpoint import save_tensors

SMALL: dict[str, Any] = {"hidden": 4, "heads": 2, "max_epochs": 12, "patience": 100}


def small_graph(seed: int = 0, **changes: Any) -> Data:
    """90 nodes of 3 classes; some listen best to triangles, the others to edges."""
    sizes = {"num_nodes": 90, "num_classes": 3, "num_words": 60, "words_per_node": 8}
    return strong_ties(seed, **{**sizes, "train_per_class": 6, "val": 30, "test": 40, **changes})


def drawn_masks(rng: np.random.Generator, nodes: int, *ends: int) -> dict[str, torch.Tensor]:
    """The three masks of a random split; where training and where validation nodes end."""
    place = torch.from_numpy(np.argsort(rng.permutation(nodes)))
    part = torch.bucketize(place, torch.tensor(ends), right=True)
    return {f"{name}_mask": part == number for number, name in enumerate(("train", "val", "test"))}


def settings(recipe: str, **changes: Any) -> Any:
    """The settings of a recipe."""
    return RECIPES[recipe].config(**changes)


def small_config(**changes: Any) -> Any:
    """The settings of a small MCN."""
    return settings("mcn", **{**SMALL, **changes})


def new_trainer(data: Any, config: Any) -> Any:
    return RECIPES[config.recipe].work.trainer(prepare(data, config), config)


def trained(data: Any, config: Any) -> Any:
    trainer = new_trainer(data, config)
    fit(trainer)
    return trainer


def history(trainer: Any) -> list[Epoch]:
    """Train, and return the scores of every epoch."""
    epochs: list[Epoch] = []
    fit(trainer, [lambda _trainer, epoch: epochs.append(epoch)])
    return epochs


def predicted(trainer: Any) -> Predictions:
    """What a trained network says of its own graph."""
    work, problem = RECIPES[trainer.config.recipe].work, trainer.problem
    return work.predict(trainer.model, problem.inputs, problem.task)


def same_tensors(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    """Bit-equal, names included."""
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def same_weights(first: Any, second: Any) -> bool:
    """Whether two trainers, runs or estimators have networks with the same bits."""
    one, other = (getattr(each, "model_", None) or each.model for each in (first, second))
    return same_tensors(dict(one.state_dict()), dict(other.state_dict()))


def with_other_test_labels(data: Data) -> Data:
    """The same graph, the labels of its test nodes in another order."""
    other = data.clone()
    test = other.test_mask.nonzero().squeeze(1)
    other.y[test] = other.y[test].flip(0)
    assert not torch.equal(other.y, data.y)
    return other


class Killed(Exception):
    """Stands for whatever ends a process."""


def train_until_killed(data: Any, config: Any, folder: Path, epochs: int, **more: Any) -> None:
    """Train into a folder: a checkpoint after some epochs, and two epochs later the process ends."""

    def kill(trainer: Any, epoch: Epoch) -> None:
        if epoch.epoch == epochs:  # as the run's own checkpoints, whose clock a short test does not wait for
            save_tensors(folder / "last.safetensors", trainer.tensors(), trainer.state())
        if epoch.epoch == epochs + 2:
            raise Killed

    with pytest.raises(Killed):
        train(data, config, folder, callbacks=[kill], **more)


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Let this process use so many cores; skip the test where there are fewer, or none can be set."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("needs a settable affinity (Linux)")
    cores, threads = os.sched_getaffinity(0), torch.get_num_threads()
    if len(cores) < count:
        pytest.skip(f"needs {count} cores")
    os.sched_setaffinity(0, sorted(cores)[:count])
    torch.set_num_threads(count)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
        torch.set_num_threads(threads)
