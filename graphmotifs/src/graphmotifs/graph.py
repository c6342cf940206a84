"""`SimpleGraph`: an undirected graph without self-loops and repeats, as CSR, made of any edge list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._arguments import as_array, as_integer
from graphmotifs._jit import kernel
from graphmotifs._memory import total_bytes
from graphmotifs._sparse import check_csr

MAX_NODES = 2**31
NO_MEMORY = "does not fit into memory"
_NODE_BYTES = 24  # of the tables that are made while sorting
_FLAG = np.uint32(1 << 31)
_MASK = np.uint32((1 << 31) - 1)


@dataclass(frozen=True)
class SimpleGraph:
    """An undirected graph without self-loops or repeated edges, and what was dropped to make it one.

    Row u of the CSR (`indptr`, `indices`) holds the neighbours v > u in ascending order. `ways` says how each
    edge was given: 1 from u to v, 2 from v to u, 3 both; None where nobody knows.

    Raises:
        ValueError: a row or a neighbour is out of range; kernels would follow it without looking.
    """

    num_nodes: int
    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    self_loops: int = 0
    duplicates: int = 0
    one_way: int = 0
    ways: NDArray[np.uint8] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        n = as_integer(self.num_nodes, "num_nodes")
        if (
            getattr(self.indptr, "dtype", None) != np.int64
            or getattr(self.indices, "dtype", None) != np.uint32
        ):
            raise ValueError("the graph: expected NumPy arrays, indptr of int64 and indices of uint32")
        check_csr(self.indptr, self.indices, (n, n), "the graph")
        ways = self.ways
        if ways is not None and not (
            ways.dtype == np.uint8 and ways.shape == self.indices.shape and ((ways - 1) < 3).all()
        ):
            raise ValueError("the graph: expected ways of uint8, one of 1, 2 and 3 for every edge")

    @property
    def num_edges(self) -> int:
        """Undirected edges."""
        return len(self.indices)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Int64 [M, 2]: the edges as (u, v) with u < v, sorted."""
        pairs = np.empty((self.num_edges, 2), np.int64)
        pairs[:, 0] = np.repeat(np.arange(self.num_nodes), np.diff(self.indptr))
        pairs[:, 1] = self.indices
        return pairs

    @property
    def edge_index(self) -> NDArray[np.int64]:
        """Int64 [2, 2M]: both directions of every edge, sorted, as PyG expects them."""
        both: NDArray[np.int64] = arc_ends(self.indptr, self.indices, None, None)
        return both

    @property
    def arcs(self) -> NDArray[np.int64]:
        """Int64 [2, A]: every edge in the directions that it was given in, sorted."""
        arcs: NDArray[np.int64] = arc_ends(self.indptr, self.indices, known_ways(self), None)
        return arcs

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Int64 [N]: the number of neighbours of every node."""
        degree: NDArray[np.int64] = node_degrees(self.indptr, self.indices)
        return degree


def known_ways(graph: SimpleGraph) -> NDArray[np.uint8]:
    """Return the directions of a graph's edges, or refuse a graph that has none."""
    if graph.ways is None:
        raise ValueError("this graph has no directions; give the arcs themselves, edge_index [2, E]")
    return graph.ways


def simple_graph(edge_index: Any, num_nodes: int | None = None) -> SimpleGraph:
    """Check an edge list of shape [2, E] and make it simple.

    Args:
        edge_index: integer ids, as a NumPy array, a torch tensor or nested lists. Each column is an
            edge in either or both directions. A `SimpleGraph` is returned as it is.
        num_nodes: number of nodes; the largest id plus one if not given.

    Raises:
        ValueError: wrong shape, ids that are not integers, negative or out of range.
    """
    if isinstance(edge_index, SimpleGraph):
        if num_nodes is not None and as_integer(num_nodes, "num_nodes") != edge_index.num_nodes:
            raise ValueError(f"num_nodes is {num_nodes}, but the graph has {edge_index.num_nodes} nodes")
        return edge_index
    source, target = endpoints(edge_index)
    n = _num_nodes(source, target, num_nodes)
    try:
        indptr, indices, ways, loops, duplicates, one_way = _sort_and_merge(source, target, n)
    except MemoryError as error:
        raise ValueError(f"a graph of {n:,} nodes and {len(source):,} entries {NO_MEMORY}") from error
    indices, ways = (each[: indptr[-1]].copy() for each in (indices, ways))
    return SimpleGraph(n, indptr, indices, int(loops), int(duplicates), int(one_way), ways)


def endpoints(edge_index: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both rows of an edge list of shape [2, E] as int32 or int64, or refuse it."""
    if hasattr(edge_index, "tocoo"):
        raise ValueError(
            "edge_index is a sparse matrix; expected ids [2, E], such as np.stack(matrix.nonzero())"
        )
    array = as_array(edge_index, "edge_index", "[2, E]")
    if array.ndim != 2 or array.shape[0] != 2:
        hint = "; transpose it" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise ValueError(f"edge_index must have shape [2, E], got {list(array.shape)}{hint}")
    if array.size == 0:
        array = np.empty(array.shape, np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(
            f"edge_index must hold integer node ids, got dtype {array.dtype}{_first_fraction(array)}"
        )
    if array.dtype not in (np.int64, np.int32):
        largest = int(array.max(initial=0))
        if largest >= MAX_NODES:
            raise ValueError(f"edge_index holds node id {largest}; at most 2**31 nodes are supported")
        array = array.astype(np.int64)
    return np.ascontiguousarray(array[0]), np.ascontiguousarray(array[1])


def _first_fraction(array: NDArray[Any]) -> str:
    if array.dtype.kind != "f":
        return ""
    bad = np.argwhere(~np.isfinite(array) | (array != np.floor(array)))
    if len(bad) == 0:
        return "; convert it with .astype(int) if the values are meant as ids"
    row, column = bad[0]
    return f" (value {array[row, column]} in column {column})"


def _num_nodes(source: NDArray[Any], target: NDArray[Any], num_nodes: int | None) -> int:
    n = None if num_nodes is None else as_integer(num_nodes, "num_nodes")
    if n is not None and n < 0:
        raise ValueError(f"num_nodes must not be negative, got {n}")
    largest = max((int(a.max()) for a in (source, target) if a.size), default=-1)
    smallest = min((int(a.min()) for a in (source, target) if a.size), default=0)
    if smallest < 0:
        raise ValueError(f"edge_index holds a negative node id: {_edge_with(source, target, smallest)}")
    if n is None:
        n = largest + 1
    elif largest >= n:
        raise ValueError(
            f"edge_index holds a node id outside 0..{n - 1} (num_nodes={n}): "
            f"{_edge_with(source, target, largest)}"
        )
    if n > MAX_NODES:
        raise ValueError(f"{n:,} nodes: at most 2**31 = {MAX_NODES:,} are supported; compact the ids first")
    if n * _NODE_BYTES > total_bytes():
        raise ValueError(f"{n:,} nodes take more memory than this machine has; compact the ids first")
    return n


def _edge_with(source: NDArray[Any], target: NDArray[Any], value: int) -> str:
    column = int(np.flatnonzero((source == value) | (target == value))[0])
    return f"{value} in column {column} ({source[column]}, {target[column]})"


@kernel
def node_degrees(indptr: Any, indices: Any) -> Any:
    """Return the number of neighbours of every node."""
    n = len(indptr) - 1
    degree = np.zeros(n, np.int64)
    for u in range(n):
        degree[u] += indptr[u + 1] - indptr[u]
        for e in range(indptr[u], indptr[u + 1]):
            degree[indices[e]] += 1
    return degree


@kernel
def arc_ends(indptr: Any, indices: Any, ways: Any, places: Any) -> Any:
    """Return the arcs of a graph, int64 [2, A], sorted: the edges in the directions of `ways`, or in both.

    `places` [M, 2], if there are any, get where the two directions of each edge stand, or -1. Rows are walked
    upwards, so that a node's smaller neighbours are all in place, in order, before its larger ones follow.
    """
    n = len(indptr) - 1
    start = np.zeros(n + 1, np.int64)
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            start[u + 1] += 1 if ways is None else ways[e] & 1
            start[indices[e] + 1] += 1 if ways is None else ways[e] >> 1
    for u in range(n):
        start[u + 1] += start[u]
    arcs = np.empty((2, start[n]), np.int64)
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            way = 3 if ways is None else ways[e]
            for back in range(2):
                there = (way >> back) & 1
                tail, head = (np.int64(indices[e]), u) if back else (u, np.int64(indices[e]))
                if places is not None:
                    places[e, back] = start[tail] if there else -1
                if there:
                    arcs[0, start[tail]], arcs[1, start[tail]] = tail, head
                    start[tail] += 1
    return arcs


@kernel
def _sort_and_merge(source: Any, target: Any, n: int) -> Any:
    """Return the CSR of the sorted edges without self-loops and repeats, and what was dropped.

    Two stable counting sorts, by the larger and then by the smaller end, and one pass that drops repeats.

    The top bit of a stored id says in which direction the entry was listed.
    """
    by_low = np.zeros(n + 1, np.int64)
    by_high = np.zeros(n + 1, np.int64)
    loops = 0
    for e in range(len(source)):
        a, b = source[e], target[e]
        if a == b:
            loops += 1
            continue
        by_low[min(a, b) + 1] += 1
        by_high[max(a, b) + 1] += 1
    for i in range(n):
        by_low[i + 1] += by_low[i]
        by_high[i + 1] += by_high[i]

    kept = len(source) - loops
    lows, highs = np.empty(kept, np.uint32), np.empty(kept, np.uint32)
    slot, second = by_high.copy(), by_low.copy()
    for e in range(len(source)):
        a, b = source[e], target[e]
        if a < b:
            lows[slot[b]] = np.uint32(a)
            slot[b] += 1
        elif b < a:
            lows[slot[a]] = np.uint32(b) | _FLAG
            slot[a] += 1
    for v in range(n):
        for p in range(by_high[v], by_high[v + 1]):
            u = lows[p] & _MASK
            highs[second[u]] = np.uint32(v) | (lows[p] & _FLAG)
            second[u] += 1

    indptr, ways = np.zeros(n + 1, np.int64), np.empty(kept, np.uint8)
    duplicates, one_way, end = 0, 0, 0
    for u in range(n):
        p = by_low[u]
        while p < by_low[u + 1]:
            v = highs[p] & _MASK
            forward, backward = 0, 0
            while p < by_low[u + 1] and highs[p] & _MASK == v:
                if highs[p] & _FLAG:
                    backward += 1
                else:
                    forward += 1
                p += 1
            if forward > 0 and backward > 0:
                duplicates += forward + backward - 2
            else:
                one_way += 1
                duplicates += forward + backward - 1
            highs[end] = v
            ways[end] = (forward > 0) + 2 * (backward > 0)
            end += 1
        indptr[u + 1] = end
    return indptr, highs, ways, loops, duplicates, one_way
