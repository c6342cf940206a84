"""`count_motifs`: from an edge list, a digraph, or a graph on disk, to motif counts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from mcn._names import one_of
from mcn.data.arrays import as_integer, limit_threads
from mcn.data.csr_graph import SimpleGraph, simple_graph
from mcn.data.edge_list import kind_of, object_edges
from mcn.motifs.catalogue import check_names, stage_of_all
from mcn.motifs.counts import MotifCounts
from mcn.motifs.directed import DirectedCounts, enumerate_arcs
from mcn.motifs.enumerate import Progress, enumerate_edges, enumerate_on_ray
from mcn.motifs.estimate import MotifEstimates, estimate_totals, exact_steps
from mcn.motifs.triads import directed_name
from mcn.store import GraphStore

ENGINES = ("local", "ray")
MEMORY = 2**30
"""Bytes of the buffer for counting on disk, if none are given."""


_COUNTING_BYTES = 40
"""That counting in memory takes per entry of the rows, two of which are an edge."""


class _How(TypedDict, total=False):
    motifs: Sequence[str] | None
    induced: bool
    threads: int | None
    progress: Progress | None
    engine: str
    address: str | None


@overload
def count_motifs(edge_index: Any, num_nodes: int | None = None, **how: Unpack[_How]) -> MotifCounts: ...
@overload
def count_motifs(
    edge_index: Any, num_nodes: int | None = None, *, directed: Literal[True], **how: Unpack[_How]
) -> DirectedCounts: ...
@overload
def count_motifs(
    edge_index: Any, num_nodes: int | None = None, *, approximate: float, seed: int = 0, **how: Unpack[_How]
) -> MotifEstimates: ...
@overload
def count_motifs(
    edge_index: Any,
    num_nodes: int | None = None,
    *,
    out: str | os.PathLike[str],
    memory: int = MEMORY,
    **how: Unpack[_How],
) -> Mapping[str, NDArray[Any]]: ...
def count_motifs(
    edge_index: Any,
    num_nodes: int | None = None,
    *,
    directed: bool = False,
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
) -> MotifCounts | DirectedCounts | Mapping[str, NDArray[Any]] | MotifEstimates:
    """Count, exactly, the connected graphlets on 2, 3 and 4 nodes at every edge and node.

    With `directed`, count the 13 connected triads of a digraph instead, at every arc and node.

    Args:
        edge_index: integer node ids of shape [2, E] (NumPy, torch, lists); direction, self-loops and
            repeats do not matter. Or a PyG `Data`, a graph of NetworkX or igraph, a SciPy matrix, whose ids
            `counts.node_ids` has in the order of the nodes. Or an `mcn.data.SimpleGraph`, or an
            `mcn.GraphStore`.
        num_nodes: number of nodes; the largest id plus one if not given, or as many as the object has.
        directed: each column of `edge_index` is an arc, from the first row to the second; an object's edges
            have the directions it says. An `mcn.DirectedCounts` is returned. All motifs are then counted in
            one pass, induced, in memory and on this machine.
        motifs: names of edge orbits or graphlets that are needed; all if not given. Only their work is done:
            edge, 2-star and triangle need triangles alone; all others but 4-path and 4-cycle leave out the
            4-cycles, which take most of the time.
        induced: count induced subgraphs (the paper's motifs). False: every subgraph, so that a
            triangle also holds three 2-stars.
        threads: cores to use, at most 1024; by the size of the graph if not given. The counts do not depend
            on it.
        progress: called with the finished fraction now and then.
        out: for a store: a folder, which may be the store's own, that the counts of `motifs` are written to.
            Returned are memory-mapped arrays by motif, an entry for each of the store's `indices`.
        memory: with `out`: bytes of the buffer for triangles; 40 bytes per node come on top. Motifs on
            four nodes are counted in memory, which takes about 80 bytes per edge.
        engine: "local" for threads of this process, or "ray": the same counts, bit for bit, by tasks on a
            cluster, of which those on workers that die are done again. `threads` is then the number of tasks
            at a time.
        address: of a running Ray cluster; one is started on this machine if not given.
        approximate: estimate the totals alone, by sampling: 0.01 asks for 95 % intervals of one per cent up
            and down around those of `motifs`. Where exact counting is less work, as the degrees tell, it is
            done instead. An `mcn.motifs.MotifEstimates` is returned.
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
    >>> count_motifs([[0, 0, 1, 2], [1, 2, 2, 3]], directed=True).column("feed-forward-loop").tolist()
    [1, 1, 1, 0]
    """
    if directed:
        others = {"engine": (engine, "local"), "induced": (induced, True)}
        others |= {"out": (out, None), "approximate": (approximate, None), "address": (address, None)}
        for name, (value, usual) in others.items():
            if value != usual:
                raise ValueError(f"directed counts with {name}={value!r}: not yet; leave it out")
        check_names(motifs)
        for motif in motifs or ():
            directed_name(motif)
        graph, ids = graph_of(edge_index, num_nodes, directed=True)
        return DirectedCounts(graph, enumerate_arcs(graph, limit_threads(threads), progress), ids)
    stage, count = stage_of_all(motifs, induced), limit_threads(threads)
    one_of("engine", engine, ENGINES)
    if address is not None and engine != "ray":
        raise ValueError(f"address {address!r} is of a Ray cluster; it needs engine='ray', got {engine!r}")
    store = edge_index if isinstance(edge_index, GraphStore) else None
    edge_index, ids = _graph_of_object(edge_index)
    how: dict[str, Any]
    if approximate is not None:
        given: Any = simple_graph(edge_index, num_nodes) if store is None else store

        def rows() -> tuple[NDArray[Any], NDArray[Any]]:
            return _all_rows(given) if store is None else _rows_of_store(store, num_nodes)

        def counted() -> MotifCounts:
            return count_motifs(given, motifs=motifs, induced=induced, threads=threads, progress=progress)

        starts, neighbours = (given.indptr, given.indices) if store is None else rows()
        degrees = given.degrees if store is None else np.diff(starts)
        fits = store is None or len(neighbours) * _COUNTING_BYTES < MEMORY
        how = {"steps": exact_steps(degrees, starts, neighbours, stage), "counted": counted if fits else None}
        how["num_edges"] = int(degrees.sum()) // 2
        return estimate_totals(rows, motifs, approximate, induced=induced, seed=seed, **how)
    if out is not None:
        from mcn.motifs.on_disk import count_to_folder

        if store is None:
            raise ValueError("out= is for counts of an mcn.GraphStore; save others with MotifCounts.save")
        how = {"induced": induced, "threads": count, "progress": progress}

        def in_memory(names: list[str]) -> MotifCounts:
            counts: MotifCounts = count_motifs(store, motifs=names, engine=engine, address=address, **how)
            return counts

        local = engine == "local"
        return count_to_folder(store, motifs, Path(out), in_memory, memory=memory, local=local, **how)
    graph = simple_graph(edge_index, num_nodes) if store is None else graph_of_store(store, num_nodes)
    if engine == "ray":
        numbers = enumerate_on_ray(graph, stage, store=store, address=address, jobs=count, progress=progress)
    else:
        numbers = enumerate_edges(graph, count, progress, stage)
    return MotifCounts(graph, numbers, induced, count, store.ids if store is not None else ids)


def _graph_of_object(thing: Any, directed: bool = False) -> tuple[Any, NDArray[Any] | None]:
    """Return the graph of an object and the ids of its nodes; what is no such object is returned as it is."""
    if kind_of(thing) in ("matrix", "networkx", "igraph"):
        from mcn.data.edge_files import graph_of_edges

        edges = object_edges(thing)
        return graph_of_edges(edges), edges.ids
    if isinstance(thing, SimpleGraph) or not hasattr(thing, "edge_index"):  # its own takes time to make
        return thing, None
    from mcn.data.checks import told_nodes, warn_of_unused  # with torch, which counting alone does not need

    graph = simple_graph(thing.edge_index, told_nodes(thing))
    warn_of_unused(thing, replace(graph, one_way=0) if directed else graph)
    return graph, getattr(thing, "node_ids", None)


def graph_of(
    edge_index: Any, num_nodes: int | None, directed: bool = False
) -> tuple[SimpleGraph, NDArray[Any] | None]:
    """Return the graph that `count_motifs` would count in, if it is in memory, and the ids of its nodes."""
    if isinstance(edge_index, GraphStore):
        raise ValueError("an mcn.GraphStore here: not yet; give the edges themselves, edge_index [2, E]")
    given, ids = _graph_of_object(edge_index, directed)
    return simple_graph(given, num_nodes), ids


def _all_rows(graph: SimpleGraph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All neighbours of every node, ascending, as a CSR."""
    return np.concatenate([[0], np.cumsum(graph.degrees)]), graph.edge_index[1]


def _rows_of_store(store: GraphStore, num_nodes: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
    if num_nodes is not None and as_integer(num_nodes, "num_nodes") != store.num_nodes:
        raise ValueError(f"num_nodes is {num_nodes}, but {store.path} has {store.num_nodes} nodes")
    store.check()
    return np.asarray(store.indptr), np.asarray(store.indices)


def graph_of_store(store: GraphStore, num_nodes: int | None = None) -> SimpleGraph:
    """Read the edges of a store into memory: of every node u, the neighbours v > u."""
    starts, neighbours = _rows_of_store(store, num_nodes)
    lower = np.repeat(np.arange(store.num_nodes, dtype=neighbours.dtype), np.diff(starts))
    above = neighbours > lower
    indptr = np.zeros(store.num_nodes + 1, np.int64)
    np.cumsum(np.bincount(lower[above], minlength=store.num_nodes), out=indptr[1:])
    indices = neighbours[above].astype(np.uint32)
    if 2 * len(indices) != len(neighbours):
        raise ValueError(
            f"{store.path}/indices.npy: not every edge stands in the rows of both its nodes; the file was "
            "altered: pack again"
        )
    return SimpleGraph(store.num_nodes, indptr, indices)
