"""`GraphRows`: a graph as the rows of its adjacency, in arrays that may be mapped from files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._arguments import as_integer
from graphmotifs._jit import kernel
from graphmotifs._sparse import check_csr
from graphmotifs.graph import SimpleGraph


class GraphRows:
    """An undirected graph as the rows of its adjacency: all neighbours of every node, ascending.

    Every edge stands in the rows of both its nodes. The arrays may be memory maps: triangles and 2-stars are
    then counted without reading the graph into memory (`count` with `out`).

    Args:
        indptr: int64 [N + 1], where the row of each node begins in `indices`.
        indices: int32 or int64 [2M], the neighbours.
        name: what messages call the graph.

    >>> GraphRows(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)).num_edges
    2
    """

    def __init__(self, indptr: NDArray[Any], indices: NDArray[Any], name: str = "the graph") -> None:
        self.indptr, self.indices, self.name = indptr, indices, name
        self.num_nodes, self.num_edges = len(indptr) - 1, len(indices) // 2

    def check(self) -> None:
        """Look at every row once, because compiled code follows the numbers in it without looking.

        Raises:
            ValueError: a neighbour is out of range, a row is not ascending, or a node is its own neighbour.
        """
        check_csr(self.indptr, self.indices, (self.num_nodes,) * 2, self.name)
        row = int(first_unsound_row(np.asarray(self.indptr), np.asarray(self.indices), self.num_nodes))
        if row >= 0:
            raise ValueError(
                f"{self.name}: the neighbours of node {row} are not ascending node numbers other than its own"
            )

    def checked_arrays(self, num_nodes: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return both arrays after `check`, and after a look at the number of nodes that a caller stated."""
        if num_nodes is not None and as_integer(num_nodes, "num_nodes") != self.num_nodes:
            raise ValueError(f"num_nodes is {num_nodes}, but {self.name} has {self.num_nodes} nodes")
        self.check()
        return np.asarray(self.indptr), np.asarray(self.indices)

    def in_memory(self, num_nodes: int | None = None) -> SimpleGraph:
        """Read the graph into memory, every edge once: of every node u, the neighbours v > u."""
        starts, neighbours = self.checked_arrays(num_nodes)
        lower = np.repeat(np.arange(self.num_nodes, dtype=neighbours.dtype), np.diff(starts))
        above = neighbours > lower
        indptr = np.zeros(self.num_nodes + 1, np.int64)
        np.cumsum(np.bincount(lower[above], minlength=self.num_nodes), out=indptr[1:])
        indices = neighbours[above].astype(np.uint32)
        if 2 * len(indices) != len(neighbours):
            raise ValueError(
                f"{self.name}: not every edge stands in the rows of both its nodes; "
                "the graph is directed, or the numbers were altered"
            )
        return SimpleGraph(self.num_nodes, indptr, indices)


@kernel
def first_unsound_row(indptr: Any, indices: Any, n: int) -> Any:
    """The first node whose neighbours do not ascend, are out of range, or include itself; -1 for none."""
    for u in range(n):
        last = -1
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if v <= last or v >= n or v == u:
                return u
            last = v
    return -1
