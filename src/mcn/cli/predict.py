"""`mcn predict`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from mcn.cli._options import DataRoot, Graph, Json, Nodes, check_writable, read_input


def run(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")],
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the table here (.csv); to standard output if not given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict the classes of nodes with a trained network: its own graph, or another one.

    Another graph must have the same feature columns.

    Example: mcn predict runs/mine --graph new-edges.csv --nodes new-nodes.csv --out predictions.csv
    """
    check_writable(out, ".csv")
    from mcn._files import atomic_write
    from mcn.train import load_run
    from mcn.train.run import predictions_csv

    trained = load_run(folder)
    if graph is not None:
        data, _ = read_input(None, graph, nodes, data_root, default="")
    else:
        data = _own_data(trained.source, data_root)
    own = trained.predict(data)
    if data.get("classes") != trained.classes and graph is not None:
        # Labels of another graph may name other classes: show ours, and no truth to compare with.
        data.classes, data.y = trained.classes, None
    text = predictions_csv(data, own, trained.config.motifs)
    if out is not None:
        with atomic_write(out) as file:
            file.write(text.encode())
    if as_json:
        print(json.dumps({"run": str(folder), "nodes": int(data.num_nodes), "out": None if out is None else str(out)}))
    elif out is None:
        print(text, end="")
    else:
        print(f"{data.num_nodes:,} nodes predicted; written to {out}")


def _own_data(source: dict[str, Any], data_root: Path | None) -> Any:
    graph, nodes = source.get("graph"), source.get("nodes")
    return read_input(
        source.get("dataset"),
        None if graph is None else Path(graph),
        None if nodes is None else Path(nodes),
        data_root,
        default="",
    )[0]
