"""Edge weights that a graph carries, as one symmetric matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from mcn.data.edge_list import checked_weights, edge_weights
from mcn.data.simple import simple_graph

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data


def given_weights(data: Data) -> tuple[str, Tensor] | None:
    """Return the name and the values of a graph's edge weights; None if it has none.

    They are `data.edge_weight`, or `data.edge_attr` if that has one dimension; one of more holds features of
    the edges, no weights.
    """
    weight, attribute = data.get("edge_weight"), data.get("edge_attr")
    if weight is not None:
        return "edge_weight", weight
    return None if attribute is None or attribute.dim() != 1 else ("edge_attr", attribute)


def weight_matrix(data: Data) -> csr_array | None:
    """Return W, float64 CSR [N, N], symmetric, with the weight of every edge; None for a graph without.

    Repeated entries of `data.edge_index` are summed, and so are the two directions of an edge, unless all
    edges are given in both with the same weight. Self-loops are left out, as they are of the graph.

    Raises:
        ValueError: not one positive finite number per edge.
    """
    found = given_weights(data)
    if found is None:
        return None
    name, values = found
    edges = np.asarray(data.edge_index)
    if list(values.shape) != [edges.shape[1]]:
        raise ValueError(
            f"data.{name} has shape {list(values.shape)}; expected [{edges.shape[1]}], one number per edge"
        )
    cells: Any = values.detach().double().numpy()
    checked = checked_weights(cells, lambda at: f"data.{name}, edge {at}", name)
    graph = simple_graph(edges, data.num_nodes)
    each, _ = edge_weights(graph, edges, checked)
    size = graph.num_nodes
    return csr_array((each.numpy().astype(np.float64), tuple(graph.edge_index)), shape=(size, size))
