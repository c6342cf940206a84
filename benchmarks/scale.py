"""What size costs: seconds, bytes and memory per edge of packing, counting, training and predicting.

    python benchmarks/scale.py [--edges 200000,1000000] [--graphs rmat,blocks] [--memory 1GB] [--folder DIR]

Every stage runs in a process of its own (one in two, by torchrun), whose peak memory is what the operating
system says of it: the resident set, mapped pages of files included; of two processes the sum, so that pages
which they share count twice. "CPU s" is the processor time of the (first) process for the stage, preparation
included, which on a busy machine says more than the seconds. Graphs are drawn piece by piece; repeats and
self-loops are dropped, so a graph has somewhat fewer edges than were drawn. `rmat` has edges alone, `rmat-64`
also 64 columns of noise and five classes, `blocks` planted classes. With two sizes or more, the
slopes are printed, and the peak that a straight line through the peaks gives at a hundred million edges.
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
from typing import Any, NamedTuple

import numpy as np
from epoch import peak_bytes
from random_graphs import PIECE, PlantedGraph, rmat_stream
from training_stages import batches, full_batch, gat, predict

import mcn

DEGREE = 12  # edges per node that are drawn
IN_MEMORY = 20_000_000  # edges up to which counting and training in memory are measured as well
GAT = 5_000_000  # edges up to which PyG's GAT is: it holds some 2 kB per edge
EXTRAPOLATED = 100_000_000


def draw(kind: str, edges: int) -> tuple[int, Iterator[Any], dict[str, Any]]:
    """Nodes, pieces of edges, and what else `GraphStore.write` takes."""
    if kind.startswith("rmat"):
        scale = max(4, round(np.log2(edges / DEGREE)))
        others = {} if kind == "rmat" else noise(2**scale)
        return 2**scale, rmat_stream(scale, edges, seed=1), others
    graph = PlantedGraph(max(1000, edges // DEGREE), edges, seed=1)
    names = [str(number) for number in range(graph.num_classes)]
    return graph.num_nodes, graph.edges(), {"x": graph.x(), "y": graph.y, "classes": names, **graph.masks()}


def noise(n: int) -> dict[str, Any]:
    """64 columns that say nothing, five classes, a tenth of the nodes each to train on and to validate."""
    rng = np.random.default_rng(2)
    y, place = rng.integers(0, 5, n), rng.random(n)
    rows = (
        rng.standard_normal((min(PIECE // 16, n - at), 64), np.float32) for at in range(0, n, PIECE // 16)
    )
    parts = {"train_mask": place < 0.1, "val_mask": (place >= 0.1) & (place < 0.2), "test_mask": place >= 0.2}
    return {"x": rows, "y": y, "classes": list("abcde"), **parts}


def pack(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    n, pieces, others = draw(kind, edges)
    began = time.perf_counter()
    store = mcn.GraphStore.write(path, pieces, n, memory=memory, **others)
    return {"seconds": time.perf_counter() - began, "edges": store.num_edges, "nodes": n, "disk": disk(path)}


def read_text(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    """`mcn pack` of the same graph as a text file, of which writing is not timed."""
    import pyarrow as pa
    from pyarrow import csv

    from mcn.store import pack_graph

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


class Stage(NamedTuple):
    """What is measured: its title, the function, the most edges, graphs that it is not for, processes."""

    title: str
    run: Callable[..., dict[str, Any]]
    most: int = 10**12
    not_for: tuple[str, ...] = ()
    processes: int = 1


BARE = ("rmat",)
STAGES: dict[str, Stage] = {
    "pack": Stage("packed from pieces", pack),
    "text": Stage("packed from a text file", read_text, IN_MEMORY),
    "triangles": Stage("triangles, on disk", triangles),
    "memory": Stage("triangles, in memory", in_memory, IN_MEMORY),
    "all": Stage("all motifs, in memory", all_orbits, IN_MEMORY),
    "batches": Stage("epoch, mini-batches", batches, not_for=BARE),
    "batches-2": Stage("the same, 2 processes", batches, not_for=BARE, processes=2),
    "full": Stage("epoch, full batch", full_batch, IN_MEMORY, BARE),
    "gat": Stage("epoch, PyG's GAT", gat, GAT, BARE),
    "predict": Stage("exact predictions", predict, not_for=BARE),
}


def disk(path: Path) -> int:
    return sum(file.stat().st_size for file in path.iterdir() if file.is_file())


def run_stage(name: str, path: Path, kind: str, edges: int, memory: str) -> dict[str, Any]:
    """Run a stage in a process of its own, or in several."""
    command = [sys.executable]
    stage = STAGES.get(name)
    if stage is not None and stage.processes > 1:
        command += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(stage.processes)]
    command += [__file__, "--stage", name, "--folder", str(path)]
    command += ["--graphs", kind, "--edges", str(edges), "--memory", memory]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} on {kind} with {edges:,} edges: {done.stderr.strip()}")
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def one_stage(name: str, path: Path, kind: str, edges: int, memory: int) -> None:
    """In a process of its own: carry out a stage, or all that one process can, so that they are compiled."""
    if name == "warm":
        for stage in STAGES.values():
            if stage.processes == 1:
                stage.run(path, kind, edges, memory)
        print("{}")
        return
    began = time.process_time()
    row = STAGES[name].run(path, kind, edges, memory)
    if row.pop("speaks", True):
        print(json.dumps({"peak": peak_bytes(), "cpu": time.process_time() - began} | row))


def measure(
    kind: str, edges: int, folder: Path, memory: str, wanted: list[str], kept: Path | None
) -> list[dict[str, Any]]:
    path = folder / f"{kind}-{edges}"
    rows, first = [], None
    for name in wanted:
        stage = STAGES[name]
        if edges > stage.most or kind in stage.not_for:
            continue
        row = run_stage(name, path, kind, edges, memory) | {"graph": kind, "drawn": edges, "stage": name}
        rows.append(row)
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        first = row["seconds"] if first is None else first
        extra = f"{row['disk'] / row['edges']:8.1f}" if "disk" in row else f"{'–':>8s}"
        print(
            f"{kind:8s}{row['edges']:>13,}  {stage.title:26s}{row['seconds']:10.1f}{row['cpu']:8.1f}"
            f"{1e6 * row['seconds'] / row['edges']:9.2f}{extra}{row['peak'] / 1e9:9.2f}"
            f"{row['seconds'] / first:9.2f}×",
            flush=True,
        )
    return rows


def series(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """The rows of each graph and stage, by size."""
    for kind in dict.fromkeys(row["graph"] for row in rows):
        for name in STAGES:
            own = [row for row in rows if (row["graph"], row["stage"]) == (kind, name)]
            if own:
                yield kind, name, sorted(own, key=lambda row: int(row["edges"]))


def slope(own: list[dict[str, Any]]) -> float | None:
    """The power of the edges that the time goes with."""
    x, y = np.log([row["edges"] for row in own]), np.log([row["seconds"] for row in own])
    return float(np.polyfit(x, y, 1)[0]) if len(own) > 1 else None


def slopes(rows: list[dict[str, Any]]) -> None:
    for kind, name, own in series(rows):
        found = slope(own)
        if found is not None:
            per_edge, base = np.polyfit([row["edges"] for row in own], [row["peak"] for row in own], 1)
            far = (base + EXTRAPOLATED * per_edge) / 1e9
            print(
                f"{kind}, {STAGES[name].title}: time grows as edges^{found:.2f}; memory {per_edge:.1f} bytes "
                f"per edge, {far:.1f} GB at {EXTRAPOLATED:,} edges by a straight line"
            )


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
    kinds, names = list(dict.fromkeys(row["graph"] for row in rows)), list(STAGES)
    for kind, name, own in series(rows):
        x, y = [row["edges"] for row in own], [row["seconds"] for row in own]
        found = slope(own)
        label = f"{kind}: {STAGES[name].title}" + ("" if found is None else f" (slope {found:.2f})")
        marker = "os^"[kinds.index(kind) % 3]
        axes.loglog(x, y, f"{marker}-", color=f"C{names.index(name)}", label=label, markersize=5)
    axes.set_xlabel("edges")
    axes.set_ylabel("seconds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edges", default="1000000,10000000", help="how many edges are drawn")
    parser.add_argument("--graphs", default="rmat,blocks", help="rmat, rmat-64, blocks")
    parser.add_argument("--memory", default="1GB", help="the buffer of packing and counting")
    parser.add_argument("--stages", default=",".join(STAGES), help="what is measured")
    parser.add_argument("--folder", type=Path, help="where the stores go, and stay")
    parser.add_argument("--plot", type=Path, help="write a plot of time by edges to this file")
    parser.add_argument("--json", type=Path, help="append the rows to this file as they are measured")
    parser.add_argument(
        "--from", dest="kept", type=Path, help="measure nothing: slopes and plot of such a file"
    )
    parser.add_argument(
        "--cold", action="store_true", help="do not compile everything on a small graph first"
    )
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    options = parser.parse_args()
    from mcn.store import as_bytes

    if options.stage:
        one_stage(
            options.stage,
            options.folder,
            options.graphs,
            int(options.edges),
            as_bytes(options.memory, "--memory"),
        )
        return
    rows = (
        [] if options.kept is None else [json.loads(line) for line in options.kept.read_text().splitlines()]
    )
    if options.kept is None:
        print(
            f"{'graph':8s}{'edges':>13s}  {'stage':26s}{'seconds':>10s}{'CPU s':>8s}"
            f"{'µs/edge':>9s}{'B/edge':>8s}{'peak GB':>9s}{'× first':>10s}"
        )
        with tempfile.TemporaryDirectory(dir=options.folder) as own:
            folder = options.folder or Path(own)
            if not options.cold:
                run_stage("warm", Path(own) / "warm", "blocks", 20_000, "4MB")
            for kind in options.graphs.split(","):
                for edges in map(int, options.edges.split(",")):
                    rows += measure(
                        kind, edges, folder, options.memory, options.stages.split(","), options.json
                    )
    slopes(rows)
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
