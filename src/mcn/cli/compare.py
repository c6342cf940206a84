"""`mcn compare`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from mcn.cli._compiling import compile_notice
from mcn.cli._options import DataRoot, Dataset, Graph, Json, Nodes, read_input
from mcn.cli._progress import progress_bar
from mcn.cli._settings import (
    Attention,
    Dropout,
    Lr,
    MaxEpochs,
    Motifs,
    Normalize,
    Patience,
    Psi,
    Seed,
    Steps,
    Stopping,
    WeightDecay,
    configured,
)
from mcn.cli._warnings import plain_warnings


def run(
    dataset: Dataset = None,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    methods: Annotated[
        str, typer.Option("--methods", help="Methods to compare: mcn, gat, gcn, mlp.")
    ] = "mcn,gat,gcn,mlp",
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Runs per method, each with a seed of its own.")
    ] = 5,
    motifs: Motifs = None,
    steps: Steps = None,
    psi: Psi = None,
    attention: Attention = None,
    dropout: Dropout = None,
    lr: Lr = None,
    weight_decay: WeightDecay = None,
    max_epochs: MaxEpochs = None,
    patience: Patience = None,
    stopping: Stopping = None,
    normalize: Normalize = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Compare methods on one graph: the same split, the same protocol, paired seeds.

    Example: mcn compare --dataset cora --methods mcn,gat --seeds 15
    """
    names = _methods(methods)
    with plain_warnings(), compile_notice():
        data, title = read_input(dataset, graph, nodes, data_root, default="strong-ties")
        config = configured(
            None if graph else title,
            motifs,
            None,
            steps=steps,
            psi=psi,
            attention=attention,
            dropout=dropout,
            lr=lr,
            weight_decay=weight_decay,
            max_epochs=max_epochs,
            patience=patience,
            stopping=stopping,
            normalize=normalize,
        )
        from mcn.train import compare, protocol

        with progress_bar("comparing") as report:
            rows = compare(data, config, names, range(seed, seed + seeds), report)
    how = protocol(data, config)
    if as_json:
        print(json.dumps({"dataset": title, "protocol": how, "rows": rows}, indent=2))
        return
    from mcn.cli._tables import print_methods

    for note in getattr(data, "report", None) or []:
        print(f"note: {note}")
    print_methods(title, rows)
    print(f"protocol: {how}; mean ± standard deviation over {seeds} seeds")


def _methods(text: str) -> list[str]:
    from mcn.train import METHODS
    from mcn.train.config import one_of

    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError("--methods names no method")
    for name in names:
        one_of("--methods", name, METHODS)
    return names
