"""`mcn predict`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from mcn.cli._options import (
    DataRoot,
    Graph,
    Json,
    Nodes,
    RunFolder,
    Trust,
    Weights,
    check_input,
    check_writable,
    out_option,
    read_input,
    read_own,
)


def run(
    folder: RunFolder,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    trust: Trust = False,
    weights: Weights = None,
    out: Annotated[
        Path | None,
        out_option("Write the table here (.csv); to standard output if not given."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict the classes of nodes with a trained network: its own graph, or another one.

    Another graph must have the same feature columns. Labels that it has are shown where they name one of
    the classes trained on.

    Example: mcn predict runs/mine --graph new-edges.csv --nodes new-nodes.csv --out predictions.csv
    """
    check_writable(out, ".csv")
    check_input(None, graph, nodes)
    from mcn.data.treatment import unusual_cells
    from mcn.store import GraphStore, node_data
    from mcn.train.fits import too_large
    from mcn.train.predictions import in_classes, prediction_rows, predictions_csv, write_predictions
    from mcn.train.run import load_run

    trained = load_run(folder)
    if graph is not None:
        how: dict[str, Any] = {"treatment": trained.treatment}
        how["weights"] = weights or trained.source.get("weights")
        how["on_disk"] = lambda store: too_large(store) is not None
        how["id"] = trained.source.get("id")
        data, _ = read_input(None, graph, nodes, data_root, default="", **how)
        for note in unusual_cells(getattr(data, "report", None) or []):
            print(f"mcn: note: {note}", file=sys.stderr)
    else:
        data = read_own(folder, trained.source, data_root, trust)
    own = trained.predict(data)
    data = in_classes(node_data(data) if isinstance(data, GraphStore) else data, trained.classes)
    if out is not None:
        write_predictions(out, data, own)
    if as_json:
        content: dict[str, Any] = {
            "run": str(folder),
            "nodes": int(data.num_nodes),
            "out": None if out is None else str(out),
        }
        if out is None:
            content["predictions"] = list(prediction_rows(data, own))
        print(json.dumps(content, indent=2))
    elif out is None:
        print(predictions_csv(data, own), end="")
    else:
        print(f"{data.num_nodes:,} nodes predicted; written to {out}")
