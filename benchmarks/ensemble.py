"""The alternative that the paper dismisses: one GCN per motif matrix. Its settings, and what an epoch costs.

    python benchmarks/ensemble.py --data-root DATA [--datasets cora,…] [--seeds 3] [--stages tune,cost]
        [--sizes gcn-ensemble,gcn-ensemble-6,…]

`tune` tries every setting of a small grid on every size of the ensemble (K·T = 2, 6, 10, 15) and prints the
one with the highest mean accuracy on validation nodes, as lines for `published.yaml`; test labels are not
read. `cost` times an epoch (a step and a look at the validation nodes) of the ensemble and of the paper's
network with the same motifs and steps, in turn, on one thread of the processor, and prints their ratio.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import mcn
from mcn.baselines.gcn_ensemble import LARGER, PLAIN, USUAL, ensemble_scores, motif_products
from mcn.baselines.task import Task, task_from_data
from mcn.train import prepare
from mcn.train.loop import one_torch_thread
from mcn.train.presets import dataset_config
from mcn.train.recipes import work_of

GRID: dict[str, tuple[Any, ...]] = {"hidden": (16, 64), "dropout": (0.5, 0.8), "decay": (0.0005, 0.005)}
EPOCHS, TURNS = 20, 5


def sizes(task: Task, chosen: list[str]) -> dict[str, dict[str, Any]]:
    """Motifs and steps of these ensembles; of the smallest, those of the paper's best network."""
    smallest = USUAL | {k: v for k, v in task.published("gcn-ensemble").items() if k in USUAL}
    every = {"gcn-ensemble": smallest} | {
        name: {"motifs": motifs, "steps": steps} for name, (motifs, steps) in LARGER.items()
    }
    return {name: every[name] for name in chosen}


def tune(task: Task, dataset: str, seeds: int, chosen: list[str]) -> None:
    """Print the best setting of each size by validation accuracy, and how much settings matter."""
    for name, what in sizes(task, chosen).items():
        found = []
        products = motif_products(task, **what)
        for values in itertools.product(*GRID.values()):
            setting = dict(zip(GRID, values, strict=True))
            runs = [task.val_accuracy(ensemble_scores(task, s, products, **setting)) for s in range(seeds)]
            found.append((float(np.mean(runs)), setting))
        best, setting = max(found, key=lambda pair: pair[0])
        usual = next(mean for mean, each in found if each == PLAIN)
        words = ", ".join(f"{key}: {value}" for key, value in setting.items())
        print(
            f"{name} {dataset}: {{{words}}}  # validation {100 * best:.1f}, {100 * usual:.1f} as GCN",
            flush=True,
        )


def cost(task: Task, data: Any, dataset: str, chosen: list[str]) -> None:
    """Print milliseconds of an epoch of the ensemble and of the paper's network, and their ratio."""
    for name, what in sizes(task, chosen).items():
        setting = {key: value for key, value in (PLAIN | task.published(name)).items() if key not in what}
        products = motif_products(task, **what)
        config = dataset_config("paper", dataset).replace(
            motifs=tuple(what["motifs"]), steps=what["steps"], max_epochs=10**6, patience=10**6
        )
        ours: list[float] = []
        theirs: list[float] = []
        with one_torch_thread():
            trainer = work_of(config).trainer(prepare(data, config), config)
            trainer.run_epoch()
            for _ in range(TURNS):
                began = time.process_time()
                for _ in range(EPOCHS):
                    trainer.run_epoch()
                ours.append((time.process_time() - began) / EPOCHS)
                theirs.append(_epoch_of_ensemble(task, products, setting))
        mine, other = (1000 * statistics.median(times) for times in (ours, theirs))
        number = len(what["motifs"]) * what["steps"]
        print(
            f"{dataset}, K·T = {number}: ensemble {other:.1f} ms, mcn-paper {mine:.1f} ms, "
            f"ratio {other / mine:.2f}",
            flush=True,
        )


def _epoch_of_ensemble(task: Task, products: list[Any], setting: dict[str, Any]) -> float:
    """Seconds of one epoch: of a run with more epochs less one with few, so that preparing cancels."""
    spent = []
    for epochs in (2, 2 + EPOCHS):
        began = time.process_time()
        ensemble_scores(task, 0, products, **setting, max_epochs=epochs, patience=10**6)
        spent.append(time.process_time() - began)
    return (spent[1] - spent[0]) / EPOCHS


def main() -> None:
    """Both stages for every data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-root", type=Path, required=True)
    parser.add_argument("--datasets", default="cora,citeseer,pubmed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--stages", default="tune,cost")
    parser.add_argument("--sizes", default=",".join(("gcn-ensemble", *LARGER)))
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = options.sizes.split(",")
    for dataset in options.datasets.split(","):
        data = mcn.data.load_dataset(dataset, root=options.data_root)
        task = task_from_data(data, dataset)
        if "tune" in options.stages:
            tune(task, dataset, options.seeds, chosen)
        if "cost" in options.stages:
            cost(task, data, dataset, chosen)


if __name__ == "__main__":
    main()
