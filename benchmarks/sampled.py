"""What mini-batches cost in accuracy, and save in time and memory, beside the full batch.

    python benchmarks/sampled.py accuracy [--graphs cora,pubmed,planted] [--seeds 5] [--nodes 1000000]
    python benchmarks/sampled.py epoch [--nodes 830000] [--edges 10000000]

`accuracy` trains the same network (edge and triangle, the rule `gated`) in full batches and in mini-batches
from the same seeds, and prints the test accuracies with the difference in its standard errors. `planted` is
the block model of `mcn.data.streams`. `epoch` times one epoch of each, validation included, in a process of
its own, with the peak of its memory.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scale import peak
from torch_geometric.data import Data

import mcn
from mcn.data.streams import PlantedGraph
from mcn.train import MCNConfig, fit, prepare
from mcn.train.loop import one_torch_thread
from mcn.train.predictions import accuracy_on_test
from mcn.train.recipes import work_of

USUAL: dict[str, Any] = {"attention": "gated", "consistency": 0.0, "motifs": ("edge", "triangle")}
SIZES = {"cora": 64, "pubmed": 32, "planted": 512}
LARGE: dict[str, Any] = {"lr": 0.01, "dropout": 0.2, "weight_decay": 0.0, "patience": 10, "max_epochs": 200}


def planted(nodes: int, edges: int, labelled: float) -> Data:
    graph = PlantedGraph(nodes, edges, labelled=labelled, seed=1)
    pieces = np.concatenate(list(graph.edges()), axis=1)
    x = torch.from_numpy(np.concatenate(list(graph.x())))
    masks = {name: torch.from_numpy(mask) for name, mask in graph.masks().items()}
    both = torch.from_numpy(np.concatenate([pieces, pieces[::-1]], axis=1).astype(np.int64))
    both = torch.unique(both[:, both[0] != both[1]], dim=1)
    return Data(x=x, y=torch.from_numpy(graph.y), edge_index=both, num_nodes=nodes, **masks)


def train(data: Data, counts: mcn.MotifCounts, config: MCNConfig) -> dict[str, Any]:
    problem = prepare(data, config, counts)
    trainer = work_of(config).trainer(problem, config)
    result = fit(trainer)
    own = work_of(config).predict(trainer.model, problem.inputs)
    accuracy = accuracy_on_test(data, own.labels)
    return {"test": accuracy, "epochs": result.epochs, "seconds": result.seconds}


def accuracy(options: argparse.Namespace) -> None:
    print(
        f"{'graph':10s}{'nodes':>11s}{'full':>14s}{'sampled':>14s}{'difference':>16s}{'s.e.':>7s}{'epochs':>12s}"
    )
    for name in options.graphs.split(","):
        own = dict(LARGE) if name == "planted" else {}
        if name == "planted":
            data = planted(options.nodes, options.edges, options.labelled)
        else:
            data = mcn.load_dataset(name, root=options.data_root)
        counts = mcn.count_motifs(data.edge_index, data.num_nodes)
        found: dict[str, list[dict[str, Any]]] = {"full": [], "sampled": []}
        for seed in range(options.seeds):
            for how, size in (("full", None), ("sampled", SIZES[name])):
                config = MCNConfig(**{**USUAL, **own}, seed=seed, batch_size=size, neighbours=(10, 10))
                row = train(data, counts, config)
                found[how].append(row)
                shown = json.dumps({"graph": name, "how": how, "seed": seed, **row})
                print(shown, file=sys.stderr, flush=True)
        full, sampled = (100 * np.array([row["test"] for row in found[how]]) for how in found)
        gap = sampled.mean() - full.mean()
        count = max(2, options.seeds)
        error = math.sqrt((full.var(ddof=1) + sampled.var(ddof=1)) / count) if options.seeds > 1 else math.nan
        epochs = "/".join(f"{np.mean([row['epochs'] for row in rows]):.0f}" for rows in found.values())
        means = (f"{each.mean():.2f} ± {each.std(ddof=1) / math.sqrt(count):.2f}" for each in (full, sampled))
        print(f"{name:10s}{data.num_nodes:>11,}", *(f"{each:>13s}" for each in means), end="")
        print(f"{gap:>+15.2f} {abs(gap) / error:>6.2f}{epochs:>12s}", flush=True)


def one_epoch(options: argparse.Namespace) -> None:
    """In a process of its own: the graph from its store, an epoch of one kind."""
    store = mcn.GraphStore.open(options.store)
    sampled = options.how == "sampled"
    batch: dict[str, Any] = {"batch_size": 1024, "neighbours": (10, 10)} if sampled else {}
    config = MCNConfig(**{**USUAL, **LARGE, **batch})
    began = time.perf_counter()
    if sampled:
        problem = prepare(store, config)
    else:
        data = store.to_data()
        problem = prepare(data, config, mcn.count_motifs(store, motifs=("edge", "triangle")))
    trainer = work_of(config).trainer(problem, config)
    prepared = time.perf_counter() - began
    seconds = []
    with one_torch_thread():
        for _ in range(options.epochs):
            began = time.perf_counter()
            trainer.run_epoch()
            seconds.append(time.perf_counter() - began)
    print(json.dumps({"prepare": prepared, "epoch": min(seconds), "peak": peak()}))


def epoch(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=options.folder) as own:
        path = Path(own) / "graph"
        graph = PlantedGraph(options.nodes, options.edges, labelled=options.labelled, seed=1)
        names = [str(number) for number in range(graph.num_classes)]
        store = mcn.GraphStore.write(
            path, graph.edges(), graph.num_nodes, x=graph.x(), y=graph.y, classes=names, **graph.masks()
        )
        mcn.count_motifs(store, motifs=["edge", "triangle"], out=path)
        print(f"{store.num_nodes:,} nodes, {store.num_edges:,} edges, {options.labelled:.0%} to train on")
        found = {}
        for how in ("full", "sampled"):
            command = [sys.executable, __file__, "one-epoch", "--store", str(path), "--how", how]
            command += ["--epochs", str(options.epochs)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{how}: {done.stderr.strip()}")
            row = found[how] = json.loads(done.stdout.splitlines()[-1])
            print(f"{how:8s} prepared in {row['prepare']:7.1f} s, an epoch {row['epoch']:7.1f} s, "
                  f"peak {row['peak'] / 1e9:5.2f} GB", flush=True)  # fmt: skip
        ratios = (found["full"][name] / found["sampled"][name] for name in ("epoch", "peak"))
        print("full / sampled: {:.2f} in time, {:.2f} in memory".format(*ratios))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("accuracy", "epoch", "one-epoch"))
    parser.add_argument("--graphs", default="cora,pubmed,planted")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--labelled", type=float, default=0.1)
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--folder", type=Path, help="where the store of `epoch` is made")
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("--how", help=argparse.SUPPRESS)
    options = parser.parse_args()
    {"accuracy": accuracy, "epoch": epoch, "one-epoch": one_epoch}[options.what](options)


if __name__ == "__main__":
    main()
