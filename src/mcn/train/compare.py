"""Several methods on one graph, over several seeds, by one protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch_geometric.data import Data

from mcn.motifs import count_motifs
from mcn.train.config import Config
from mcn.train.evaluate import predict, accuracy_on_test
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
    """One row per method: test and validation accuracy in percent over the seeds, and the time per run."""
    configs = {method: configure(method, base) for method in methods}
    counts = count_motifs(data.edge_index, data.num_nodes)
    rows = []
    for i, (method, config) in enumerate(configs.items()):
        test, val = [], []
        began = time.perf_counter()
        problem = prepare(data, config, counts)
        for j, seed in enumerate(seeds):
            trainer = Trainer(build_model(problem, config.but(seed=seed)), problem, config.but(seed=seed))
            val.append(100 * fit(trainer).val_accuracy)
            accuracy = accuracy_on_test(data, predict(trainer.model, problem.x, problem.stack).labels)
            if accuracy is None:
                raise ValueError("data.test_mask is empty: there is nothing to compare on")
            test.append(100 * accuracy)
            if progress is not None:
                progress((i + (j + 1) / len(seeds)) / len(methods))
        rows.append(
            {
                "method": method,
                "test_mean": float(np.mean(test)),
                "test_std": float(np.std(test)),
                "val_mean": float(np.mean(val)),
                "test": test,
                "seeds": list(seeds),
                "seconds_per_run": (time.perf_counter() - began) / len(seeds),
            }
        )
    return rows
