"""`mcn pack`."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from mcn.cli import _options as options
from mcn.cli._terminal import compile_notice, notable, plain_warnings, print_facts, print_notes, progress_bar

_NOT_PACKED = ("trust", "weights", "directed")
_OPTIONS = {name: option for name, option in options.DATA_OPTIONS.items() if name not in _NOT_PACKED}


@partial(options.add_options, options=_OPTIONS, before=("as_json",))
def run(
    edges: Annotated[
        Path, typer.Argument(metavar="EDGES", help="A file of edges; with --check, a packed graph.")
    ],
    nodes: options.Nodes = None,
    out: Annotated[Path | None, options.out_option("A new folder for the packed graph.")] = None,
    memory: options.Memory = "1GB",
    check: Annotated[
        bool, typer.Option("--check", help="Read the packed graph EDGES and compare its check sums.")
    ] = False,
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    **given: Any,
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
    how = options.loader_options(options.data_given(given))
    began = time.perf_counter()
    with plain_warnings(), compile_notice(), progress_bar("packing") as report:
        from mcn.store import pack_graph

        store = pack_graph(edges, nodes, out=out, memory=buffer, progress=report, **how)
    seconds = time.perf_counter() - began
    size = sum(file.stat().st_size for file in store.path.iterdir())
    sizes = {"nodes": store.num_nodes, "edges": store.num_edges, "features": store.num_features}
    notes = store.about["report"]
    if as_json:
        content = {**sizes, "classes": store.classes, "notes": notes, "bytes": size, "seconds": seconds}
        print(json.dumps({**content, "out": str(out)}, indent=2))
        return
    print_facts(str(out), {name: f"{number:,}" for name, number in {**sizes, "bytes": size}.items()})
    print_notes(notes if verbose else notable(notes))
    print(f"packed in {seconds:.3g} s")


def _check(path: Path, as_json: bool) -> None:
    from mcn.store import GraphStore

    store = GraphStore.open(path, verify=True)
    if as_json:
        print(json.dumps({"nodes": store.num_nodes, "edges": store.num_edges, "sound": True}, indent=2))
    else:
        print(f"{path}: every check sum is right")
