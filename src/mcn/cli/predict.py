"""`mcn predict`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from mcn.cli import _options as options
from mcn.cli._terminal import visible


def run(
    folder: options.RunFolder,
    graph: options.Graph = None,
    nodes: options.Nodes = None,
    data_root: options.DataRoot = None,
    trust: options.Trust = False,
    weights: options.Weights = None,
    out: Annotated[
        Path | None,
        options.out_option("Write the table here (.csv); to standard output if not given."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Predict the nodes of a graph with a trained network: its own graph, or another one.

    Another graph must have the same feature columns. Labels that it has are shown where they name one of
    the classes trained on.

    Example: mcn predict runs/mine --graph new-edges.csv --nodes new-nodes.csv --out predictions.csv
    """
    options.check_writable(out, ".csv")
    options.check_input(None, graph, nodes)
    from mcn.data.treatment import unusual_cells
    from mcn.store import GraphStore, node_data
    from mcn.train.predictions import in_classes, prediction_rows, predictions_csv, write_predictions
    from mcn.train.problem import graph_changes
    from mcn.train.run import Run

    trained = Run.load(folder)
    data = options.read_for_run(trained, graph, nodes, data_root, trust, weights)
    for note in unusual_cells(getattr(data, "report", None) or []) if graph is not None else ():
        print(f"mcn: note: {note}", file=sys.stderr)
    used = trained.inputs(data).facts()
    if graph is not None and (before := trained.summary.get("graph")):
        changes = graph_changes(before, used, {"graph": graph, "nodes": nodes}, when="")
        if changes and not as_json:
            print(f"mcn: note: another graph than the run was trained on: {changes}", file=sys.stderr)
    predictions = trained.predict(data)
    data = in_classes(node_data(data) if isinstance(data, GraphStore) else data, trained.classes)
    if out is not None:
        write_predictions(out, data, predictions)
    if as_json:
        content: dict[str, Any] = {"run": str(folder), "nodes": int(data.num_nodes)}
        content["graph"] = {"source": trained.source if graph is None else {"graph": str(graph)}, **used}
        content["out"] = None if out is None else str(out)
        if out is None:
            content["predictions"] = list(prediction_rows(data, predictions))
        print(json.dumps(content, indent=2))
    elif out is None:
        table = predictions_csv(data, predictions)
        print(visible(table) if sys.stdout.isatty() else table, end="")
    else:
        print(f"the predictions of {data.num_nodes:,} nodes are in {out}")
