import xml.etree.ElementTree as ET
from collections import Counter

import pytest

import mcn
from mcn.motifs import MOTIFS, graphlet_of, picture
from mcn.motifs.pictures import ACCENT, INK, orbit_edges, places
from tests.conftest import refuses

SVG = "{http://www.w3.org/2000/svg}"


def test_unknown_motif() -> None:
    refuses(r"^unknown motif 'zzz'", picture, "zzz")
    refuses(r"^unknown motif None", picture, None)


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
