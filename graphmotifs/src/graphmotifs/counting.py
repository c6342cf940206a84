"""`count`: from an edge index, a graph of another library or rows on disk, to motif counts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from graphmotifs._arguments import limit_threads
from graphmotifs._messages import one_of
from graphmotifs.catalogue import check_names, stage_of_all
from graphmotifs.directed_counts import DirectedCounts, enumerate_arcs
from graphmotifs.estimates import MotifEstimates, estimate_totals, exact_steps
from graphmotifs.graph import SimpleGraph, simple_graph
from graphmotifs.graph_rows import GraphRows
from graphmotifs.motif_counts import MotifCounts
from graphmotifs.objects import graph_of_object
from graphmotifs.passes import Progress, enumerate_edges
from graphmotifs.triads import directed_name

ENGINES = ("local", "ray")
MEMORY = 2**30
"""Bytes of the buffer for counting on disk, if none are given."""
_COUNTING_BYTES = 40
"""Bytes that counting in memory takes per entry of the rows; an edge has two entries."""


class _How(TypedDict, total=False):
    motifs: Sequence[str] | None
    induced: bool
    threads: int | None
    progress: Progress | None
    engine: str
    address: str | None


@overload
def count(graph: Any, num_nodes: int | None = None, **how: Unpack[_How]) -> MotifCounts: ...
@overload
def count(
    graph: Any, num_nodes: int | None = None, *, directed: Literal[True], **how: Unpack[_How]
) -> DirectedCounts: ...
@overload
def count(
    graph: Any, num_nodes: int | None = None, *, approximate: float, seed: int = 0, **how: Unpack[_How]
) -> MotifEstimates: ...
@overload
def count(
    graph: Any,
    num_nodes: int | None = None,
    *,
    out: str | os.PathLike[str],
    memory: int = MEMORY,
    **how: Unpack[_How],
) -> Mapping[str, NDArray[Any]]: ...
def count(
    graph: Any,
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
        graph: an edge index, integer node numbers of shape [2, E], every column an edge (NumPy arrays and
            memory maps, torch tensors, lists); direction, self-loops and repeats do not matter. A list of
            pairs [E, 2] is refused: transpose it. Or a graph of NetworkX or igraph, a square SciPy matrix, or
            a frame of pandas, polars or pyarrow with an edge per row, in columns named source and target, or
            src and dst, from and to, u and v, else in the first two: `counts.node_ids` has their ids in the
            order of the nodes. Or a `SimpleGraph`, or `GraphRows`, which may be on disk.
        num_nodes: number of nodes; the largest number plus one if not given, or as many as the object has.
        directed: every column of the edge index is an arc, from the first row to the second; the edges of an
            object have the directions that it says. A `DirectedCounts` is returned. All motifs are then
            counted in one pass, induced, in memory and on this machine.
        motifs: names of edge orbits or graphlets that are needed; all if not given. Only their work is done:
            edge, 2-star and triangle need triangles alone; all others but 4-path and 4-cycle leave out the
            4-cycles, which take most of the time.
        induced: count induced subgraphs. False: count every subgraph, so that a triangle also holds three
            2-stars.
        threads: cores to use, at most 1024; by the size of the graph if not given. The counts do not depend
            on it.
        progress: called with the finished fraction now and then.
        out: for `GraphRows`: a folder that the counts of `motifs` are written to, in files `count.MOTIF.npy`.
            Returned are memory-mapped arrays by motif, with an entry for each of the rows' `indices`.
        memory: with `out`: bytes of the buffer for triangles; 40 bytes per node come on top. Motifs on
            four nodes are counted in memory, which takes about 80 bytes per edge.
        engine: "local" for threads of this process, or "ray": the same counts, bit for bit, by tasks on a
            cluster; the tasks of workers that die are done again. `threads` is then the number of tasks at a
            time.
        address: of a running Ray cluster; one is started on this machine if not given.
        approximate: estimate the totals alone, by sampling: 0.01 asks for 95 % intervals of one per cent up
            and down around those of `motifs`. Where exact counting is less work, as the degrees tell, it is
            done instead. A `MotifEstimates` is returned.
        seed: of the sampling.

    Raises:
        ValueError: the edges, `num_nodes` or `threads` are not what they should be; says what was expected.

    >>> counts = count([[0, 0, 1, 2], [1, 2, 2, 3]])
    >>> counts.column("triangle").tolist()
    [1, 1, 1, 0]
    >>> counts.per_edge.shape, counts.per_node.shape
    ((4, 13), (4, 15))
    >>> count([[0, 0, 1, 2], [1, 2, 2, 3]], motifs=["triangle"]).motifs
    ('edge', '2-star', 'triangle')
    >>> count([[0, 0, 1, 2], [1, 2, 2, 3]], directed=True).column("feed-forward-loop").tolist()
    [1, 1, 1, 0]
    """
    if directed:
        alone = {"engine": (engine, "local"), "induced": (induced, True)}
        alone |= {"out": (out, None), "approximate": (approximate, None), "address": (address, None)}
        for name, (value, usual) in alone.items():
            if value != usual:
                raise ValueError(f"directed counts with {name}={value!r}: not yet; leave it out")
        check_names(motifs)
        for motif in motifs or ():
            directed_name(motif)
        simple, ids = as_graph(graph, num_nodes)
        return DirectedCounts(simple, enumerate_arcs(simple, limit_threads(threads), progress), ids)
    stage, most_threads = stage_of_all(motifs, induced), limit_threads(threads)
    one_of("engine", engine, ENGINES)
    if address is not None and engine != "ray":
        raise ValueError(f"address {address!r} is of a Ray cluster; it needs engine='ray', got {engine!r}")
    rows = as_rows(graph)
    how: dict[str, Any] = {"induced": induced, "threads": most_threads, "progress": progress}
    if approximate is not None:
        given = as_graph(graph, num_nodes)[0] if rows is None else rows
        if rows is not None:
            rows.checked_arrays(num_nodes)
        return _estimate(given, motifs, approximate, stage=stage, seed=seed, **how)
    if out is not None:
        from graphmotifs.on_disk import count_to_folder

        if rows is None:
            raise ValueError("out= is for counts of GraphRows; save others with MotifCounts.save")

        def in_memory(names: list[str]) -> MotifCounts:
            counts: MotifCounts = count(rows, motifs=names, engine=engine, address=address, **how)
            return counts

        local = engine == "local"
        return count_to_folder(rows, motifs, Path(out), in_memory, memory=memory, local=local, **how)
    simple, ids = as_graph(graph, num_nodes)
    if engine == "ray":
        from graphmotifs.ray_passes import enumerate_on_ray

        cluster: dict[str, Any] = {"address": address, "jobs": most_threads, "progress": progress}
        numbers = enumerate_on_ray(simple, stage, rows=rows, **cluster)
    else:
        numbers = enumerate_edges(simple, most_threads, progress, stage)
    return MotifCounts(simple, numbers, induced, most_threads, ids)


def as_rows(thing: Any) -> GraphRows | None:
    """Return what has `indptr` and `indices` of all neighbours as `GraphRows`; None for anything else."""
    if isinstance(thing, GraphRows):
        return thing
    if isinstance(thing, SimpleGraph) or hasattr(thing, "tocoo") or not hasattr(thing, "indptr"):
        return None
    return GraphRows(thing.indptr, thing.indices)


def as_graph(thing: Any, num_nodes: int | None = None) -> tuple[SimpleGraph, NDArray[Any] | None]:
    """Return whatever `count` takes as a graph in memory, and the ids of its nodes where they have some."""
    rows = as_rows(thing)
    if rows is not None:
        return rows.in_memory(num_nodes), None
    found = None if isinstance(thing, SimpleGraph) else graph_of_object(thing)
    if found is None:
        return simple_graph(thing, num_nodes), None
    return simple_graph(found[0], num_nodes), found[1]


def _estimate(
    given: SimpleGraph | GraphRows,
    motifs: Sequence[str] | None,
    error: float,
    *,
    stage: int,
    induced: bool,
    threads: int | None,
    progress: Progress | None,
    seed: int,
) -> MotifEstimates:
    """Estimate totals by sampling, or count them where that is less work."""

    def all_rows() -> tuple[NDArray[Any], NDArray[Any]]:
        if isinstance(given, GraphRows):
            return np.asarray(given.indptr), np.asarray(given.indices)
        return np.concatenate([[0], np.cumsum(given.degrees)]), given.edge_index[1]

    def counted() -> MotifCounts:
        return count(given, motifs=motifs, induced=induced, threads=threads, progress=progress)

    starts, neighbours = np.asarray(given.indptr), np.asarray(given.indices)
    degrees = np.diff(starts) if isinstance(given, GraphRows) else given.degrees
    # Rows on disk may be too many for counting in memory.
    fits = isinstance(given, SimpleGraph) or len(neighbours) * _COUNTING_BYTES < MEMORY
    return estimate_totals(
        all_rows,
        motifs,
        error,
        induced=induced,
        seed=seed,
        num_edges=int(degrees.sum()) // 2,
        steps=exact_steps(degrees, starts, neighbours, stage),
        counted=counted if fits else None,
    )
