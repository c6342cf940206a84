"""Baselines on one graph, over several seeds, in rows like those of `mcn.train.compare`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.baselines.registry import baseline
from mcn.baselines.task import Task, task_from_data
from mcn.train import accuracy_on_test, result_row


def run(
    names: str | Sequence[str],
    data: Data,
    seeds: Sequence[int],
    dataset: str | None = None,
    progress: Callable[[float], Any] | None = None,
) -> list[dict[str, Any]]:
    """One row per baseline (see `mcn.train.result_row`); test labels are read once per finished run.

    Args:
        names: of one or more registered baselines.
        data: the graph.
        seeds: one run for each.
        dataset: name of the data set, for methods whose reference settings differ between them.
        progress: told how far it is, between 0 and 1.

    Raises:
        ValueError: an unknown name, a graph that cannot be trained on, or a method that returns no scores.
    """
    unique = list(dict.fromkeys([names] if isinstance(names, str) else names))
    for name in unique:
        baseline(name)  # an unknown name is said before any work
    task = task_from_data(data, dataset)
    rows = []
    for i, name in enumerate(unique):
        test, val, seconds = [], [], []
        for j, seed in enumerate(seeds):
            began = time.perf_counter()
            own = scores(name, task, seed)
            seconds.append(time.perf_counter() - began)
            val.append(task.val_accuracy(own))
            test.append(accuracy_on_test(data, np.asarray(own.argmax(1), np.int64)))
            if progress is not None:
                progress((i + (j + 1) / len(seeds)) / len(unique))
        rows.append(result_row(name, test, val, seeds, seconds))
    return rows


def scores(name: str, task: Task, seed: int) -> NDArray[np.float32]:
    """The class scores [N, C] that a baseline gives, checked.

    Raises:
        ValueError: there is no baseline of this name, or it returned no scores.
    """
    own = np.asarray(baseline(name)(task, seed))
    expected = (task.num_nodes, task.num_classes)
    if own.shape != expected:
        raise ValueError(f"baseline {name!r} returned scores of shape {own.shape}; expected {expected}")
    if not np.isfinite(own).all():
        raise ValueError(f"baseline {name!r} returned scores that are not finite; expected numbers")
    return own
