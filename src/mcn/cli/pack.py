"""`mcn pack`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from mcn.cli._compiling import compile_notice
from mcn.cli._interrupt import resumable
from mcn.cli._options import DATA_OPTIONS, Json, Nodes, add_options, data_given, out_option
from mcn.cli._progress import progress_bar
from mcn.cli._warnings import plain_warnings

_OPTIONS = {
    name: option for name, option in DATA_OPTIONS.items() if name not in ("trust", "structure", "weights")
}


def _with_options(function: Any) -> Any:
    return add_options(function, _OPTIONS, before=("as_json",))


@_with_options
def run(
    edges: Annotated[
        Path, typer.Argument(metavar="EDGES", help="A file of edges; with --check, a packed graph.")
    ],
    nodes: Nodes = None,
    out: Annotated[Path | None, out_option("A new folder for the packed graph.")] = None,
    memory: Annotated[
        str, typer.Option("--memory", help="The buffer for sorting, such as 500MB or 4GB.")
    ] = "1GB",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the interrupted packing in --out.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Read the packed graph EDGES and compare its check sums.")
    ] = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Pack a graph into a folder of memory-mapped arrays, for graphs past this machine's memory.

    Edges are sorted on disk within --memory; nodes, features, labels and split are those of `mcn train` with
    the same files. `mcn train`, `mcn motifs`, `mcn predict` and `mcn check` take the folder as --graph.

    Example: mcn pack edges.csv --nodes nodes.csv --out graph/
    """
    from mcn.store import as_bytes

    buffer = as_bytes(memory, "--memory")
    if check:
        _check(edges, as_json)
        return
    if out is None:
        raise ValueError("--out is missing: a new folder for the packed graph")
    how = data_given(options)
    if isinstance(how.get("split"), str) and "," in how["split"]:
        how["split"] = [name.strip() for name in how["split"].split(",")]
    began = time.perf_counter()
    with plain_warnings(), compile_notice(), resumable(out), progress_bar("packing") as report:
        from mcn.store import pack_graph

        store = pack_graph(edges, nodes, out=out, memory=buffer, resume=resume, progress=report, **how)
    seconds = time.perf_counter() - began
    size = sum(file.stat().st_size for file in store.path.iterdir())
    if as_json:
        content: dict[str, Any] = {
            "nodes": store.num_nodes,
            "edges": store.num_edges,
            "features": store.num_features,
        }
        content |= {"classes": store.classes, "notes": store.about["report"]}
        print(json.dumps({**content, "bytes": size, "seconds": seconds, "out": str(out)}, indent=2))
        return
    for note in store.about["report"]:
        print(f"note: {note}")
    print(f"packed in {seconds:.3g} s: {out}, {size:,} bytes")


def _check(path: Path, as_json: bool) -> None:
    from mcn.store import GraphStore

    store = GraphStore.open(path, verify=True)
    if as_json:
        print(json.dumps({"nodes": store.num_nodes, "edges": store.num_edges, "sound": True}, indent=2))
    else:
        print(f"{path}: {store.num_nodes:,} nodes, {store.num_edges:,} edges; every check sum is right")
