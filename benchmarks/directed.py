"""Directed triads beside networkx, igraph, and the undirected triangles, in one run on one thread.

    python benchmarks/directed.py [--graphs FOLDER]

The graphs are public and undirected; directions are drawn: 40 % of the edges each way, 20 % both. networkx
(`triadic_census`) and igraph (`motifs_randesu`, if it is there) give totals alone, mcn counts at every arc
and node. Whole calls are compared, and the totals must agree.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from graphmotifs.catalogue import TRIANGLES
from graphmotifs.directed_counts import enumerate_arcs
from graphmotifs.passes import enumerate_edges
from graphmotifs.triads import DIRECTED_CATALOGUE
from mcn.data import simple_graph
from mcn.motifs import count_motifs

NAMES = ("ca-GrQc", "facebook_combined", "ca-AstroPh", "email-Enron")


def best(function: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The least processor time of some calls, and the last result."""
    least, result = float("inf"), None
    for _ in range(times):
        start = time.process_time()
        result = function()
        least = min(least, time.process_time() - start)
    return least, result


def totals_of(arcs: Any, n: int) -> dict[str, int]:
    return count_motifs(arcs, n, directed=True, threads=1).instances()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "graphs"
    parser.add_argument("--graphs", type=Path, default=beside, help="folder of .npz graphs")
    folder = parser.parse_args().graphs
    try:
        import igraph
    except ImportError:
        igraph = None
    count_motifs([[0, 1], [1, 2]], directed=True).instances()  # compile, or load what was compiled
    print(f"{'graph':20s}{'arcs':>9s}{'mcn, s':>9s}{'networkx':>10s}{'igraph':>8s}{'triangles alone':>17s}")
    for name in NAMES:
        with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
            n, edges = int(file["n"]), file["edge"].astype(np.int64).T
        draw = np.random.default_rng(0).random(edges.shape[1])
        arcs = np.concatenate([np.where(draw < 0.4, edges, edges[::-1]), edges[:, draw > 0.8]], axis=1)
        graph = simple_graph(arcs, n)
        ours, found = best(partial(totals_of, arcs, n), 5)
        plain, _ = best(partial(enumerate_edges, graph, 1, None, TRIANGLES), 9)
        directed, _ = best(partial(enumerate_arcs, graph, 1), 9)
        digraph = nx.DiGraph(graph.arcs.T.tolist())
        digraph.add_nodes_from(range(n))
        theirs, census = best(partial(nx.triadic_census, digraph), 1)
        assert all(found[g.name] == census[g.aliases[0]] for g in DIRECTED_CATALOGUE[2:])
        ratio = "–"
        if igraph is not None:
            other = igraph.Graph(n=n, edges=graph.arcs.T.tolist(), directed=True)
            seconds, totals = best(partial(other.motifs_randesu, size=3), 3)
            assert sum(t for t in totals if t == t) == sum(found[g.name] for g in DIRECTED_CATALOGUE[2:])
            ratio = f"{seconds / ours:.1f}×"
        print(
            f"{name:20s}{graph.arcs.shape[1]:>9,}{ours:9.4f}{theirs / ours:>9.0f}×{ratio:>8s}"
            f"{directed / plain:>16.2f}×",
            flush=True,
        )


if __name__ == "__main__":
    main()
