"""Motif counting beside other counters, in one run on one machine.

    python benchmarks/motifs.py [--graphs FOLDER] [--largest EDGES] [--limit SECONDS] [--plot FILE]

Whole calls are measured, as users make them: ours is `count_motifs(edges, n).per_edge`, or
`column("triangle")` of triangles alone. Compared are `orbit-count` (the same edge orbits, C++, one thread),
`igraph` (totals only, no counts per edge), and for triangles per edge `networkit` and SciPy ((A @ A) * A),
each from the edges, and with the graph built before on both sides. Times are the best of several; ratios say
how many times longer the other one took. The counts of `orbit-count` are also compared, entry by entry.
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

from graphmotifs._jit import kernel
from graphmotifs.catalogue import CYCLES
from graphmotifs.oriented import orient
from graphmotifs.passes import enumerate_edges, plan_passes
from mcn.data import simple_graph
from mcn.motifs import count_motifs

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
    least, began, result = float("inf"), clock(), None
    for _ in range(5):
        start = clock()
        result = function()
        least = min(least, clock() - start)
        if clock() - began > limit:
            break
    return least, result


def in_time(code: str, n: int, edges: Edges, limit: float) -> list[float] | None:
    """Seconds of another counter, from edges and from a graph, in a process that `limit` can end."""
    scratch = subprocess.run(
        [sys.executable, __file__, "--other", code, "--nodes", str(n), "--limit", str(limit)],
        input=edges.T.copy().tobytes(),
        capture_output=True,
        check=False,
    )
    if scratch.returncode == -signal.SIGPROF:
        return None
    if scratch.returncode:
        raise SystemExit(f"{code}: {scratch.stderr.decode().strip()}")
    return [float(seconds) for seconds in scratch.stdout.split()]


def other(code: str, n: int, limit: float) -> None:
    """Run inside a process of its own: time one other counter on the edges on standard input."""
    edges = np.frombuffer(sys.stdin.buffer.read(), np.int64).reshape(-1, 2)
    if code == "orbit-count":
        from orbit_count import _orca

        def build() -> Any:
            return edges

        def call(graph: Any) -> Any:
            return _orca.motif_counts("edge", 4, n, graph)
    elif code == "networkit":
        import networkit as nk

        nk.setNumberOfThreads(1)

        def build() -> Any:
            graph = nk.Graph(n)
            graph.addEdges((edges[:, 0].astype(np.uint64), edges[:, 1].astype(np.uint64)))
            graph.indexEdges()
            return graph

        def call(graph: Any) -> Any:
            score = nk.sparsification.TriangleEdgeScore(graph)
            score.run()
            return score.scores()
    elif code == "scipy":
        from scipy import sparse

        def build() -> Any:
            upper = sparse.csr_array((np.ones(len(edges), np.int64), (edges[:, 0], edges[:, 1])), (n, n))
            return upper + upper.T

        def call(graph: Any) -> Any:
            return (graph @ graph) * graph
    else:
        import igraph

        def build() -> Any:
            return igraph.Graph(n=n, edges=edges)

        def call(graph: Any) -> Any:
            return graph.motifs_randesu(size=4)

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, limit)  # C++ does not look at Python: the process is ended
    graph = build()
    built, result = best(lambda: call(graph), limit / 5)
    whole = built if graph is edges else best(lambda: call(build()), limit / 5)[0]
    signal.setitimer(signal.ITIMER_PROF, 0)
    if code == "orbit-count" and len(edges) <= 1_000_000:
        ours = count_motifs(edges.T, n)
        order = np.lexsort((np.maximum(*edges.T), np.minimum(*edges.T)))
        if not np.array_equal(result[order], ours.per_edge[:, ORBIT_COUNT_ORDER]):
            raise SystemExit("counts differ from orbit-count")
    print(whole, built)


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


@kernel
def _touch(nodes: Any, counters: Any) -> None:
    for node in nodes:
        counters[node] += np.uint32(1)


def measure(name: str, n: int, edges: Edges, limit: float) -> dict[str, Any]:
    graph = simple_graph(edges, n)
    g, m = orient(graph), graph.num_edges
    some, share = ["triangle"], limit / 5
    row: dict[str, Any] = {"name": name, "edges": m, "wedges": plan_passes(g, CYCLES, 1).steps[1] // 2}
    row["whole"], _ = best(lambda: count_motifs(edges, n, threads=1).per_edge, share)
    row["one"], _ = best(lambda: count_motifs(graph, threads=1).per_edge, share)
    row["count"], _ = best(lambda: enumerate_edges(graph, 1), share)
    three, _ = best(lambda: count_motifs(edges, n, threads=1, motifs=some).column("triangle"), share)
    closed, _ = best(lambda: count_motifs(graph, threads=1, motifs=some).column("triangle"), share)
    row["triangles"] = three, closed
    touched, _ = best(lambda: _touch(g.rows, np.zeros(n, np.uint32)), share)
    row["floor"] = touched / len(g.rows)
    wall_one, _ = best(lambda: enumerate_edges(graph, 1), share, time.perf_counter)
    row["two"], _ = best(lambda: enumerate_edges(graph, 2), share, time.perf_counter)
    row["faster"] = wall_one / row["two"]
    row["bytes"] = memory(n, edges, 2) if m >= 40_000 else float("nan")
    for code in ("orbit-count", "igraph", "networkit", "scipy"):
        row[code] = in_time(code, n, graph.pairs.T.copy(), limit)
    return row


def show(row: dict[str, Any], limit: float) -> str:
    def ratios(code: str, ours: tuple[float, float]) -> str:
        theirs = row[code]
        if theirs is None:
            return f"> {limit / ours[0]:.0f}×"
        whole, built = (f"{other / mine:.1f}" for other, mine in zip(theirs, ours, strict=True))
        return f"{whole}×" if theirs[0] == theirs[1] else f"{whole}× {built}×"

    all_motifs = row["whole"], row["one"]
    return (
        f"{row['name']:24s}{row['edges']:>11,}{row['whole']:8.3f}{row['faster']:6.2f}×"
        f"{ratios('orbit-count', all_motifs):>13s}{ratios('igraph', all_motifs):>14s}"
        f"{row['triangles'][0]:8.4f}{ratios('networkit', row['triangles']):>13s}"
        f"{ratios('scipy', row['triangles']):>14s}"
        f"{row['bytes']:7.0f}{1e9 * row['count'] / row['wedges']:6.1f}{1e9 * row['floor']:6.1f}"
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
        ("networkit", "networkit: triangles per edge, from a graph", "x"),
        ("igraph", "igraph: totals", "+"),
    ):
        last = [row[code][-1] if isinstance(row[code], list) else row[code] for row in rows]
        y = [float("nan") if seconds is None else seconds for seconds in last]
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
        "All: seconds from edges to the 13 orbits of every edge, one thread; how much faster two threads\n"
        "count; how many times longer others take from edges, and from a graph where ours has one too.\n"
        "Triangles: the same for triangles per edge. Peak bytes per edge on two threads; nanoseconds of\n"
        "counting per wedge, and of one gather and read-modify-write.\n"
    )
    print(
        f"{'graph':24s}{'edges':>11s}{'all':>8s}{'2 thr.':>7s}{'orbit-count':>13s}{'igraph':>14s}"
        f"{'tri.':>8s}{'networkit':>13s}{'SciPy':>14s}{'B/edge':>7s}{'ns/w':>6s}{'floor':>6s}"
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
