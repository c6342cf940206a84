import re

import pytest
from conftest import refuses

import graphmotifs
from graphmotifs import MOTIFS, graphlet_of
from graphmotifs.catalogue import CATALOGUE

nx = pytest.importorskip("networkx")


def test_names() -> None:
    edges = (
        "edge 2-star triangle 4-path-edge 4-path-center 3-star 4-cycle tailed-triangle-tail "
        "tailed-triangle-center tailed-triangle-edge chordal-cycle-edge chordal-cycle-center 4-clique"
    )
    graphlets = "edge 2-star triangle 4-path 3-star 4-cycle tailed-triangle chordal-cycle 4-clique"
    assert " ".join(graphmotifs.EDGE_ORBITS) == edges
    assert " ".join(graphmotifs.GRAPHLETS) == graphlets
    assert (len(graphmotifs.EDGE_ORBITS), len(graphmotifs.NODE_ORBITS), len(graphmotifs.GRAPHLETS)) == (
        13,
        15,
        9,
    )
    assert set(MOTIFS) == set(graphmotifs.EDGE_ORBITS) | set(graphmotifs.GRAPHLETS)
    assert len(set(MOTIFS)) == len(MOTIFS) == 16
    for name in graphmotifs.GRAPHLETS:
        assert graphlet_of(name).name == name
    assert graphlet_of("tailed-triangle-edge").name == "tailed-triangle"


def test_the_graphlets_are_all_connected_graphs_on_2_to_4_nodes() -> None:
    atlas = [g for g in nx.graph_atlas_g() if 2 <= len(g) <= 4 and nx.is_connected(g)]
    assert len(atlas) == len(CATALOGUE)
    for g in CATALOGUE:
        assert sum(nx.is_isomorphic(nx.Graph(g.edges), other) for other in atlas) == 1, g.name


@pytest.mark.parametrize("g", CATALOGUE, ids=lambda g: g.name)
def test_the_orbits_are_those_of_the_automorphisms(g) -> None:
    """Two nodes (edges) share an orbit when a symmetry of the graphlet takes one to the other."""
    graph = nx.Graph(g.edges)
    symmetries = list(nx.isomorphism.GraphMatcher(graph, graph).isomorphisms_iter())
    node_orbits = {frozenset(s[u] for s in symmetries) for u in graph}
    edge_orbits = {frozenset(frozenset((s[u], s[v])) for s in symmetries) for u, v in graph.edges}
    assert len(node_orbits) == len(g.node_orbits)
    assert len(edge_orbits) == len(g.edge_orbits)
    by_degree = {degree: name for name, degree in g.node_orbits}
    assert {frozenset(by_degree[graph.degree[u]] for u in orbit) for orbit in node_orbits} == {
        frozenset([name]) for name, _ in g.node_orbits
    }


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("triangel", "did you mean 'triangle'"),
        ("4-paths", "did you mean '4-path'"),
        ("4clique", "did you mean '4-clique'"),
        ("chordal", "did you mean 'chordal-cycle'"),
        ("zzz", "known motifs: edge, 2-star, triangle"),
        ("", "known motifs: edge, 2-star, triangle"),
        (None, "known motifs: edge, 2-star, triangle"),
    ],
)
def test_unknown_motif(wrong, hint: str) -> None:
    refuses(f"^unknown motif {re.escape(repr(wrong))}; .*{hint}", graphlet_of, wrong)
    refuses(r"^unknown motif", graphmotifs.count([[0], [1]]).adjacency, wrong)
