"""Whether the small path has become slower: an earlier version beside this one, in turns, in processor time.

    git worktree add ../before b85497d
    python benchmarks/versions.py ../before [--rounds 3] [--data-root DATA]

Each turn is a process of its own on one thread, of either version, that carries out that version's own
`benchmarks/epoch.py` networks on Cora (best of 20 epochs) and counts two generated graphs (best of 5: the
enumeration alone, and the whole call with all columns). The ratio is that of the best of all turns, this
version over the earlier one; the spread of the turns stands beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
CHILD = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import torch
torch.set_num_threads(1)
import epoch
import random_graphs
from mcn.data import simple_graph
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
graphs = {
    "power-law cluster, 100 k edges": (20_000, random_graphs.powerlaw_cluster(20_000, 5, 0.5, seed=1)),
    "R-MAT, 249 k edges": (2**15, random_graphs.rmat(15, 249_000, seed=1)),
}
for name, (n, edges) in graphs.items():
    graph = simple_graph(edges, n)
    enumerate_edges(graph, 1)
    rows[name + ": enumerated"] = best(lambda: enumerate_edges(graph, 1), 5)
    rows[name + ": all columns"] = best(lambda: count_motifs(edges, n, threads=1).per_edge, 5)
print(json.dumps(rows))
"""


def turn(version: Path, data_root: str) -> dict[str, float]:
    one = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **one, "PYTHONPATH": str(version / "src")}
    command = [sys.executable, "-W", "ignore", "-c", CHILD, str(version / "benchmarks"), data_root]
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
    for _ in range(options.rounds):
        for name, version in (("before", options.before.resolve()), ("now", HERE)):
            turns[name].append(turn(version, options.data_root))
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
