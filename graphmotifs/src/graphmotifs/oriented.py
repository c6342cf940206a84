"""`Oriented`: a graph as the counting kernels take it, nodes ranked and edges pointing upwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from graphmotifs._sort import sort_part
from graphmotifs._threads import cut_rows, run_chunks
from graphmotifs.graph import SimpleGraph, known_ways

_FEW = 8  # steps per edge that take no longer than to rank the nodes


class Oriented(NamedTuple):
    """A graph with its nodes renamed by ascending degree (rank 0 has the fewest neighbours), or as numbered.

    Edge e points from a lower rank to a higher one and is an entry of the lower node's out-list; a ranked
    node has at most √(2M) of those, whatever its degree. The row of node v is its in-list (lower ends of the
    same edges), then its out-list: `in_ptr[v]` + `out_ptr[v]` is where it begins, and edge e stands in the
    row of its lower end u at e + `in_ptr[u + 1]`.
    """

    degree: NDArray[np.uint32]  # [N], by rank
    out_ptr: NDArray[np.uint64]  # [N + 1]
    out: NDArray[np.uint32]  # [M]: higher end of edge e, ascending within a list
    pair: NDArray[np.uint32]  # [M]: where edge e stands among the graph's sorted pairs; empty: at e
    in_ptr: NDArray[np.uint64]  # [N + 1]
    rows: NDArray[np.uint32]  # [2M]: all neighbours, ascending within a row
    place: NDArray[np.uint32]  # [M]: of each entry of the in-lists, where its edge stands in the other row
    row_start: NDArray[np.uint32]  # [N]: where each row's first lower end of two or more edges stands
    ways: NDArray[np.uint8] = np.empty(0, np.uint8)  # [M]: 0 if e was given upwards, 1 downwards, 2 both ways
    swapped: NDArray[np.bool_] = np.empty(0, np.bool_)  # [M]: whether its lower end is the larger id


def orient(graph: SimpleGraph, threads: int = 1, *, both: bool = True, directed: bool = False) -> Oriented:
    """Rank the nodes by degree and point every edge at its higher end; without `both`, in-lists stay empty.

    Both kinds of list are made by a counting sort in which every worker has counters of its own, so that
    it knows where its edges go; the result does not depend on the number of workers. If `directed`, it is
    kept in which directions the edges were given.
    """
    rank, degree = rank_by_degree(graph.degrees.astype(np.uint32))
    out_ptr, out, pair, highs = _out_lists(graph, rank, threads)
    if not both:
        given = (graph.indptr, graph.indices, known_ways(graph), rank, pair) if directed else None
        ways = () if given is None else _ways_by_rank(*given)
        return Oriented(degree, out_ptr, out, pair, out_ptr[:0], out[:0], out[:0], out[:0], *ways)
    return Oriented(degree, out_ptr, out, pair, *_whole_rows(degree, out_ptr, out, highs))


def orient_by_id(graph: SimpleGraph, threads: int = 1, *, both: bool = False) -> Oriented | None:
    """Point the edges at the larger id, as they are kept; None where ranks pay off.

    Ranks keep lists short where there are hubs, but to rank takes longer than a few steps per edge: along the
    lists that the edges point at, and with `both` to every pair within a list too.
    """
    starts, ends = graph.indptr.view(np.uint64), graph.indices
    none, sizes = ends[:0], np.diff(graph.indptr)
    steps = int(sizes[ends].sum()) + (int((sizes * (sizes - 1) // 2).sum()) if both else 0)
    if steps > _FEW * graph.num_edges:
        return None
    if not both:
        return Oriented(none, starts, ends, none, starts[:0], none, none, none)
    cuts = cut_rows(starts, threads)
    highs = np.empty((threads, graph.num_nodes), np.uint32)
    for own, first, last in zip(highs, starts[cuts[:-1]], starts[cuts[1:]], strict=True):
        own[:] = np.bincount(ends[first:last], minlength=graph.num_nodes)
    degree = sizes.astype(np.uint32) + highs.sum(0, dtype=np.uint32)
    return Oriented(degree, starts, ends, none, *_whole_rows(degree, starts, ends, highs))


def _whole_rows(
    degree: NDArray[np.uint32], out_ptr: NDArray[np.uint64], out: NDArray[np.uint32], highs: NDArray[Any]
) -> tuple[NDArray[Any], ...]:
    """Return the rows of all neighbours, and where edges stand in them (see `Oriented`).

    `highs` has, for every worker, how many of the edges in its part of the out-lists point at each node.
    """
    threads, in_ptr = len(highs), _row_pointers(highs)
    rows, place = np.split(np.empty(3 * len(out), np.uint32), [2 * len(out)])
    cuts = cut_rows(out_ptr, threads)
    given = (out_ptr, out, in_ptr, rows, place)
    _each_worker(lambda w: _fill_rows(cuts[w], cuts[w + 1], highs[w], *given), threads)
    return in_ptr, rows, place, _starts_without_leaves(degree, in_ptr, out_ptr, rows)


def _out_lists(graph: SimpleGraph, rank: NDArray[np.uint32], threads: int) -> tuple[NDArray[Any], ...]:
    """Return the out-lists: row pointers, higher ends, and the place of every edge among the graph's pairs.

    Last, the number of edges that point at each node, for every worker's part of the lists.
    """
    n, m = graph.num_nodes, graph.num_edges
    cuts = cut_rows(graph.indptr, threads)
    lows, csr = np.zeros((threads, n), np.uint32), (graph.indptr, graph.indices, rank)
    _each_worker(lambda w: _count_lows(cuts[w], cuts[w + 1], *csr, lows[w]), threads)
    out_ptr = _row_pointers(lows)
    keys = np.empty(m, np.int64)  # never negative; the sort of this type is compiled for others too
    _each_worker(lambda w: _fill_lists(cuts[w], cuts[w + 1], *csr, lows[w], out_ptr, keys), threads)
    out, pair = np.empty((2, m), np.uint32)
    ends = cut_rows(out_ptr, threads)
    highs = np.zeros((threads, n), np.uint32)
    _each_worker(lambda w: _sort_lists(ends[w], ends[w + 1], out_ptr, keys, out, pair, highs[w]), threads)
    return out_ptr, out, pair, highs


def _each_worker(work: Callable[[int], object], threads: int) -> None:
    run_chunks(lambda _worker, start, _stop: work(start), range(threads + 1), threads)


@kernel
def rank_by_degree(degree: Any) -> Any:
    """Return the rank of every node by ascending degree, ties by id, and the degrees by rank."""
    n = len(degree)
    most = np.uint32(0)
    for u in range(n):
        most = max(most, degree[u])
    start = np.zeros(np.int64(most) + 2, np.int64)
    for u in range(n):
        start[degree[u] + 1] += 1
    for d in range(len(start) - 1):
        start[d + 1] += start[d]
    rank, by_rank = np.empty(n, np.uint32), np.empty(n, np.uint32)
    for u in range(n):
        r = start[degree[u]]
        start[degree[u]] = r + 1
        rank[u], by_rank[r] = np.uint32(r), degree[u]
    return rank, by_rank


@kernel
def _count_lows(start: Any, stop: Any, indptr: Any, indices: Any, rank: Any, lows: Any) -> Any:
    """Count the edges of nodes in [start, stop) at the end of lower rank."""
    for u in range(start, stop):
        a = rank[u]
        for e in range(indptr[u], indptr[u + 1]):
            lows[min(a, rank[indices[e]])] += np.uint32(1)


@kernel
def _row_pointers(counts: Any) -> Any:
    """Return the row pointers of all workers' counts; `counts` becomes their offsets within the rows."""
    threads, n = counts.shape
    ptr = np.zeros(n + 1, np.uint64)
    for i in range(n):
        row = np.uint32(0)
        for w in range(threads):
            own = counts[w, i]
            counts[w, i] = row
            row += own
        ptr[i + 1] = ptr[i] + np.uint64(row)
    return ptr


@kernel
def _fill_lists(
    start: Any, stop: Any, indptr: Any, indices: Any, rank: Any, offset: Any, out_ptr: Any, keys: Any
) -> Any:
    """Put each edge into the list of its lower end, as one number: higher end, then place among the pairs."""
    for u in range(start, stop):
        a = rank[u]
        for e in range(indptr[u], indptr[u + 1]):
            b = rank[indices[e]]
            low = min(a, b)
            key = (np.uint64(max(a, b)) << np.uint64(32)) | np.uint64(e)
            keys[out_ptr[low] + np.uint64(offset[low])] = key
            offset[low] += np.uint32(1)


@kernel
def _sort_lists(start: Any, stop: Any, out_ptr: Any, keys: Any, out: Any, pair: Any, highs: Any) -> Any:
    for u in range(start, stop):
        first, last = out_ptr[u], out_ptr[u + 1]
        sort_part(keys, np.int64(first), np.int64(last))  # as others call it: compiled once
        for p in range(first, last):
            v = np.uint32(keys[p] >> 32)
            out[p], pair[p] = v, np.uint32(keys[p])
            highs[v] += np.uint32(1)


@kernel
def _ways_by_rank(indptr: Any, indices: Any, given: Any, rank: Any, pair: Any) -> Any:
    """Return how every edge points, seen from its lower rank, and whether that end has the larger id."""
    seen = np.empty(len(indices), np.uint8)
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            swapped = rank[u] > rank[indices[e]]
            way = given[e] - 1
            seen[e] = (1 - way if swapped and way < 2 else way) + 4 * swapped
    ways, turned = np.empty(len(indices), np.uint8), np.empty(len(indices), np.bool_)
    for e in range(len(indices)):
        ways[e], turned[e] = seen[pair[e]] & 3, seen[pair[e]] > 3
    return ways, turned


@kernel
def _fill_rows(
    start: Any, stop: Any, offset: Any, out_ptr: Any, out: Any, in_ptr: Any, rows: Any, place: Any
) -> Any:
    for u in range(start, stop):
        for e in range(out_ptr[u], out_ptr[u + 1]):
            v, here = out[e], e + in_ptr[u + 1]
            p = in_ptr[v] + np.uint64(offset[v])
            rows[here], rows[p + out_ptr[v]], place[p] = v, np.uint32(u), np.uint32(here)
            offset[v] += np.uint32(1)


@kernel
def _starts_without_leaves(degree: Any, in_ptr: Any, out_ptr: Any, rows: Any) -> Any:
    """Return where each row's first lower neighbour of two or more edges stands; leaves are on no cycle."""
    start = np.empty(len(degree), np.uint32)
    for v in range(len(degree)):
        p, shift = in_ptr[v], out_ptr[v]
        # Neighbours ascend by rank, which is by degree: leaves come first.
        while p < in_ptr[v + 1] and degree[rows[p + shift]] < 2:
            p += np.uint64(1)
        start[v] = np.uint32(p + shift)
    return start
