"""Whether the small path has become slower: an earlier version beside this one, in turns, in processor time.

    git worktree add ../before b85497d
    python benchmarks/versions.py ../before [--rounds 3] [--data-root DATA]

Each turn is a process of its own on one thread, of either version, that carries out that version's own
`benchmarks/epoch.py` networks on Cora (best of 20 epochs) and counts two generated graphs (best of 5: the
enumeration alone, and the whole call with all columns), reads three files of a million edges and packs one
(best of 4). The ratio is that of the best of all turns, this
version over the earlier one; the spread of the turns stands beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import random_graphs
import reading
from scipy import io, sparse

HERE = Path(__file__).resolve().parents[1]
CHILD = """
import json, shutil, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import torch
torch.set_num_threads(1)
import epoch
import numpy
from mcn.data import simple_graph
from mcn.data.edge_files import read_edges
from mcn.store.pack import pack_graph
from mcn.motifs import count_motifs
from mcn.motifs.enumerate import enumerate_edges

def best(call, times):
    found = []
    for _ in range(times):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return min(found)

rows = {}
data = epoch.load("cora", sys.argv[2] or None)
for name in ("mcn edge (GAT)", "mcn edge+triangle, paper's rule", "mcn edge+triangle, default rule"):
    call = epoch.make(name, data, "cora")
    call()
    rows["Cora, an epoch: " + name] = best(call, 20)
folder = Path(sys.argv[3])
graphs = numpy.load(folder / "graphs.npz")
for name in graphs:
    edges = graphs[name]
    n = int(edges.max()) + 1
    graph = simple_graph(edges, n)
    enumerate_edges(graph, 1)
    rows[name + ": enumerated"] = best(lambda: enumerate_edges(graph, 1), 5)
    rows[name + ": all columns"] = best(lambda: count_motifs(edges, n, threads=1).per_edge, 5)
for path in sorted(folder.glob("million*")):
    rows["reading " + path.name] = best(lambda: read_edges(path), 4)

def pack():
    shutil.rmtree(folder / "packed", ignore_errors=True)
    pack_graph(folder / "million-integers.csv", out=folder / "packed")

rows["packing million-integers.csv"] = best(pack, 4)
print(json.dumps(rows))
"""


def write_graphs(folder: Path) -> None:
    """The graphs that both versions count, and the files that both read."""
    graphs: dict[str, Any] = {
        "power-law cluster, 100 k edges": random_graphs.powerlaw_cluster(20_000, 5, 0.5, seed=1),
        "R-MAT, 249 k edges": random_graphs.rmat(15, 249_000, seed=1),
    }
    np.savez(folder / "graphs.npz", **graphs)
    reading.write_edges(folder / "million-integers.csv", 1_000_000, "integers")
    reading.write_edges(folder / "million-texts.csv", 1_000_000, "text")
    edges = np.random.default_rng(0).integers(0, 100_000, (2, 1_000_000))
    matrix = sparse.coo_array((np.ones(1_000_000), tuple(edges)), shape=(100_000, 100_000))
    io.mmwrite(folder / "million.mtx", matrix, field="pattern")


def turn(version: Path, data_root: str, folder: Path) -> dict[str, float]:
    one = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **one, "PYTHONPATH": str(version / "src")}
    arguments = [str(version / "benchmarks"), data_root, str(folder)]
    command = [sys.executable, "-W", "ignore", "-c", CHILD, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=version)
    if done.returncode:
        raise SystemExit(f"{version}: {done.stderr.strip()}")
    rows: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="a checkout of the earlier version")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each version")
    parser.add_argument("--data-root", default="", help="folder of the citation data sets")
    options = parser.parse_args()
    turns: dict[str, list[dict[str, float]]] = {"before": [], "now": []}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_graphs(folder)
        for _ in range(options.rounds):
            for name, version in (("before", options.before.resolve()), ("now", HERE)):
                turns[name].append(turn(version, options.data_root, folder))
    print(
        f"{'processor time, one thread':56s}{'before':>10s}{'now':>10s}{'ratio':>8s}{'ratios of turns':>18s}"
    )
    for what in turns["now"][0]:
        before, now = ([each[what] for each in turns[name]] for name in ("before", "now"))
        ratios = sorted(b / a for a, b in zip(before, now, strict=True))
        print(
            f"{what:56s}{min(before) * 1e3:8.1f}ms{min(now) * 1e3:8.1f}ms{min(now) / min(before):8.3f}"
            f"{ratios[0]:>10.2f}–{ratios[-1]:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
