"""`mcn motifs`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from mcn.cli._compiling import compile_notice
from mcn.cli._options import DataRoot, Dataset, Graph, Json, Threads, check_input, check_writable, out_option
from mcn.cli._progress import progress_bar


def run(
    dataset: Dataset = None,
    graph: Graph = None,
    data_root: DataRoot = None,
    motifs: Annotated[
        str | None, typer.Option("--motifs", help="Show only these, separated by commas; all if not given.")
    ] = None,
    out: Annotated[Path | None, out_option("Save the counts to this .npz file.")] = None,
    induced: Annotated[
        bool, typer.Option("--induced/--all-subgraphs", help="Count induced subgraphs only, or all.")
    ] = True,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Count the motifs of a graph: every connected graphlet on 2 to 4 nodes, exactly.

    Prints, per motif and edge orbit, the instances in the graph and the edges and nodes they touch.

    Example: mcn motifs --graph edges.csv --out counts.npz
    """
    check_writable(out, ".npz")
    shown = _shown(motifs)
    with compile_notice():
        check_input(dataset, graph, None)

        from mcn.data.bare import bare_dataset, bare_graph
        from mcn.motifs import count_motifs

        name = ("karate" if dataset is None else dataset) if graph is None else str(graph)
        bare = bare_dataset(name, data_root) if graph is None else bare_graph(graph)

        began = time.perf_counter()
        with progress_bar("counting motifs") as report:
            counts = count_motifs(
                bare.graph.pairs.T, bare.graph.num_nodes, induced=induced, threads=threads, progress=report
            )
        seconds = time.perf_counter() - began
        totals = [line for line in counts.totals() if line.orbit in shown]
    if out is not None:
        counts.save(out)

    notes = _notes(bare.report)
    if as_json:
        content: dict[str, Any] = {
            "graph": name,
            "nodes": counts.num_nodes,
            "edges": counts.num_edges,
            "induced": induced,
            "seconds": seconds,
            "notes": notes,
            "orbits": [line._asdict() for line in totals],
            "out": None if out is None else str(out),
        }
        print(json.dumps(content, indent=2))
        return
    _print_table(name, counts.num_nodes, counts.num_edges, totals, induced)
    for note in notes:
        print(f"note: {note}")
    saved = f"; saved to {out}" if out else ""
    print(f"counted in {seconds:.3g} s{saved}")


def _shown(motifs: str | None) -> set[str]:
    """The edge orbits that motif names stand for."""
    from mcn.motifs.catalogue import EDGE_ORBITS, orbit_weights

    if motifs is None:
        return set(EDGE_ORBITS)
    names = [name.strip() for name in motifs.split(",") if name.strip()]
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


def _print_table(name: str, nodes: int, edges: int, totals: list[Any], induced: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    kind = "induced" if induced else "all"
    table = Table(
        title=Text(f"{name}: {nodes:,} nodes, {edges:,} edges ({kind} subgraphs)"), title_justify="left"
    )
    table.add_column("motif")
    table.add_column("instances", justify="right")
    table.add_column("edge orbit")
    table.add_column("on edges", justify="right")
    table.add_column("edges touched", justify="right")
    table.add_column("nodes touched", justify="right")
    last = ""
    for line in totals:
        first = line.graphlet != last
        last = line.graphlet
        table.add_row(
            line.graphlet if first else "",
            f"{line.instances:,}" if first else "",
            line.orbit,
            f"{line.per_edge:,}",
            f"{line.edges:,}",
            f"{line.nodes:,}",
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(table)
