"""What mini-batches cost in accuracy beside the full batch: the same seeds, differences in pairs.

    python benchmarks/sampled.py [--graphs cora,pubmed,planted] [--seeds 5] [--nodes 50000] [--json ROWS]

The same network (edge and triangle, the rule `gated`) is trained in full batches and in mini-batches from the
same seeds; the test nodes are read once per run. `planted` is the block model of `mcn.data.generators` with
weak features, so that a node's own ones are not enough: beside the two stands the same network without the
graph (every node's only neighbour is itself), trained once per seed, which says what the neighbourhood is
worth. Rows in --json are not made again.

The difference is the mean over the seeds of sampled − full; its standard error is that of the differences.
What `benchmarks/scale.py` measures is time and memory.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from random_graphs import PlantedGraph
from torch_geometric.data import Data

import mcn
from mcn.train import RECIPES, fit, prepare
from mcn.train.predictions import accuracy_on_test
from mcn.train.recipes import work_of

MCNConfig: Any = RECIPES["mcn"].config

USUAL: dict[str, Any] = {"attention": "gated", "consistency": 0.0, "motifs": ("edge", "triangle")}
SIZES = {"cora": 64, "pubmed": 32, "planted": 512}
PLANTED: dict[str, Any] = {"dropout": 0.2, "weight_decay": 0.0, "patience": 10, "max_epochs": 200}
ALONE: dict[str, Any] = {"motifs": ("self",), "motif_attention": False, "attention": "paper"}


def planted(nodes: int, labelled: float, signal: float) -> Data:
    """The block model with five edges per node, as a graph in memory."""
    graph = PlantedGraph(nodes, 5 * nodes, labelled=labelled, signal=signal, seed=1)
    pieces = np.concatenate(list(graph.edges()), axis=1)
    x = torch.from_numpy(np.concatenate(list(graph.x())))
    masks = {name: torch.from_numpy(mask) for name, mask in graph.masks().items()}
    both = torch.from_numpy(np.concatenate([pieces, pieces[::-1]], axis=1).astype(np.int64))
    both = torch.unique(both[:, both[0] != both[1]], dim=1)
    return Data(x=x, y=torch.from_numpy(graph.y), edge_index=both, num_nodes=nodes, **masks)


def settings(name: str, how: str, seed: int, lr: float, neighbours: int) -> Any:
    own = {**USUAL, **(PLANTED | {"lr": lr} if name == "planted" else {}), "seed": seed}
    if how == "sampled":
        own |= {"batch_size": SIZES[name], "neighbours": (neighbours, neighbours)}
    return MCNConfig(**{**own, **(ALONE if how == "alone" else {})})


def train(data: Data, counts: mcn.MotifCounts, config: Any) -> dict[str, Any]:
    problem = prepare(data, config, counts)
    trainer = work_of(config).trainer(problem, config)
    result = fit(trainer)
    own = work_of(config).predict(trainer.model, problem.inputs, problem.task)
    return {
        "test": accuracy_on_test(data, own.labels),
        "val": result.val_accuracy,
        "epochs": result.epochs,
        "seconds": result.seconds,
    }


def kept_rows(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def runs(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """All runs of a graph; those that are kept already are not made again."""

    def kind(how: str) -> dict[str, Any]:
        own = {
            "nodes": options.nodes,
            "labelled": options.labelled,
            "signal": options.signal,
            "lr": options.lr,
        }
        more = {"neighbours": options.neighbours} if how == "sampled" else {}
        return {"graph": name, **(own if name == "planted" else {}), **more, "how": how}

    rows = [row for row in kept_rows(options.json) if kind(row["how"]).items() <= row.items()]
    done = {(row["how"], row["seed"]) for row in rows}
    ways = options.only or (("full", "sampled", "alone") if name == "planted" else ("full", "sampled"))
    missing = [(how, seed) for seed in range(options.seeds) for how in ways if (how, seed) not in done]
    if not missing:
        return rows
    if name == "planted":
        data = planted(options.nodes, options.labelled, options.signal)
    else:
        data = mcn.load_dataset(name, root=options.data_root)
    counts = mcn.count_motifs(data.edge_index, data.num_nodes)
    for how, seed in missing:
        made = train(data, counts, settings(name, how, seed, options.lr, options.neighbours))
        row = {**kind(how), "seed": seed, **made}
        rows.append(row)
        if options.json is not None:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    return rows


def with_error(values: np.ndarray[Any, Any], sign: str = "") -> str:
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{values.mean():{sign}.2f} ± {error:.2f}"


def report(name: str, rows: list[dict[str, Any]], seeds: int) -> None:
    found = {(row["how"], row["seed"]): row for row in rows}
    own = {how: [found[how, seed] for seed in range(seeds)] for how in dict.fromkeys(r["how"] for r in rows)}
    test = {how: 100 * np.array([row["test"] for row in each]) for how, each in own.items()}
    epochs = "/".join(f"{np.mean([row['epochs'] for row in own[how]]):.0f}" for how in ("full", "sampled"))
    alone = with_error(test["alone"]) if "alone" in test else "–"
    print(
        f"{name:9s}{seeds:>6d}{with_error(test['full']):>16s}{with_error(test['sampled']):>16s}"
        f"{with_error(test['sampled'] - test['full'], '+'):>16s}{alone:>16s}{epochs:>10s}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", default="cora,pubmed,planted")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=50_000, help="of the planted graph")
    parser.add_argument("--labelled", type=float, default=0.02, help="share to train on, and to validate on")
    parser.add_argument("--signal", type=float, default=1.0, help="how much a node's own features say")
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate on the planted graph")
    parser.add_argument("--neighbours", type=int, default=10, help="that a node draws in each layer")
    parser.add_argument(
        "--only", nargs="+", choices=["full", "sampled", "alone"], help="make these runs, no table"
    )
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--json", type=Path, help="append the runs to this file, and read it first")
    options = parser.parse_args()
    heads = ("full", "sampled", "difference", "no graph")
    print(f"{'graph':9s}{'seeds':>6s}{''.join(f'{head:>16s}' for head in heads)}{'epochs':>10s}")
    for name in options.graphs.split(","):
        rows = runs(name, options)
        if not options.only:
            report(name, rows, options.seeds)


if __name__ == "__main__":
    main()
