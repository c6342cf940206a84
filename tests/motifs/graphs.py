"""Small graphs of every shape, for hypothesis."""

from __future__ import annotations

from itertools import combinations

from hypothesis import strategies as st


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
