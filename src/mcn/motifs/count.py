"""`count_motifs`: from an edge list, or a graph on disk, to motif counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn._names import one_of
from mcn._threads import available_threads
from mcn.data.arrays import as_integer, limit_threads
from mcn.data.csr_graph import SimpleGraph, simple_graph
from mcn.motifs.counts import MotifCounts
from mcn.motifs.enumerate import enumerate_edges
from mcn.motifs.stages import stage_of_all
from mcn.store import GraphStore

if TYPE_CHECKING:
    from mcn.motifs.estimate import MotifEstimates

ENGINES = ("local", "ray")
MEMORY = 2**30
"""Bytes of the buffer for counting on disk, if none are given."""

Progress = Callable[[float], object]


@overload
def count_motifs(
    edge_index: Any,
    num_nodes: int | None = None,
    *,
    motifs: Sequence[str] | None = None,
    induced: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
    engine: str = "local",
    address: str | None = None,
) -> MotifCounts: ...
@overload
def count_motifs(
    edge_index: Any,
    num_nodes: int | None = None,
    *,
    motifs: Sequence[str] | None = None,
    induced: bool = True,
    approximate: float,
    seed: int = 0,
) -> MotifEstimates: ...
@overload
def count_motifs(
    edge_index: Any,
    num_nodes: int | None = None,
    *,
    motifs: Sequence[str] | None = None,
    induced: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
    out: str | os.PathLike[str],
    memory: int = MEMORY,
    engine: str = "local",
    address: str | None = None,
) -> Mapping[str, NDArray[Any]]: ...
def count_motifs(
    edge_index: Any,
    num_nodes: int | None = None,
    *,
    motifs: Sequence[str] | None = None,
    induced: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
    out: str | os.PathLike[str] | None = None,
    memory: int = MEMORY,
    engine: str = "local",
    address: str | None = None,
    approximate: float | None = None,
    seed: int = 0,
) -> MotifCounts | Mapping[str, NDArray[Any]] | MotifEstimates:
    """Count, exactly, the connected graphlets on 2, 3 and 4 nodes at every edge and node.

    Args:
        edge_index: integer node ids of shape [2, E] (NumPy, torch, lists); direction, self-loops and
            repeats do not matter. Or an `mcn.GraphStore`.
        num_nodes: number of nodes; the largest id plus one if not given.
        motifs: names of edge orbits or graphlets that are needed; all if not given. Only their work is done:
            edge, 2-star and triangle need triangles alone; all others but 4-path and 4-cycle leave out the
            4-cycles, which take most of the time.
        induced: count induced subgraphs (the paper's motifs). False: every subgraph, so that a
            triangle also holds three 2-stars.
        threads: cores to use, at most 1024; by the size of the graph if not given. The counts do not depend
            on it.
        progress: called with the finished fraction now and then.
        out: for a store: a folder, which may be the store's own, that the counts of `motifs` are written to.
            Returned are memory-mapped arrays by motif, an entry for each of the store's `indices`. A count
            that was interrupted goes on where it was.
        memory: with `out`: bytes of the buffer for triangles; 40 bytes per node come on top. Motifs on
            four nodes are counted in memory, which takes about 80 bytes per edge.

        engine: "local" for threads of this process, or "ray": the same counts, bit for bit, by tasks on a
            cluster, of which those on workers that die are done again. `threads` is then the number of tasks
            at a time.
        address: of a running Ray cluster; one is started on this machine if not given.
        approximate: estimate the totals alone, by sampling: 0.01 asks for 95 % intervals of one per cent up
            and down around those of `motifs`. An `mcn.motifs.MotifEstimates` is returned.
        seed: of the sampling.

    Raises:
        ValueError: the edges, `num_nodes` or `threads` are not what they should be; says what was expected.

    >>> counts = count_motifs([[0, 0, 1, 2], [1, 2, 2, 3]])
    >>> counts.column("triangle").tolist()
    [1, 1, 1, 0]
    >>> counts.per_edge.shape, counts.per_node.shape
    ((4, 13), (4, 15))
    >>> count_motifs([[0, 0, 1, 2], [1, 2, 2, 3]], motifs=["triangle"]).motifs
    ('edge', '2-star', 'triangle')
    """
    stage, count = stage_of_all(motifs, induced), _threads(threads)
    one_of("engine", engine, ENGINES)
    if address is not None and engine != "ray":
        raise ValueError(f"address {address!r} is of a Ray cluster; it needs engine='ray', got {engine!r}")
    store = edge_index if isinstance(edge_index, GraphStore) else None
    if approximate is not None:
        return _estimated(edge_index, num_nodes, motifs, approximate, induced, seed)
    if out is not None:
        from mcn.motifs.to_store import count_to_folder

        if store is None:
            raise ValueError("out= is for counts of an mcn.GraphStore; save others with MotifCounts.save")
        given: dict[str, Any] = {"engine": engine, "address": address, "memory": memory, "progress": progress}
        return count_to_folder(store, motifs, Path(out), induced=induced, threads=count, **given)
    graph = simple_graph(edge_index, num_nodes) if store is None else graph_of_store(store, num_nodes)
    if engine == "ray":
        from mcn.motifs.on_ray import enumerate_on_ray

        found = enumerate_on_ray(graph, stage, store=store, address=address, jobs=count, progress=progress)
    else:
        found = enumerate_edges(graph, count, progress, stage)
    return MotifCounts(graph, found, induced, count)


def _estimated(
    edge_index: Any,
    num_nodes: int | None,
    motifs: Sequence[str] | None,
    error: float,
    induced: bool,
    seed: int,
) -> MotifEstimates:
    from mcn.motifs.estimate import estimate_totals

    if isinstance(edge_index, GraphStore):
        _same_nodes(edge_index, num_nodes)
        edge_index.check()
        indptr, indices = np.asarray(edge_index.indptr), np.asarray(edge_index.indices)
    else:
        graph = simple_graph(edge_index, num_nodes)
        source, indices = graph.edge_index
        degree = np.bincount(source, minlength=graph.num_nodes)
        indptr = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    return estimate_totals(indptr, indices, motifs, error, induced=induced, seed=seed)


def _threads(wanted: Any) -> int | None:
    threads = limit_threads(wanted)
    return None if threads is None else min(threads, 4 * available_threads())


def graph_of_store(store: GraphStore, num_nodes: int | None = None) -> SimpleGraph:
    """Read the edges of a store into memory.

    Raises:
        ValueError: its rows were altered, or `num_nodes` is not its number of nodes.
    """
    _same_nodes(store, num_nodes)
    store.check()
    indptr, indices = upper_rows(np.asarray(store.indptr), np.asarray(store.indices))
    if int(indptr[-1]) != len(indices):
        raise ValueError(
            f"{store.path}/indices.npy: not every edge stands in the rows of both its nodes; the file was "
            "altered: pack again"
        )
    return SimpleGraph(store.num_nodes, indptr, indices)


def _same_nodes(store: GraphStore, num_nodes: int | None) -> None:
    if num_nodes is not None and as_integer(num_nodes, "num_nodes") != store.num_nodes:
        raise ValueError(f"num_nodes is {num_nodes}, but {store.path} has {store.num_nodes} nodes")


@kernel
def upper_rows(indptr: Any, indices: Any) -> Any:
    """The neighbours v > u of every node u, out of all."""
    n = len(indptr) - 1
    upper, out = np.zeros(n + 1, np.int64), np.empty(len(indices) // 2, np.uint32)
    end = 0
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            if indices[e] > u:
                if end < len(out):  # beyond it in a file that was altered
                    out[end] = indices[e]
                end += 1
        upper[u + 1] = end
    return upper, out
