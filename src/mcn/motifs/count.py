"""`count_motifs`: from an edge list to motif counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcn._threads import available_threads
from mcn.data.arrays import as_integer
from mcn.data.simple import simple_graph
from mcn.motifs.counts import MotifCounts
from mcn.motifs.enumerate import enumerate_edges

MAX_THREADS = 1024
"""More are a mistake, not a machine."""


def count_motifs(
    edge_index: Any,
    num_nodes: int | None = None,
    *,
    induced: bool = True,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> MotifCounts:
    """Count, exactly, the connected graphlets on 2, 3 and 4 nodes at every edge and node.

    Args:
        edge_index: integer node ids of shape [2, E] (NumPy, torch, lists); direction, self-loops and
            repeats do not matter.
        num_nodes: number of nodes; the largest id plus one if not given.
        induced: count induced subgraphs (the paper's motifs). False: every subgraph, so that a
            triangle also holds three 2-stars.
        threads: cores to use, at most 1024; by the size of the graph if not given. The counts do not depend
            on it.
        progress: called with the finished fraction now and then.

    Raises:
        ValueError: the edges, `num_nodes` or `threads` are not what they should be; says what was expected.

    >>> counts = count_motifs([[0, 0, 1, 2], [1, 2, 2, 3]])
    >>> counts.column("triangle").tolist()
    [1, 1, 1, 0]
    >>> counts.per_edge.shape, counts.per_node.shape
    ((4, 13), (4, 15))
    """
    graph = simple_graph(edge_index, num_nodes)
    return MotifCounts(graph, enumerate_edges(graph, _threads(threads), progress), induced)


def _threads(wanted: Any) -> int | None:
    if wanted is None:
        return None
    try:
        threads = as_integer(wanted, "threads")
    except ValueError:
        threads = 0
    if not 1 <= threads <= MAX_THREADS:
        raise ValueError(f"threads must be a positive integer up to {MAX_THREADS}, got {wanted!r}")
    return min(threads, 4 * available_threads())
