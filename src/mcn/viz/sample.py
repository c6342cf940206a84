"""The part of a large graph that a page draws: the surroundings of a few nodes, and their strongest edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcn.viz.drawing import Pairs
from mcn.viz.force_layout import edge_strengths

CENTRES = 24


def drawn_nodes(edges: Pairs, num_nodes: int, most: int, centres: Sequence[int] = ()) -> NDArray[np.int64]:
    """Return the nodes to draw, ascending: all, or `most` of them that lie around a few centres.

    The part grows from its centres and their neighbours until it has `most` nodes: neighbours of its nodes
    join, as many at a time as it has already, those first that have the largest share of their own neighbours
    in it; so it is made of groups, not of hubs. Without given `centres` a large graph has `CENTRES` of them,
    drawn with a fixed seed, and more where no neighbours are left.
    """
    if num_nodes <= most and not len(centres):
        return np.arange(num_nodes)
    one_way = sp.coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(num_nodes, num_nodes))
    graph = sp.csr_array(one_way + one_way.T)
    degree = np.diff(graph.indptr)
    order = np.random.default_rng(0).permutation(num_nodes)
    start = np.asarray(centres if len(centres) else order[:CENTRES], np.int64)
    inside = np.zeros(num_nodes, bool)
    inside[np.append(start, graph[start].indices)[: max(most, len(start))]] = True
    while (taken := int(inside.sum())) < most:
        share = np.where(inside, 0.0, graph @ inside / np.maximum(degree, 1))
        room = min(taken, most - taken)
        joining = np.argsort(-share, kind="stable")[: min(room, np.count_nonzero(share))]
        if not len(joining):
            if len(centres):
                break
            joining = order[~inside[order]][:room]
        inside[joining] = True
    return np.flatnonzero(inside)


def drawn_edges(edges: Pairs, num_nodes: int, most: int) -> NDArray[np.bool_]:
    """Return which edges to draw, bool [M]: the strongest ones, of equally strong ones some at random.

    An edge is strong if its ends share many neighbours (`edge_strengths`): groups stay visible.
    """
    drawn = np.ones(len(edges), bool)
    if len(edges) > most:
        chance = np.random.default_rng(0).random(len(edges))
        drawn[np.lexsort((chance, -edge_strengths(edges, num_nodes)))[most:]] = False
    return drawn
