"""Motif counting beside other counters, in one run on one machine.

    python benchmarks/motifs.py [--graphs FOLDER] [--largest EDGES] [--limit SECONDS] [--plot FILE]

Compared are `orbit-count` (the same edge orbits, C++, one thread), `networkit` (triangles per edge only)
and `igraph` (totals only, no counts per edge). Times are the best of several; ratios say how many times
longer the other one took. The counts of `orbit-count` are also compared, entry by entry.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import random_graphs
from numpy.typing import NDArray

from mcn.data import simple_graph
from mcn.motifs import count_motifs
from mcn.motifs.catalogue import CYCLES
from mcn.motifs.enumerate import enumerate_edges, plan_work
from mcn.motifs.orient import orient

Edges = NDArray[np.int64]
HERE = Path(__file__).resolve().parent

# Column of ours for each column of orbit-count, whose order swaps two of the tailed triangle's orbits.
ORBIT_COUNT_ORDER = [1, 2, 3, 4, 5, 6, 7, 9, 8, 10, 11, 12]


def graphs(folder: Path | None, largest: int) -> Iterator[tuple[str, int, Edges]]:
    for path in sorted(folder.glob("*.npz")) if folder else []:
        with np.load(path, allow_pickle=False) as file:
            yield path.stem, int(file["n"]), file["edge"].astype(np.int64).T.copy()
    yield "Barabási–Albert 500 k", 100_000, random_graphs.barabasi_albert(100_000, 5, seed=1)
    yield "power-law cluster 500 k", 100_000, random_graphs.powerlaw_cluster(100_000, 5, 0.5, seed=1)
    yield "Erdős–Rényi 1 M", 200_000, random_graphs.erdos_renyi(200_000, 1_000_000, seed=1)
    for scale, edges in ((15, 249_000), (17, 1_000_000), (19, 4_000_000), (20, 10_000_000)):
        if edges <= largest:
            yield f"R-MAT {scale}", 2**scale, random_graphs.rmat(scale, edges, seed=1)


def best(
    function: Callable[[], Any], limit: float, clock: Callable[[], float] = time.process_time
) -> tuple[float, Any]:
    """Least time of up to five calls within `limit` seconds, and the last result.

    One thread is timed by its processor time, which a busy neighbour disturbs least; two need the wall's.
    """
    least, began, result = float("inf"), time.perf_counter(), None
    for _ in range(5):
        start = clock()
        result = function()
        least = min(least, clock() - start)
        if time.perf_counter() - began > limit:
            break
    return least, result


def in_time(code: str, n: int, edges: Edges, limit: float) -> float | None:
    """Seconds that `code` reports for another counter, in a process of its own that `limit` can end."""
    scratch = subprocess.run(
        [sys.executable, __file__, "--other", code, "--nodes", str(n), "--limit", str(limit)],
        input=edges.T.copy().tobytes(),
        capture_output=True,
        check=False,
    )
    if scratch.returncode == -signal.SIGALRM:
        return None
    if scratch.returncode:
        raise SystemExit(f"{code}: {scratch.stderr.decode().strip()}")
    return float(scratch.stdout)


def other(code: str, n: int, limit: float) -> None:
    """Run inside a process of its own: time one other counter on the edges on standard input."""
    edges = np.frombuffer(sys.stdin.buffer.read(), np.int64).reshape(-1, 2)
    if code == "orbit-count":
        from orbit_count import _orca

        def call() -> Any:
            return _orca.motif_counts("edge", 4, n, edges)
    elif code == "networkit":
        import networkit as nk

        nk.setNumberOfThreads(1)
        graph = nk.Graph(n)
        graph.addEdges((edges[:, 0].astype(np.uint64), edges[:, 1].astype(np.uint64)))
        graph.indexEdges()

        def call() -> Any:
            score = nk.sparsification.TriangleEdgeScore(graph)
            return score.run()
    else:
        import igraph

        graph = igraph.Graph(n=n, edges=edges)

        def call() -> Any:
            return graph.motifs_randesu(size=4)

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limit + 5)  # C++ does not look at Python: the process is ended
    seconds, result = best(call, limit / 5)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if code == "orbit-count" and len(edges) <= 1_000_000:
        ours = count_motifs(edges.T, n)
        order = np.lexsort((np.maximum(*edges.T), np.minimum(*edges.T)))
        if not np.array_equal(result[order], ours.per_edge[:, ORBIT_COUNT_ORDER]):
            raise SystemExit("counts differ from orbit-count")
    print(seconds)


def memory(n: int, edges: Edges, threads: int) -> float:
    """Peak bytes per edge above what a fresh process holds before counting."""
    code = (
        "import sys, numpy as np\n"
        "from mcn.motifs import count_motifs\n"
        "count_motifs([[0, 1], [1, 2]])\n"
        "def peak(what):\n"
        "    return next(int(l.split()[1]) * 1024 for l in open('/proc/self/status') if l.startswith(what))\n"
        "e = np.load(sys.argv[1])\n"
        "open('/proc/self/clear_refs', 'w').write('5')\n"
        "before = peak('VmRSS')\n"
        "count_motifs(e, int(sys.argv[2]), threads=int(sys.argv[3]))\n"
        "print(peak('VmHWM') - before)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.npy"
        np.save(path, edges)
        run = subprocess.run(
            [sys.executable, "-c", code, str(path), str(n), str(threads)],
            capture_output=True,
            text=True,
            check=True,
        )
    return float(int(run.stdout) / edges.shape[1])


def measure(name: str, n: int, edges: Edges, limit: float) -> dict[str, Any]:
    graph = simple_graph(edges, n)
    m = graph.num_edges
    call, _ = best(lambda: count_motifs(edges, n, threads=1), limit / 5)
    one, _ = best(lambda: enumerate_edges(graph, 1), limit / 5)
    wall_one, _ = best(lambda: enumerate_edges(graph, 1), limit / 5, time.perf_counter)
    wall_two, _ = best(lambda: enumerate_edges(graph, 2), limit / 5, time.perf_counter)
    wedges = plan_work(orient(graph), CYCLES, 1).steps[1] // 2
    row: dict[str, Any] = {"name": name, "edges": m, "call": call, "one": one, "wedges": wedges}
    row |= {"wall_one": wall_one, "two": wall_two}
    row["bytes"] = memory(n, edges, 2) if m >= 40_000 else float("nan")
    for code in ("orbit-count", "networkit", "igraph"):
        row[code] = in_time(code, n, graph.pairs.T.copy(), limit)
    return row


def show(row: dict[str, Any], limit: float) -> str:
    def ratio(code: str) -> str:
        return f"> {limit / row['one']:.0f}×" if row[code] is None else f"{row[code] / row['one']:.1f}×"

    faster = row["wall_one"] / row["two"]
    return (
        f"{row['name']:24s}{row['edges']:>11,}{row['call']:9.3f}{row['one']:9.3f}{faster:8.2f}×"
        f"{ratio('orbit-count'):>13s}{ratio('networkit'):>12s}{ratio('igraph'):>10s}"
        f"{row['bytes']:8.0f}{1e9 * row['one'] / row['wedges']:8.1f}"
    )


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    x = [row["edges"] for row in rows]
    for code, label, marker in (
        ("one", "mcn, 1 thread: 13 orbits per edge", "o"),
        ("two", "mcn, 2 threads", "s"),
        ("orbit-count", "orbit-count: 12 orbits per edge", "^"),
        ("networkit", "networkit: triangles per edge", "x"),
        ("igraph", "igraph: totals", "+"),
    ):
        y = [float("nan") if row[code] is None else row[code] for row in rows]
        axes.loglog(x, y, marker, label=label, markersize=6, fillstyle="none" if marker in "^" else "full")
    axes.set_xlabel("edges")
    axes.set_ylabel("seconds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    beside = HERE.parent.parent / "shared" / "data" / "graphs"
    parser.add_argument(
        "--graphs", type=Path, default=beside if beside.is_dir() else None, help="folder of .npz graphs"
    )
    parser.add_argument("--largest", type=int, default=10_000_000, help="edges of the largest R-MAT graph")
    parser.add_argument("--limit", type=float, default=60, help="seconds given to another counter")
    parser.add_argument("--plot", type=Path, help="write a plot of time by edges to this file")
    parser.add_argument("--other", help=argparse.SUPPRESS)
    parser.add_argument("--nodes", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.other:
        other(options.other, options.nodes, options.limit)
        return
    count_motifs([[0, 1], [1, 2]])  # compile, or load what was compiled
    print(
        "mcn: seconds for the whole call (edge list in, counts out) and for counting only, one thread; how\n"
        "much faster two threads are; how many times longer the others take than one thread of ours; peak\n"
        "bytes per edge on two threads; nanoseconds per wedge.\n"
    )
    print(
        f"{'graph':24s}{'edges':>11s}{'call':>9s}{'count':>9s}{'2 thr.':>9s}{'orbit-count':>13s}"
        f"{'networkit':>12s}{'igraph':>10s}{'B/edge':>8s}{'ns/w':>8s}"
    )
    rows = []
    for name, n, edges in graphs(options.graphs, options.largest):
        rows.append(measure(name, n, edges, options.limit))
        print(show(rows[-1], options.limit), flush=True)
    rmat = [row for row in rows if row["name"].startswith("R-MAT")]
    if len(rmat) > 1:
        slope = np.polyfit(np.log([r["edges"] for r in rmat]), np.log([r["one"] for r in rmat]), 1)[0]
        walk = np.polyfit(np.log([r["wedges"] for r in rmat]), np.log([r["one"] for r in rmat]), 1)[0]
        print(f"\nR-MAT: time grows as edges^{slope:.2f} and as wedges^{walk:.2f}")
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
