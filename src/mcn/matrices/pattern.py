"""The pattern of the powers, without their values: row lengths, upper bounds, and which nodes are reached.

In a symmetric pattern a walk of k − 2 steps can go one edge to and fro, so the pattern of A^k contains
that of A^(k−2). What is new in step k are the neighbours of what was new in step k − 1: a breadth-first
search in which a node counts once per parity. It visits every edge at most twice per row, for any K.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from mcn._jit import kernel

_ONE = np.uint64(1)


@kernel
def row_lengths(
    steps: int,
    num_nodes: int,
    indptr: Any,
    indices: Any,
    motif: int,
    start: int,
    stop: int,
    lengths: Any,
    seen: Any,
    queue: Any,
) -> None:
    """Count the entries of rows start … stop − 1 of Ψ(A_t^k) into ``lengths[motif, k − 1, i]``.

    `seen` (uint8 [2·N], zero between calls) marks (parity, node); `queue` (uint64 [2·N]) lists them.
    """
    n = np.uint64(num_nodes)
    offset = np.uint64(motif) * n
    sizes = np.zeros(2, np.int64)
    for i in range(start, stop):
        own = np.uint64(i)
        queue[0] = own
        seen[own] = 1
        begin, end = 0, 1
        sizes[0], sizes[1] = 1, 0
        for k in range(1, steps + 1):
            parity = k & 1
            shift = n if parity else np.uint64(0)
            found = end
            for p in range(begin, end):
                row = offset + (queue[p] if parity else queue[p] - n)
                for q in range(np.uint64(indptr[row]), np.uint64(indptr[row + _ONE])):
                    j = shift + np.uint64(indices[q])
                    if seen[j] == 0:
                        seen[j] = 1
                        queue[found] = j
                        found += 1
            sizes[parity] += found - end
            begin, end = end, found
            missing = seen[shift + own] == 0  # every Ψ puts the node itself into its row
            lengths[motif, k - 1, i] = sizes[parity] + (1 if missing else 0)
        for p in range(end):
            seen[queue[p]] = 0


def most_entries(indptr: NDArray[np.int64], indices: NDArray[Any], steps: int) -> NDArray[np.int64]:
    """Bound the entries of Ψ(A^k) from above, k = 1 … `steps`, in O(steps · entries of A).

    A row of A^k is no longer than the rows of A^(k−1) of its neighbours together, and than its component.
    """
    n = indptr.size - 1
    ones = np.ones(indices.size)
    pattern = csr_array((ones, indices.astype(np.int32, copy=False), indptr), shape=(n, n))
    _, component = connected_components(pattern, directed=False)
    ceiling = np.bincount(component, minlength=1)[component].astype(np.float64)
    bounds = np.empty(steps, np.int64)
    length = np.ones(n)
    for k in range(steps):
        length = np.minimum(np.asarray(pattern @ length), ceiling)
        bounds[k] = int(np.minimum(length + 1, ceiling).sum())
    return bounds


@kernel
def reach(indptr: Any, indices: Any, offset: int, depth: int, targets: Any, marked: Any) -> None:
    """Set ``marked[j]`` for every node within `depth` steps of the targets, the targets included."""
    num_nodes = marked.size
    seen = np.zeros(num_nodes, np.uint8)
    queue = np.empty(num_nodes, np.int64)
    end = 0
    for t in targets:
        seen[t] = 1
        queue[end] = t
        end += 1
    begin = 0
    for _ in range(depth):
        found = end
        for p in range(begin, end):
            row = offset + queue[p]
            for q in range(indptr[row], indptr[row + 1]):
                j = np.int64(indices[q])
                if seen[j] == 0:
                    seen[j] = 1
                    queue[found] = j
                    found += 1
        begin, end = end, found
    for p in range(end):
        marked[queue[p]] = True
