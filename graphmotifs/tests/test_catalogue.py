import re
import xml.etree.ElementTree as ET
from collections import Counter

import networkx as nx
import pytest
from tests.conftest import refuses

import mcn
from graphmotifs.catalogue import ACCENT, CATALOGUE, INK, orbit_edges, places
from mcn.motifs import MOTIFS, graphlet_of, picture

SVG = "{http://www.w3.org/2000/svg}"


def test_names() -> None:
    edges = (
        "edge 2-star triangle 4-path-edge 4-path-center 3-star 4-cycle tailed-triangle-tail "
        "tailed-triangle-center tailed-triangle-edge chordal-cycle-edge chordal-cycle-center 4-clique"
    )
    graphlets = "edge 2-star triangle 4-path 3-star 4-cycle tailed-triangle chordal-cycle 4-clique"
    assert " ".join(mcn.EDGE_ORBITS) == edges
    assert " ".join(mcn.GRAPHLETS) == graphlets
    assert (len(mcn.EDGE_ORBITS), len(mcn.NODE_ORBITS), len(mcn.GRAPHLETS)) == (13, 15, 9)
    assert set(MOTIFS) == set(mcn.EDGE_ORBITS) | set(mcn.GRAPHLETS)
    assert len(set(MOTIFS)) == len(MOTIFS) == 16
    for name in mcn.GRAPHLETS:
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
    refuses(r"^unknown motif", mcn.count_motifs([[0], [1]]).adjacency, wrong)
    refuses(r"^unknown motif", picture, wrong)


@pytest.mark.parametrize("motif", MOTIFS)
def test_the_picture_is_valid_xml_with_its_nodes_and_edges(motif: str) -> None:
    root = ET.fromstring(picture(motif, size=60))
    g = graphlet_of(motif)
    assert root.tag == f"{SVG}svg"
    assert root.attrib["viewBox"] == "0 0 60 60"
    assert root.find(f"{SVG}title").text == motif
    lines, circles = root.findall(f"{SVG}line"), root.findall(f"{SVG}circle")
    assert len(lines) == len(g.edges)
    assert len(circles) == g.size
    strokes = Counter(line.attrib["stroke"] for line in lines)
    assert strokes[ACCENT] == len(orbit_edges(motif))
    assert strokes[INK] == len(g.edges) - len(orbit_edges(motif))
    spots = {(c.attrib["cx"], c.attrib["cy"]) for c in circles}
    assert len(spots) == g.size
    for x, y in spots:
        assert 0 < float(x) < 60
        assert 0 < float(y) < 60
    for line in lines:  # every line joins two of the nodes
        ends = {(line.attrib["x1"], line.attrib["y1"]), (line.attrib["x2"], line.attrib["y2"])}
        assert ends <= spots
        assert len(ends) == 2


def test_marked_edges_by_hand() -> None:
    assert orbit_edges("tailed-triangle-tail") == [(0, 1)]
    assert orbit_edges("tailed-triangle-edge") == [(2, 3)]
    assert orbit_edges("chordal-cycle-center") == [(0, 2)]
    assert orbit_edges("4-path") == [(0, 1), (1, 2), (2, 3)]
    assert sum(len(orbit_edges(orbit)) for orbit in mcn.EDGE_ORBITS) == 1 + 2 + 3 + 3 + 3 + 4 + 4 + 5 + 6
    for g in mcn.GRAPHLETS:
        assert len(orbit_edges(g)) == len(graphlet_of(g).edges)


@pytest.mark.parametrize("graphlet", mcn.GRAPHLETS)
def test_no_edge_runs_through_a_third_node(graphlet: str) -> None:
    at = places(graphlet)
    for u, v in graphlet_of(graphlet).edges:
        for w in range(len(at)):
            if w not in (u, v):
                (ax, ay), (bx, by), (cx, cy) = at[u], at[v], at[w]
                cross = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
                between = min(ax, bx) <= cx <= max(ax, bx) and min(ay, by) <= cy <= max(ay, by)
                assert abs(cross) > 1e-9 or not between
