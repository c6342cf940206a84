"""The part of a large graph that a page draws: the surroundings of a few nodes, and their strongest edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcn.viz.drawing import Pairs
from mcn.viz.force_layout import edge_strengths

CENTRES = 24


def drawn_nodes(
    edges: Pairs, num_nodes: int, most: int, centres: Sequence[int] = ()
) -> tuple[NDArray[np.int64], int]:
    """Return the nodes to draw, ascending, and around how many centres they lie: 0 if all are drawn.

    The part grows from its centres and their neighbours until it has `most` nodes: neighbours of its nodes
    join, as many at a time as it has already, those first that have the largest share of their own neighbours
    in it; so it is made of groups, not of hubs. Without given `centres` a large graph has `CENTRES` of them,
    drawn with a fixed seed, and more where no neighbours are left.
    """
    if num_nodes <= most and not len(centres):
        return np.arange(num_nodes), 0
    graph = sp.coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(num_nodes, num_nodes))
    graph = sp.csr_array(graph + graph.T)
    degree = np.diff(graph.indptr)
    order = np.random.default_rng(0).permutation(num_nodes)
    start = np.asarray(centres if len(centres) else order[:CENTRES], np.int64)
    inside, count = np.zeros(num_nodes, bool), len(start)
    inside[np.append(start, graph[start].indices)[: max(most, len(start))]] = True
    while (taken := int(inside.sum())) < most:
        share = np.where(inside, 0.0, graph @ inside / np.maximum(degree, 1))
        room = min(taken, most - taken)
        joining = np.argsort(-share, kind="stable")[: min(room, np.count_nonzero(share))]
        if not len(joining):
            if len(centres):
                break
            joining = order[~inside[order]][:room]
            count += len(joining)
        inside[joining] = True
    return np.flatnonzero(inside), count


def drawn_edges(edges: Pairs, num_nodes: int, most: int) -> NDArray[np.bool_]:
    """Return which edges to draw, bool [M]: the strongest ones, of which every node has one.

    An edge is strong if its ends share many neighbours (`edge_strengths`): the groups of a graph stay visible.
    """
    drawn = np.zeros(len(edges), bool)
    drawn[np.argsort(-edge_strengths(edges, num_nodes), kind="stable")[:most]] = True
    return drawn
