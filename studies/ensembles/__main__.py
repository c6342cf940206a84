"""Settings of the ensembles by validation nodes, and what an epoch of them costs.

    python -m studies.ensembles --data-root DATA [--datasets cora,…] [--seeds 3] [--stages tune,cost]
        [--sizes gcn-ensemble,gcn-ensemble-6,…]

`tune` tries every setting of a small grid on every size of the ensemble (K·T = 2, 6, 10, 15) and prints the
one with the highest mean accuracy on validation nodes, as it stands in `TUNED`; test labels are not read.
`cost` times an epoch (a step and a look at the validation nodes) of the ensemble and of the paper's network
with the same motifs and steps, in turn, on one thread of the processor, and prints their ratio.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

import mcn
from mcn.experiments import METHODS, graph_problem, val_accuracy
from mcn.train import RECIPES, Problem, prepare
from studies.ensembles import PLAIN, SIZES, ensemble_scores, motif_products, settings_of

GRID: dict[str, tuple[Any, ...]] = {"hidden": (16, 64), "dropout": (0.5, 0.8), "decay": (0.0005, 0.005)}


def tune(problem: Problem, name: str, seeds: int, **budget: Any) -> tuple[dict[str, Any], float, float]:
    """Return the best setting by validation accuracy, that accuracy, and that of GCN's setting."""
    size = {key: settings_of(name, problem.inputs.dataset)[key] for key in SIZES[name]}
    products = motif_products(problem, **size)
    found = []
    for values in itertools.product(*GRID.values()):
        setting = dict(zip(GRID, values, strict=True))
        runs = [
            val_accuracy(problem, ensemble_scores(problem, seed, products, **setting, **budget))
            for seed in range(seeds)
        ]
        found.append((float(np.mean(runs)), setting))
    best, setting = max(found, key=lambda pair: pair[0])
    return setting, best, next(mean for mean, tried in found if tried == PLAIN)


def cost(problem: Problem, data: Any, name: str, epochs: int = 20, turns: int = 5) -> tuple[float, float]:
    """Return the milliseconds of an epoch of the ensemble, and of the paper's network."""
    settings = settings_of(name, problem.inputs.dataset)
    size = {key: settings.pop(key) for key in SIZES[name]}
    products = motif_products(problem, **size)
    endless = {"max_epochs": 10**6, "patience": 10**6}
    config = METHODS["paper"].configure(problem.inputs.dataset, size | endless, {})
    assert config is not None
    trainer = RECIPES["paper"].work.trainer(prepare(data, config), config)
    trainer.run_epoch()
    paper: list[float] = []
    ensemble: list[float] = []
    for _ in range(turns):
        began = time.process_time()
        for _ in range(epochs):
            trainer.run_epoch()
        paper.append((time.process_time() - began) / epochs)
        # A run with more epochs less one with few, so that preparing cancels.
        spent = []
        for number in (2, 2 + epochs):
            began = time.process_time()
            ensemble_scores(problem, 0, products, **settings, max_epochs=number, patience=10**6)
            spent.append(time.process_time() - began)
        ensemble.append((spent[1] - spent[0]) / epochs)
    return 1000 * statistics.median(ensemble), 1000 * statistics.median(paper)


def main(arguments: Sequence[str] | None = None) -> None:
    """Both stages for every data set."""
    parser = argparse.ArgumentParser(prog="python -m studies.ensembles", description=__doc__)
    parser.add_argument("--data-root", help="folder to look for data sets in first")
    parser.add_argument("--datasets", default="cora,citeseer,pubmed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--stages", default="tune,cost")
    parser.add_argument("--sizes", default=",".join(SIZES))
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for dataset, name in itertools.product(given.datasets.split(","), given.sizes.split(",")):
        data = mcn.load_dataset(dataset, root=given.data_root)
        problem = graph_problem(data, dataset)
        if "tune" in given.stages:
            setting, best, usual = tune(problem, name, given.seeds)
            print(
                f'("{name}", "{dataset}"): {setting}, validation {best:.1%}, {usual:.1%} as GCN', flush=True
            )
        if "cost" in given.stages:
            ensemble, paper = cost(problem, data, name)
            print(
                f"{dataset}, {name}: {ensemble:.1f} ms an epoch, mcn-paper {paper:.1f} ms, "
                f"ratio {ensemble / paper:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
