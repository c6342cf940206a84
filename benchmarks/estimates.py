"""Estimated totals beside exact ones: what they cost, and how often their intervals hold the truth.

    python benchmarks/estimates.py [--errors 0.01,0.05] [--estimates 200]

For six graphs of one to ten million edges: processor seconds of `count_motifs(edges, n).totals()` on one
thread, and how many times that `count_motifs(edges, n, approximate=error).totals()` takes. Where exact
counting is less work the totals are counted, and the table says "counted". On a graph for which sampling
pays, many estimates are then made, each with a seed of its own, and it is said how many intervals of each
motif hold its exact number: 95 of 100 should.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import random_graphs

from mcn.data import simple_graph
from mcn.motifs import count_motifs

GRAPHS: dict[str, tuple[int, Callable[[], Any]]] = {
    "Erdős–Rényi 1 M": (200_000, lambda: random_graphs.erdos_renyi(200_000, 1_000_000, seed=1)),
    "Barabási–Albert 2 M": (200_000, lambda: random_graphs.barabasi_albert(200_000, 10, seed=1)),
    "power-law cluster 5 M": (500_000, lambda: random_graphs.powerlaw_cluster(500_000, 10, 0.5, seed=1)),
    "R-MAT 1 M": (2**17, lambda: random_graphs.rmat(17, 1_000_000, seed=1)),
    "R-MAT 4 M": (2**19, lambda: random_graphs.rmat(19, 4_000_000, seed=1)),
    "R-MAT 10 M": (2**20, lambda: random_graphs.rmat(20, 10_000_000, seed=1)),
}


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = call()
    return time.process_time() - began, result


def beside_exact(edges: Any, n: int, errors: list[float]) -> str:
    """Seconds of exact counting, and the ratio of an estimate for each error; twice in turns, the least."""
    found = []
    for _ in range(2):
        row = [seconds(lambda: count_motifs(edges, n, threads=1).totals())[0]]
        kinds = []
        for error in errors:

            def estimate(error: float = error) -> bool:
                estimates = count_motifs(edges, n, approximate=error, threads=1)
                estimates.totals()
                return estimates.exact

            spent, counted = seconds(estimate)
            row.append(spent)
            kinds.append("counted" if counted else "sampled")
        found.append(row)
    exact, *others = np.min(found, axis=0)
    ratios = (f"{f'{other / exact:.2f}× {kind}':>16s}" for other, kind in zip(others, kinds, strict=True))
    return f"{exact:9.2f}" + "".join(ratios)


def coverage(edges: Any, n: int, error: float, times: int) -> None:
    graph = simple_graph(edges, n)
    truth = count_motifs(graph).instances()
    held = dict.fromkeys(truth, 0)
    for seed in range(times):
        estimates = count_motifs(graph, approximate=error, seed=seed)
        if estimates.exact:
            raise SystemExit("the totals of this graph are counted: no interval to look at")
        for line in estimates.totals():
            held[line.graphlet] += line.low <= truth[line.graphlet] <= line.high
    for name, count in held.items():
        print(f"{name:20s}{truth[name]:>22,}{count:>8d} of {times} ({100 * count / times:.1f} %)")
    sampled = [count for name, count in held.items() if name != "edge"]
    print(f"{'all but edge':42s}{100 * sum(sampled) / (len(sampled) * times):>21.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--errors", default="0.01,0.05", help="half widths that are asked for")
    parser.add_argument("--estimates", type=int, default=200, help="estimates to judge intervals by")
    options = parser.parse_args()
    errors = [float(error) for error in options.errors.split(",")]
    for error in errors:  # compile, or load what was compiled
        count_motifs([[0, 1], [1, 2]], approximate=error).totals()
    print(f"{'graph':24s}{'exact, s':>9s}" + "".join(f"{f'error {error}':>16s}" for error in errors))
    for name, (n, draw) in GRAPHS.items():
        print(f"{name:24s}{beside_exact(draw(), n, errors)}", flush=True)
    name = "R-MAT 4 M"
    print(f"\nIntervals on {name}, error 0.05, that hold the exact number:")
    n, draw = GRAPHS[name]
    coverage(draw(), n, 0.05, options.estimates)


if __name__ == "__main__":
    main()
