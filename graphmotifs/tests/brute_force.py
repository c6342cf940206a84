"""Motif counts by looking at every set of two, three and four nodes: slow, and obviously right.

Also small graphs of every shape, for hypothesis.
"""

from itertools import chain, combinations

import networkx as nx
import numpy as np
from hypothesis import strategies as st

# Named by hand, independently of the catalogue: graphlet by sorted degrees, orbits by degrees.
GRAPHLET = {
    (1, 1): "edge", (1, 1, 2): "2-star", (2, 2, 2): "triangle",
    (1, 1, 2, 2): "4-path", (1, 1, 1, 3): "3-star", (2, 2, 2, 2): "4-cycle",
    (1, 2, 2, 3): "tailed-triangle", (2, 2, 3, 3): "chordal-cycle", (3, 3, 3, 3): "4-clique",
}  # fmt: skip
EDGE = [
    ("edge", (1, 1)), ("2-star", (1, 2)), ("triangle", (2, 2)),
    ("4-path", (1, 2)), ("4-path", (2, 2)), ("3-star", (1, 3)), ("4-cycle", (2, 2)),
    ("tailed-triangle", (1, 3)), ("tailed-triangle", (2, 3)), ("tailed-triangle", (2, 2)),
    ("chordal-cycle", (2, 3)), ("chordal-cycle", (3, 3)), ("4-clique", (3, 3)),
]  # fmt: skip
NODE = [
    ("edge", 1), ("2-star", 1), ("2-star", 2), ("triangle", 2),
    ("4-path", 1), ("4-path", 2), ("3-star", 1), ("3-star", 3), ("4-cycle", 2),
    ("tailed-triangle", 1), ("tailed-triangle", 2), ("tailed-triangle", 3),
    ("chordal-cycle", 2), ("chordal-cycle", 3), ("4-clique", 3),
]  # fmt: skip


def instances(graph: nx.Graph, induced: bool):
    """Every instance of every graphlet: its name and its own edges, as a small graph."""
    for size in (2, 3, 4):
        for nodes in combinations(graph.nodes, size):
            inside = list(graph.subgraph(nodes).edges)
            parts = (
                [tuple(inside)]
                if induced
                else chain.from_iterable(combinations(inside, k) for k in range(size - 1, len(inside) + 1))
            )
            for part in parts:
                small = nx.Graph(part)
                if len(small) == size and nx.is_connected(small):
                    yield GRAPHLET[tuple(sorted(d for _, d in small.degree))], small


def count(n: int, edges, induced: bool):
    """per_edge [M, 13], per_node [N, 15] and, per graphlet, the matrix of pairs that share an instance."""
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    rows = {tuple(sorted(e)): i for i, e in enumerate(sorted(tuple(sorted(e)) for e in graph.edges))}
    per_edge = np.zeros((len(rows), 13), np.int64)
    per_node = np.zeros((n, 15), np.int64)
    pairs = {name: np.zeros((n, n), np.int64) for name in GRAPHLET.values()}
    for name, small in instances(graph, induced):
        degree = dict(small.degree)
        for u, v in small.edges:
            orbit = EDGE.index((name, tuple(sorted((degree[u], degree[v])))))
            per_edge[rows[min(u, v), max(u, v)], orbit] += 1
        for u in small:
            per_node[u, NODE.index((name, degree[u]))] += 1
        for u, v in combinations(small, 2):
            pairs[name][u, v] += 1
            pairs[name][v, u] += 1
    return per_edge, per_node, pairs


@st.composite
def small_graphs(draw, max_nodes: int = 8):
    """(number of nodes, list of edges): empty, sparse, dense, stars, cliques, disconnected parts."""
    n = draw(st.integers(0, max_nodes))
    every = list(combinations(range(n), 2))
    shape = draw(st.sampled_from(["any", "any", "any", "star", "clique", "two cliques", "cycle", "empty"]))
    if shape == "any":
        edges = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    elif shape == "star":
        edges = [(0, v) for v in range(1, n)]
    elif shape == "clique":
        edges = every
    elif shape == "two cliques":
        half = n // 2
        edges = [e for e in every if (e[0] < half) == (e[1] < half)]
    elif shape == "cycle":
        edges = [(i, (i + 1) % n) for i in range(n)] if n > 2 else []
    else:
        edges = []
    if edges and draw(st.booleans()):  # a few missing edges make chords and tails
        drop = draw(st.sets(st.integers(0, len(edges) - 1), max_size=3))
        edges = [e for i, e in enumerate(edges) if i not in drop]
    return n, edges
