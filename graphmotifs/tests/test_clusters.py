"""Clusters by motifs: the conductance by its definition, and communities that only directions tell apart."""

from itertools import combinations

import numpy as np
import pytest

import graphmotifs

nx = pytest.importorskip("networkx")


def cyclic_communities(seed: int, size: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Two groups, joined as densely as they are in themselves; nearly all cycles are inside of them."""
    rng = np.random.default_rng(seed)
    n, order, arcs = 2 * size, rng.permutation(2 * size), []
    for a, b in combinations(range(n), 2):
        # From the first group to the second, with few exceptions; in a group, at most half way round a ring.
        forward = rng.random() > 0.02 if a < size <= b else (b - a) % size < size / 2
        if rng.random() < 0.4:
            arcs.append((a, b) if forward else (b, a))
    return order[np.array(arcs)].T, np.isin(np.arange(n), order[:size])


def agreement(labels: np.ndarray, group: np.ndarray) -> float:
    same = (labels[labels >= 0] == group[labels >= 0]).mean()
    return max(same, 1 - same)


@pytest.mark.parametrize("seed", range(5))
def test_planted_cycles_are_found_where_edges_find_nothing(seed: int) -> None:
    arcs, group = cyclic_communities(seed)
    counts = graphmotifs.count(arcs, len(group), directed=True)
    cycles, edges = graphmotifs.motif_clusters(counts, "cycle"), graphmotifs.motif_clusters(counts, "arc")
    assert agreement(cycles.labels, group) > 0.9
    assert agreement(edges.labels, group) < 0.75
    assert cycles.conductance < 0.25 < edges.conductance


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("motif", ["edge", "2-star", "triangle", "M5", "chain", "mutual-in", "cycle"])
def test_the_conductance_is_that_of_the_definition(motif: str, seed: int) -> None:
    """Instances that are cut, by the instances' nodes on the side where these are fewer."""
    directed = motif not in graphmotifs.GRAPHLETS
    graph = nx.gnp_random_graph(14, 0.3, seed=seed, directed=directed)
    find = graphmotifs.directed_graphlet_of if directed else graphmotifs.graphlet_of
    pattern = graph.__class__(find(motif).arcs if directed else find(motif).edges)
    found = graphmotifs.motif_clusters(
        graphmotifs.count(np.array(graph.edges).T, 15, directed=directed), motif
    )
    sides = [set(np.flatnonzero(found.labels == label)) for label in (0, 1)]
    assert 0 < len(sides[0]) <= len(sides[1])
    assert found.left_out == 15 - sum(map(len, sides))
    every = [set(s) for s in combinations(sides[0] | sides[1], len(pattern))]
    inside = [s for s in every if nx.is_isomorphic(graph.subgraph(s), pattern)]
    cut = sum(bool(s & sides[0]) and bool(s & sides[1]) for s in inside)
    assert found.conductance == pytest.approx(cut / min(sum(len(s & side) for s in inside) for side in sides))


def test_a_motif_that_is_not_there() -> None:
    with pytest.raises(ValueError, match=r"^this graph has no instance of 'cycle', so that there is nothing"):
        graphmotifs.motif_clusters(graphmotifs.count([[0, 1], [1, 2]], directed=True), "cycle")
