"""What size costs: seconds and bytes per edge of packing and counting, from a million edges on.

    python benchmarks/scale.py [--edges 1000000,10000000] [--graphs rmat,blocks] [--memory 1GB] [--folder DIR]

Every stage runs in a process of its own, whose peak memory (resident set, mapped pages of files included) is
what the operating system says of it. Graphs are drawn piece by piece; repeats and self-loops are dropped, so
a graph has somewhat fewer edges than were drawn. Ratios are of stages of the same run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mcn
from mcn.data.streams import PlantedGraph, rmat_stream

DEGREE = 12  # edges per node that are drawn
IN_MEMORY = 20_000_000  # edges up to which the counting in memory is measured as well


def draw(kind: str, edges: int) -> tuple[int, Iterator[Any], dict[str, Any]]:
    """Nodes, pieces of edges, and what else `GraphStore.write` takes."""
    if kind == "rmat":
        scale = max(4, round(np.log2(edges / DEGREE)))
        return 2**scale, rmat_stream(scale, edges, seed=1), {}
    graph = PlantedGraph(max(1000, edges // DEGREE), edges, seed=1)
    names = [str(number) for number in range(graph.num_classes)]
    return graph.num_nodes, graph.edges(), {"x": graph.x(), "y": graph.y, "classes": names, **graph.masks()}


def pack(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    n, pieces, others = draw(kind, edges)
    began = time.perf_counter()
    store = mcn.GraphStore.write(path, pieces, n, memory=memory, **others)
    return {"seconds": time.perf_counter() - began, "edges": store.num_edges, "nodes": n, "disk": disk(path)}


def read_text(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    """`mcn pack` of the same graph as a text file, of which writing is not timed."""
    import pyarrow as pa
    from pyarrow import csv

    from mcn.store.pack import pack_graph

    text = path.with_name(f"{path.name}.csv")
    with text.open("wb") as file:
        for piece in draw(kind, edges)[1]:
            table = pa.table({"source": piece[0], "target": piece[1]})
            csv.write_csv(table, file, csv.WriteOptions(include_header=False))
    began = time.perf_counter()
    packed = path.with_name(f"{path.name}-text")
    store = pack_graph(text, out=packed, memory=memory)
    return {"seconds": time.perf_counter() - began, "edges": store.num_edges, "disk": text.stat().st_size}


def triangles(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    store = mcn.GraphStore.open(path)
    began = time.perf_counter()
    counts = mcn.count_motifs(store, motifs=["edge", "triangle"], out=path, memory=memory)
    seconds = time.perf_counter() - began
    total = sum(int(piece.sum(dtype=np.int64)) for piece in np.array_split(counts["triangle"], 64)) // 6
    return {
        "seconds": seconds,
        "edges": store.num_edges,
        "triangles": total,
        "disk": counts["triangle"].nbytes,
    }


def in_memory(
    path: Path, kind: str, edges: int, memory: int, motifs: Any = ("edge", "triangle")
) -> dict[str, Any]:
    store = mcn.GraphStore.open(path)
    began = time.perf_counter()
    counts = mcn.count_motifs(store, motifs=motifs)
    return {"seconds": time.perf_counter() - began, "edges": counts.num_edges}


def all_orbits(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    return in_memory(path, kind, edges, memory, None)


STAGES: dict[str, tuple[str, Callable[..., dict[str, Any]], int]] = {
    "pack": ("packed from pieces", pack, 10**12),
    "text": ("packed from a text file", read_text, IN_MEMORY),
    "triangles": ("triangles, on disk", triangles, 10**12),
    "memory": ("triangles, in memory", in_memory, IN_MEMORY),
    "all": ("all motifs, in memory", all_orbits, IN_MEMORY),
}
"""What is measured: its title, the function, and the most edges that it is measured with."""


def disk(path: Path) -> int:
    return sum(file.stat().st_size for file in path.iterdir() if file.is_file())


def peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def run_stage(stage: str, path: Path, kind: str, edges: int, memory: str) -> dict[str, Any]:
    """Run a stage in a process of its own, twice if it is short: the first one may compile."""
    command = [sys.executable, __file__, "--stage", stage, "--folder", str(path)]
    command += ["--graphs", kind, "--edges", str(edges), "--memory", memory]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{stage} on {kind} with {edges:,} edges: {done.stderr.strip()}")
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def measure(kind: str, edges: int, folder: Path, memory: str, wanted: list[str]) -> list[dict[str, Any]]:
    path = folder / f"{kind}-{edges}"
    rows, first = [], None
    for stage in wanted:
        title, _, most = STAGES[stage]
        if edges > most:
            continue
        row = run_stage(stage, path, kind, edges, memory) | {"graph": kind, "drawn": edges, "stage": stage}
        rows.append(row)
        first = row["seconds"] if first is None else first
        extra = f"{row['disk'] / row['edges']:8.1f}" if "disk" in row else f"{'–':>8s}"
        print(
            f"{kind:8s}{row['edges']:>13,}  {title:26s}{row['seconds']:10.1f}"
            f"{1e6 * row['seconds'] / row['edges']:9.2f}{extra}{row['peak'] / 1e9:9.2f}"
            f"{row['seconds'] / first:9.2f}×",
            flush=True,
        )
    return rows


def warm_up(folder: Path) -> None:
    """Compile everything on a small graph."""
    for stage in STAGES:
        run_stage(stage, folder / "warm", "rmat", 20_000, "4MB")


def slopes(rows: list[dict[str, Any]]) -> None:
    for kind in dict.fromkeys(row["graph"] for row in rows):
        for stage, (title, _, _) in STAGES.items():
            own = [row for row in rows if (row["graph"], row["stage"]) == (kind, stage)]
            if len(own) > 1:
                x, y = np.log([row["edges"] for row in own]), np.log([row["seconds"] for row in own])
                print(f"{kind}, {title}: time grows as edges^{np.polyfit(x, y, 1)[0]:.2f}")


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for marker, kind in zip("os^", dict.fromkeys(row["graph"] for row in rows), strict=False):
        for number, (stage, (title, _, _)) in enumerate(STAGES.items()):
            own = [row for row in rows if (row["graph"], row["stage"]) == (kind, stage)]
            if own:
                x, y = [row["edges"] for row in own], [row["seconds"] for row in own]
                axes.loglog(x, y, f"{marker}-", color=f"C{number}", label=f"{kind}: {title}", markersize=5)
    axes.set_xlabel("edges")
    axes.set_ylabel("seconds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edges", default="1000000,10000000", help="how many edges are drawn")
    parser.add_argument("--graphs", default="rmat,blocks", help="rmat, blocks or both")
    parser.add_argument("--memory", default="1GB", help="the buffer of packing and counting")
    parser.add_argument("--stages", default=",".join(STAGES), help="what is measured")
    parser.add_argument("--folder", type=Path, help="where the stores go, and stay")
    parser.add_argument("--plot", type=Path, help="write a plot of time by edges to this file")
    parser.add_argument("--json", type=Path, help="append the rows to this file")
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    options = parser.parse_args()
    from mcn.store.size import as_bytes

    if options.stage:
        given = (options.folder, options.graphs, int(options.edges), as_bytes(options.memory, "--memory"))
        row = STAGES[options.stage][1](*given)
        print(json.dumps(row | {"peak": peak()}))
        return
    print(
        f"{'graph':8s}{'edges':>13s}  {'stage':26s}{'seconds':>10s}{'µs/edge':>9s}{'B/edge':>8s}"
        f"{'peak GB':>9s}{'× pack':>10s}"
    )
    rows = []
    with tempfile.TemporaryDirectory(dir=options.folder) as own:
        folder = options.folder or Path(own)
        warm_up(Path(own))
        for kind in options.graphs.split(","):
            for edges in map(int, options.edges.split(",")):
                rows += measure(kind, edges, folder, options.memory, options.stages.split(","))
    slopes(rows)
    if options.plot:
        plot(rows, options.plot)
    if options.json:
        with options.json.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
