"""`mcn motifs`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from mcn._names import one_of
from mcn.cli._compiling import compile_notice
from mcn.cli._interrupt import resumable
from mcn.cli._options import DataRoot, Dataset, Graph, Json, Threads, check_input, check_writable, out_option
from mcn.cli._progress import progress_bar


def run(
    dataset: Dataset = None,
    graph: Graph = None,
    data_root: DataRoot = None,
    motifs: Annotated[
        str | None,
        typer.Option("--motifs", help="Count only these, separated by commas; all if not given."),
    ] = None,
    out: Annotated[
        Path | None,
        out_option("Save the counts to this .npz file; for a packed graph, to a folder (it may be its own)."),
    ] = None,
    induced: Annotated[
        bool, typer.Option("--induced/--all-subgraphs", help="Count induced subgraphs only, or all.")
    ] = True,
    threads: Threads = None,
    engine: Annotated[
        str, typer.Option("--engine", help="local: this machine's cores; ray: a Ray cluster.")
    ] = "local",
    address: Annotated[
        str | None, typer.Option("--address", help="For --engine ray: a running cluster, such as auto.")
    ] = None,
    memory: Annotated[
        str, typer.Option("--memory", help="With a folder as --out: the buffer, such as 500MB or 4GB.")
    ] = "1GB",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted count into the folder --out.")
    ] = False,
    approximate: Annotated[
        float | None,
        typer.Option(
            "--approximate", help="Estimate the totals by sampling, with intervals of this share: 0.01."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count the motifs of a graph: every connected graphlet on 2 to 4 nodes, exactly.

    Prints, per motif and edge orbit, the instances in the graph and the edges and nodes they touch.

    Example: mcn motifs --graph edges.csv --out counts.npz
    """
    from mcn.motifs.count import ENGINES
    from mcn.store.manifest import is_store
    from mcn.store.size import as_bytes

    one_of("--engine", engine, ENGINES)
    packed = graph is not None and is_store(graph.expanduser())
    on_disk = out is not None and packed and out.suffix != ".npz"
    if not on_disk:
        check_writable(out, ".npz")
    if approximate is not None and out is not None:
        raise ValueError("--approximate gives totals alone: there are no counts to save to --out")
    names, shown, buffer = _names(motifs), _shown(motifs), as_bytes(memory, "--memory")
    how: dict[str, Any] = {"motifs": names, "induced": induced}
    exact: dict[str, Any] = {"threads": threads, "engine": engine, "address": address}
    with compile_notice():
        source, nodes, report, name = _read(dataset, graph, data_root, packed)

        from mcn.motifs import count_motifs

        began = time.perf_counter()
        content: dict[str, Any] = {"graph": name, "induced": induced, "notes": _notes(report)}
        with progress_bar("counting motifs") as bar:
            if approximate is not None:
                found = count_motifs(source, nodes, approximate=approximate, **how)
                lines = [line._asdict() for line in found.totals()]
                content |= {"nodes": found.num_nodes, "edges": found.num_edges, "samples": found.samples}
            elif on_disk:
                folder = Path(str(out)).expanduser()
                with resumable(folder):
                    lines = _on_disk(
                        source, folder, resume, how | exact | {"memory": buffer, "progress": bar}
                    )
                content |= {"nodes": source.num_nodes, "edges": source.num_edges}
            else:
                counts = count_motifs(source, nodes, progress=bar, **how, **exact)
                lines = [line._asdict() for line in counts.totals() if line.orbit in shown]
                content |= {"nodes": counts.num_nodes, "edges": counts.num_edges}
        content |= {"seconds": time.perf_counter() - began, "orbits": lines}
    if out is not None and not on_disk:
        counts.save(out)
    content["out"] = None if out is None else str(out)
    if as_json:
        print(json.dumps(content, indent=2))
        return
    _print_table(content)
    for note in content["notes"]:
        print(f"note: {note}")
    if approximate is not None:
        print("estimates by sampling; low and high bound them 19 times out of 20")
    saved = f"; saved to {out}" if out else ""
    print(f"counted in {content['seconds']:.3g} s{saved}")


def _read(
    dataset: str | None, graph: Path | None, data_root: Path | None, packed: bool
) -> tuple[Any, int | None, list[str], str]:
    """What to count in, its number of nodes if that is not known, notes, and what to call it."""
    check_input(dataset, graph, None)
    if packed:
        from mcn.store import GraphStore

        store = GraphStore.open(str(graph))
        return store, None, [str(line) for line in store.about.get("report", [])], str(graph)
    from mcn.data import load_dataset_edges, load_edges

    name = ("karate" if dataset is None else dataset) if graph is None else str(graph)
    edges = load_dataset_edges(name, data_root) if graph is None else load_edges(graph)
    return edges.graph.pairs.T, edges.graph.num_nodes, edges.report, name


def _on_disk(store: Any, folder: Path, resume: bool, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Count a packed graph into a folder; a line per motif, from a pass over its counts."""
    import shutil

    from mcn.motifs import count_motifs
    from mcn.motifs.on_disk import SCRATCH
    from mcn.motifs.to_store import summed

    if not resume:
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    counts = count_motifs(store, out=folder, **given)
    return [{"graphlet": name, **summed(store, values)} for name, values in counts.items()]


def _names(motifs: str | None) -> list[str] | None:
    return None if motifs is None else [name.strip() for name in motifs.split(",") if name.strip()]


def _shown(motifs: str | None) -> set[str]:
    """The edge orbits that motif names stand for."""
    from mcn.motifs.catalogue import EDGE_ORBITS, orbit_weights

    names = _names(motifs)
    if names is None:
        return set(EDGE_ORBITS)
    return {
        orbit for name in names for orbit, part in zip(EDGE_ORBITS, orbit_weights(name), strict=True) if part
    }


def _notes(report: list[str]) -> list[str]:
    """What a loader did to the edges; features, labels and splits play no part in counting."""
    size, *others = report
    made_simple = [size] if "(" in size else []
    return made_simple + [
        line for line in others if not line.startswith(("features:", "labels:", "split:", "no labels"))
    ]


_COLUMNS = {
    "graphlet": "motif",
    "instances": "instances",
    "low": "low",
    "high": "high",
    "orbit": "edge orbit",
    "per_edge": "on edges",
    "edges": "edges touched",
    "nodes": "nodes touched",
}


def _print_table(content: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    kind = "induced" if content["induced"] else "all"
    title = f"{content['graph']}: {content['nodes']:,} nodes, {content['edges']:,} edges ({kind} subgraphs)"
    table = Table(title=Text(title), title_justify="left")
    lines = content["orbits"]
    columns = [name for name in _COLUMNS if lines and name in lines[0]]
    for name in columns:
        table.add_column(_COLUMNS[name], justify="left" if name in ("graphlet", "orbit") else "right")
    last = ""
    for line in lines:
        repeated = line["graphlet"] == last
        last = line["graphlet"]
        cells = [
            "" if repeated and name in ("graphlet", "instances") else _cell(line[name]) for name in columns
        ]
        table.add_row(*cells)
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(table)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,.0f}"
