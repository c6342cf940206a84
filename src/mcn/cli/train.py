"""`mcn train`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mcn.cli._options import DataRoot, Dataset, Graph, Json, Nodes, read_input
from mcn.cli._progress import progress_bar
from mcn.cli._settings import (
    Attention,
    Dropout,
    Heads,
    Hidden,
    Layers,
    Lr,
    MaxEpochs,
    Motifs,
    Patience,
    Psi,
    Seed,
    Steps,
    Stopping,
    WeightDecay,
    configured,
)

EMBEDDED = "strong-ties"


def run(
    dataset: Dataset = None,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    motifs: Motifs = None,
    steps: Steps = None,
    psi: Psi = None,
    attention: Attention = None,
    hidden: Hidden = None,
    heads: Heads = None,
    layers: Layers = None,
    dropout: Dropout = None,
    lr: Lr = None,
    weight_decay: WeightDecay = None,
    max_epochs: MaxEpochs = None,
    patience: Patience = None,
    stopping: Stopping = None,
    seed: Seed = 0,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many runs, each with a seed of its own.")] = 1,
    beside: Annotated[
        str | None,
        typer.Option("--beside", help="Methods to train for comparison, such as gat,gcn; none to leave it."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the run; runs/NAME if not given.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    as_json: Json = False,
) -> None:
    """Train a motif convolutional network to classify the nodes of a graph.

    Without arguments: the embedded graph `strong-ties`, beside GAT and GCN.

    Example: mcn train --graph edges.csv --nodes nodes.csv --motifs edge,triangle --out runs/mine
    """
    if resume and out is None:
        raise ValueError("--resume needs --out: the folder of the run to go on with")
    data, name = read_input(dataset, graph, nodes, data_root, default=EMBEDDED)
    config = configured(
        None if graph else name,
        motifs,
        layers,
        steps=steps,
        psi=psi,
        attention=attention,
        hidden=hidden,
        heads=heads,
        dropout=dropout,
        lr=lr,
        weight_decay=weight_decay,
        max_epochs=max_epochs,
        patience=patience,
        stopping=stopping,
    )
    others = _methods(beside, default=("gat", "gcn") if dataset is None and graph is None else ())
    source = {
        "dataset": None if graph else name,
        "graph": None if graph is None else str(graph.resolve()),
        "nodes": None if nodes is None else str(nodes.resolve()),
    }
    folder = out or _free_folder(Path("runs"), Path(name).stem if graph else name)

    from mcn.motifs import count_motifs
    from mcn.train import compare, train_run

    counts = count_motifs(data.edge_index, data.num_nodes)
    numbers = list(range(seed, seed + seeds))
    folders = [folder if seeds == 1 else folder / f"seed-{s}" for s in numbers]
    summaries = []
    try:
        with progress_bar("training") as report:
            for i, (s, target) in enumerate(zip(numbers, folders, strict=True)):
                summaries.append(
                    train_run(
                        target,
                        data,
                        config.but(seed=s),
                        source,
                        counts=counts,
                        resume=resume,
                        progress=lambda f, i=i: report((i + f) / seeds),  # type: ignore[misc]
                    )
                )
        with progress_bar(" and ".join(others)) as report:
            rows = compare(data, config, others, numbers, report) if others else []
    except KeyboardInterrupt as error:
        words = [w for w in sys.argv[1:] if w not in ("--resume",)]
        again = words if out else [*words, "--out", str(folder)]
        raise KeyboardInterrupt(
            f"{error or 'interrupted'}; go on with: mcn {shlex.join([*again, '--resume'])}"
        ) from None

    result = _result(name, summaries, rows, numbers, folder, config.to_dict())
    print(json.dumps(result, indent=2)) if as_json else _print(result, data, summaries)


def _methods(beside: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    from mcn.train import METHODS
    from mcn.train.config import one_of

    if beside is None:
        return default
    names = tuple(n.strip() for n in beside.split(",") if n.strip() and n.strip() != "none")
    for n in names:
        one_of("--beside", n, METHODS)
    return names


def _free_folder(parent: Path, name: str) -> Path:
    number = 1
    while (folder := parent / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return folder


def _result(
    name: str, summaries: list[dict[str, Any]], rows: list[dict[str, Any]], seeds: list[int], folder: Path, config: Any
) -> dict[str, Any]:
    import numpy as np

    test = [100 * s["test_accuracy"] for s in summaries if s["test_accuracy"] is not None]
    val = [100 * s["val_accuracy"] for s in summaries]
    own = {
        "method": "mcn",
        "test_mean": float(np.mean(test)) if test else None,
        "test_std": float(np.std(test)) if test else None,
        "val_mean": float(np.mean(val)),
        "test": test,
        "seeds": seeds,
        "seconds_per_run": float(np.mean([s["seconds"] for s in summaries])),
    }
    return {
        "dataset": name,
        "protocol": summaries[0]["protocol"],
        "rows": [own, *rows],
        "motif_share": summaries[0]["motif_share"],
        "config": config,
        "out": str(folder),
    }


def _print(result: dict[str, Any], data: Any, summaries: list[dict[str, Any]]) -> None:
    from mcn.cli._tables import print_methods

    for note in getattr(data, "report", None) or []:
        print(f"note: {note}")
    print_methods(result["dataset"], result["rows"])
    print(f"protocol: {result['protocol']}")
    for layer, shares in enumerate(result["motif_share"], 1):
        line = ", ".join(f"{share:.0%} {choice}" for choice, share in shares.items())
        print(f"layer {layer} listens to: {line}")
    print(f"files: {result['out']}")
