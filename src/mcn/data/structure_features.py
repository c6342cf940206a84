"""Node features that come from the graph alone: Weisfeiler–Lehman colours and degrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphmotifs.graph import SimpleGraph, simple_graph

if TYPE_CHECKING:
    from torch_geometric.data import Data

DEGREE_COLUMNS = 32


def wl_features(graph: SimpleGraph | Data, iterations: int = 3) -> sparse.csr_array[Any]:
    """One-hot Weisfeiler–Lehman colours, float32 [N, colours], those of all iterations side by side.

    Every node starts with the same colour; an iteration gives two nodes the same new colour exactly
    when they have the same colour and the same multiset of colours around them. The paper uses three
    iterations on DD-6 and DD-7. Colours are numbered by what they stand for, not by node order, so
    isomorphic graphs get equal columns.

    Args:
        graph: the graph; of PyG's `Data` the edges count.
        iterations: number of refinements, at least 1. The first tells degrees apart.
    """
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, got {iterations}")
    simple = _simple(graph)
    (source, target), degree = simple.edge_index, simple.degrees
    colours = np.zeros(simple.num_nodes, np.int64)
    blocks = []
    for _ in range(iterations):
        around = colours[target]
        around = around[np.lexsort((around, source))]
        colours = _refine(colours, around, np.cumsum(degree) - degree, degree)
        blocks.append(_one_hot(colours))
    return sparse.csr_array(sparse.hstack(blocks, format="csr", dtype=np.float32))


def _refine(
    colours: NDArray[np.int64], around: NDArray[np.int64], start: NDArray[np.int64], degree: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Number the distinct (colour, sorted colours around), degree by degree, in lexicographic order."""
    refined = np.empty_like(colours)
    used = 0
    for d in np.unique(degree):
        nodes = np.flatnonzero(degree == d)
        around_nodes = around[start[nodes, None] + np.arange(d)]
        rows = np.column_stack([colours[nodes], around_nodes])
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        refined[nodes] = used + inverse.reshape(-1)
        used += len(distinct)
    return refined


def _simple(graph: SimpleGraph | Data) -> SimpleGraph:
    return graph if isinstance(graph, SimpleGraph) else simple_graph(graph.edge_index, graph.num_nodes)


def degree_features(graph: SimpleGraph | Data) -> sparse.csr_array[Any]:
    """One-hot size of the degree, float32 [N, 32]: column 0 for degree 0, column c for 2^(c-1) ≤ d < 2^c.

    The columns mean the same on every graph, so a model trained on one graph can be used on another.

    Args:
        graph: the graph; of PyG's `Data` the edges count. `feature_tensor` makes `data.x` of the result.
    """
    return degree_columns(_simple(graph).degrees)


def degree_columns(degree: NDArray[np.int64]) -> sparse.csr_array[Any]:
    """Return the same for degrees that are known."""
    _, column = np.frexp(degree)
    return _one_hot(np.minimum(column.astype(np.int64), DEGREE_COLUMNS - 1), DEGREE_COLUMNS)


def _one_hot(codes: NDArray[np.int64], columns: int | None = None) -> sparse.csr_array[Any]:
    n = len(codes)
    width = int(codes.max(initial=-1)) + 1 if columns is None else columns
    return sparse.csr_array((np.ones(n, np.float32), codes, np.arange(n + 1)), shape=(n, width))
