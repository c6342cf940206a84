"""Several methods on one graph, over several seeds, by one protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch_geometric.data import Data

from mcn.motifs import count_motifs
from mcn.train.config import Config
from mcn.train.evaluate import accuracy_on_test, predict
from mcn.train.fit import Trainer, build_model, fit
from mcn.train.methods import configure
from mcn.train.problem import prepare


def compare(
    data: Data,
    base: Config,
    methods: Sequence[str],
    seeds: Sequence[int],
    progress: Callable[[float], Any] | None = None,
) -> list[dict[str, Any]]:
    """One row per method (see `result_row`); `base` is the configuration that each method changes."""
    configs = [(method, configure(method, base)) for method in dict.fromkeys(methods)]
    counts = count_motifs(data.edge_index, data.num_nodes)
    rows = []
    for i, (method, config) in enumerate(configs):
        test, val, seconds = [], [], []
        problem = prepare(data, config, counts)
        for j, seed in enumerate(seeds):
            trainer = Trainer(build_model(problem, config.but(seed=seed)), problem, config.but(seed=seed))
            result = fit(trainer)
            val.append(result.val_accuracy)
            seconds.append(result.seconds)
            test.append(accuracy_on_test(data, predict(trainer.model, problem.x, problem.stack).labels))
            if progress is not None:
                progress((i + (j + 1) / len(seeds)) / len(configs))
        rows.append(result_row(method, test, val, seeds, seconds))
    return rows


def result_row(
    method: str,
    test: Sequence[float | None],
    val: Sequence[float],
    seeds: Sequence[int],
    seconds: Sequence[float],
) -> dict[str, Any]:
    """Accuracies in percent over the seeds, with their mean and standard deviation, and the time per run.

    Without test nodes (None) there are no test figures: an empty list, and None for mean and deviation.
    """
    percent = [100 * accuracy for accuracy in test if accuracy is not None]
    return {
        "method": method,
        "test_mean": float(np.mean(percent)) if percent else None,
        "test_std": float(np.std(percent)) if percent else None,
        "val_mean": float(np.mean(val)) * 100,
        "test": percent,
        "seeds": list(seeds),
        "seconds_per_run": float(np.mean(seconds)),
    }
