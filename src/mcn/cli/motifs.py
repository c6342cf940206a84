"""`mcn motifs`."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from graphmotifs._messages import one_of
from mcn.cli import _options as options
from mcn.cli._terminal import compile_notice, notable, print_notes, print_table, progress_bar

_FILES = (".npz", ".csv", ".parquet")
_NOT_COUNTED = ("features:", "labels:", "split:", "no labels")  # notes on what plays no part in counting


def run(
    dataset: options.Dataset = None,
    graph: options.Graph = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    data_root: options.DataRoot = None,
    motifs: Annotated[
        str | None,
        typer.Option("--motifs", help="Count only these, separated by commas; all if not given."),
    ] = None,
    out: Annotated[
        Path | None,
        options.out_option(
            "Save the counts: a .csv or .parquet table with a row per edge, or an .npz file for "
            "MotifCounts.load; for a packed graph also to a folder (it may be its own)."
        ),
    ] = None,
    induced: Annotated[
        bool, typer.Option("--induced/--all-subgraphs", help="Count induced subgraphs only, or all.")
    ] = True,
    threads: options.Threads = None,
    engine: options.Engine = "local",
    address: options.Address = None,
    memory: options.Memory = "1GB",
    approximate: Annotated[
        float | None,
        typer.Option(
            "--approximate", help="Estimate the totals by sampling, with intervals of this share: 0.01."
        ),
    ] = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Edges are arcs from source to target: count the 13 triads.")
    ] = False,
    significance: Annotated[
        bool, typer.Option("--significance", help="Compare with random graphs that have the same degrees.")
    ] = False,
    samples: Annotated[int, typer.Option(min=2, help="For --significance: how many of these.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="For --significance: decides them.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the profile of --significance, to a .pdf, .svg or .png.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Count the motifs of a graph: every connected graphlet on 2 to 4 nodes, or every triad, exactly.

    Prints, per motif and edge orbit, the instances in the graph and the edges and nodes they touch.

    Example: mcn motifs --graph edges.csv --directed --significance
    """
    from graphmotifs.counting import ENGINES
    from mcn._composition import check_composition
    from mcn.store import as_bytes, is_store

    one_of("--engine", engine, ENGINES)
    packed = graph is not None and is_store(graph.expanduser())
    on_disk = out is not None and packed and out.suffix not in _FILES
    if out is not None and not on_disk:
        options.check_writable(out, out.suffix if out.suffix in _FILES else ", ".join(_FILES))
    asked = {"direction": directed and "--directed", "significance": significance and "--significance"}
    if plot:
        asked["significance"] = "--plot"
    check_composition(asked | {"a packed graph": packed and f"the packed graph {graph}"})
    if directed and graph is None and dataset is None:
        raise ValueError("--directed needs arcs: give --graph, or --dataset chameleon-filtered")
    if directed and out is not None and out.suffix == ".npz":
        raise ValueError(f"--out {out}: directed counts are saved as .csv or .parquet")
    if plot is not None:
        significance = True
        from mcn.viz.drawing import check_path, new_figure

        check_path(plot)
        new_figure(1, 1, 1)  # says so now if there is no matplotlib
    if approximate is not None and out is not None:
        raise ValueError("--approximate gives totals alone: there are no counts to save to --out")
    buffer = as_bytes(memory, "--memory")
    names = None if motifs is None else [name.strip() for name in motifs.split(",") if name.strip()]
    orbits = _orbits(names, directed)
    how: dict[str, Any] = {"motifs": names, "induced": induced, "directed": directed}
    exact: dict[str, Any] = {"threads": threads, "engine": engine, "address": address}
    with compile_notice():
        read_from, report, name, ids = _read(dataset, graph, (source, target), data_root, packed, directed)
        from mcn.motifs import count_motifs

        began = time.perf_counter()
        content: dict[str, Any] = {"graph": name, "induced": induced, "notes": notable(report, _NOT_COUNTED)}
        with progress_bar("counting motifs") as bar:
            counts: Any = read_from
            if approximate is not None:
                counts = count_motifs(
                    read_from, approximate=approximate, threads=threads, progress=bar, **how
                )
                lines = [line._asdict() for line in counts.totals()]
                content["samples"] = counts.samples
            elif on_disk:
                from graphmotifs.on_disk import totals_of

                folder = Path(str(out)).expanduser()
                stored = count_motifs(read_from, out=folder, memory=buffer, progress=bar, **how, **exact)
                lines = [{"graphlet": name, **totals_of(read_from, stored[name])} for name in stored]
            else:
                counts = count_motifs(read_from, progress=bar, **how, **exact)
                lines = [line._asdict() for line in counts.totals() if line.orbit in orbits]
        size = {"arcs": counts.num_arcs} if directed else {"edges": counts.num_edges}
        content |= {"nodes": counts.num_nodes, **size}
        content |= {"seconds": time.perf_counter() - began, "orbits": lines}
        if significance:
            from mcn.motifs import motif_significance

            with progress_bar("counting in random graphs") as bar:
                draws: dict[str, Any] = {"samples": samples, "seed": seed, "threads": threads}
                found = motif_significance(read_from, directed=directed, progress=bar, **draws)
            about = {"samples": samples, "seed": seed, "keep": found.keep}
            content["significance"] = about | {"motifs": [_finite(line._asdict()) for line in found.lines]}
            if plot is not None:
                from mcn.viz import draw_profile

                draw_profile(found, plot)
    if out is not None and not on_disk:
        (counts if ids is None else replace(counts, node_ids=ids)).save(out)
    content["out"] = None if out is None else str(out)
    if as_json:
        print(json.dumps(content, indent=2))
        return
    _print_counts(content)
    print_notes(content["notes"])
    if approximate is not None:
        print(
            "exact: counting takes less work here than an estimate"
            if counts.exact
            else "estimates by sampling; low and high bound them 19 times out of 20"
        )
    print(f"counted in {content['seconds']:.3g} s" + (f"; saved to {out}" if out else ""))
    if significance:
        _print_significance(found)


def _read(
    dataset: str | None,
    graph: Path | None,
    columns: tuple[str | None, str | None],
    data_root: Path | None,
    packed: bool,
    directed: bool,
) -> tuple[Any, list[str], str, Any]:
    """What to count in, what was done to it, what to call it, and the ids of its nodes if they are new."""
    options.check_input(dataset, graph, None)
    if packed:
        from mcn.store import GraphStore

        store = GraphStore.open(str(graph))
        return store, [str(line) for line in store.about.get("report", [])], str(graph), None
    if graph is None:
        from mcn.data import load_dataset_edges

        name = "karate" if dataset is None else dataset
        edges = load_dataset_edges(name, data_root, directed)
        return edges.graph, edges.report, name, None
    from mcn.data import load_edges

    edges = load_edges(graph, *columns)
    if not directed:
        return edges.graph, edges.report, str(graph), edges.ids
    dropped = {"self-loops": edges.graph.self_loops, "repeated arcs": edges.graph.duplicates}
    notes = [f"{what} dropped: {count:,}" for what, count in dropped.items() if count]
    return edges.graph, ["", *notes, *edges.report[1:]], str(graph), edges.ids


def _orbits(names: list[str] | None, directed: bool) -> set[str]:
    """The edge or arc orbits that motif names stand for; all without names."""
    from graphmotifs.catalogue import EDGE_ORBITS, orbit_weights
    from graphmotifs.triads import ARC_ORBITS, arc_orbit_columns

    if directed:
        return {ARC_ORBITS[orbit] for name in names or ARC_ORBITS for orbit in arc_orbit_columns(name)}
    if names is None:
        return set(EDGE_ORBITS)
    return {
        orbit
        for name in names
        for orbit, weight in zip(EDGE_ORBITS, orbit_weights(name), strict=True)
        if weight
    }


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


def _print_counts(content: dict[str, Any]) -> None:
    """Print a table of the counts; a motif of several edge orbits is named in the first of its rows."""
    kind = "induced" if content["induced"] else "all"
    unit = "arc" if "arcs" in content else "edge"
    size = f"{content['nodes']:,} nodes, {content[f'{unit}s']:,} {unit}s"
    lines = content["orbits"]
    columns = [name for name in _COLUMNS if lines and name in lines[0]]
    rows, last = [], ""
    for line in lines:
        once = {"graphlet", "instances"} if line["graphlet"] == last else set()
        last = line["graphlet"]
        cells = {name: value if isinstance(value, str) else f"{value:,.0f}" for name, value in line.items()}
        rows.append(["" if name in once else cells[name] for name in columns])
    titles = [_COLUMNS[name].replace("edge", unit) for name in columns]
    title = f"{content['graph']}: {size} ({kind} subgraphs)"
    print_table(title, titles, rows, left=("motif", f"{unit} orbit"))


def _finite(line: dict[str, Any]) -> dict[str, Any]:
    """The same with None for infinite numbers, which JSON does not have."""
    return {name: None if value in (math.inf, -math.inf) else value for name, value in line.items()}


def _print_significance(found: Any) -> None:
    layout = ("{}", "{:,}", "{:,.1f}", "{:,.1f}", "{:+.2f}", "{:.2f}", "{:+.3f}")
    rows = [[form.format(value) for form, value in zip(layout, line, strict=True)] for line in found.lines]
    title = f"against {found.samples:,} random graphs with the same {found.keep} at every node"
    print_table(title, found.lines[0]._fields, rows, left=("motif",))
