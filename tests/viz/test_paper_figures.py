"""The paper's figures 1 to 4, drawn."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mcn
from mcn.paper import draw_figure1, draw_figure2, draw_figure3, draw_figure4
from mcn.paper.figures_of_graphs import misled_node, votes
from mcn.paper.figures_of_runs import class_component, lines_into, option_name, telling_nodes
from mcn.viz import explain
from mcn.viz.drawing import COLOURS
from tests.conftest import refuses
from tests.viz.conftest import Trained, train

pytest.importorskip("matplotlib")
nx = pytest.importorskip("networkx")

Graph = tuple[Data, mcn.MotifCounts]
MOTIFS = ("edge", "4-path", "triangle")


def graph_of(pairs: list[tuple[int, int]], size: int, labels: list[int] | None = None) -> Graph:
    index = torch.tensor(pairs).T
    y = None if labels is None else torch.tensor(labels)
    data = Data(edge_index=torch.cat([index, index.flip(0)], dim=1), num_nodes=size, y=y)
    return data, mcn.count_motifs(data.edge_index, size)


@pytest.fixture
def kite() -> Graph:
    """A 4-clique on 0 … 3, and the path 3-4-5-6 hanging on it."""
    return graph_of([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6)], 7)


def test_areas_and_widths_follow_the_weights(kite: Graph, tmp_path: Path) -> None:
    figure = draw_figure1(*kite, tmp_path / "a.svg")
    assert [ax.get_title() for ax in figure.axes] == ["(a) edge", "(b) 4-clique", "(c) 4-path"]
    dotted, solid, rings, discs = figure.axes[0].collections
    areas = discs.get_sizes()
    np.testing.assert_allclose(areas / areas.max(), np.array([3, 3, 3, 4, 2, 2, 1]) / 4)
    assert len(dotted.get_segments()) == 0
    assert len(rings.get_offsets()) == 0
    assert len(solid.get_segments()) == 9
    assert len(set(solid.get_linewidths())) == 1

    dotted, solid, rings, discs = figure.axes[1].collections
    assert np.ptp(discs.get_sizes()) == 0
    assert len(discs.get_offsets()) == 4
    assert len(rings.get_offsets()) == 3
    assert (len(dotted.get_segments()), len(solid.get_segments())) == (3, 6)


def test_induced_four_paths_by_hand_and_nodes_keep_their_places(kite: Graph, tmp_path: Path) -> None:
    """Paths c-3-4-5 (c = 0, 1, 2) and 3-4-5-6: edges c-3 have 1, 3-4 and 4-5 have 4, 5-6 has 1."""
    figure = draw_figure1(*kite, tmp_path / "a.svg", motifs=["4-path"])
    dotted, solid, rings, discs = figure.axes[0].collections
    assert len(dotted.get_segments()) == 3  # inside the clique, away from 3
    widths = np.sort(solid.get_linewidths())
    np.testing.assert_allclose(widths, [0.5 + 2.6 / 4] * 4 + [0.5 + 2.6] * 2)
    np.testing.assert_allclose(np.sort(solid.get_alpha()), [0.25 + 0.6 / 4] * 4 + [0.85] * 2)
    areas = discs.get_sizes()  # weighted degrees: 1, 1, 1, 7, 8, 5, 1
    np.testing.assert_allclose(areas / areas.max(), np.array([1, 1, 1, 7, 8, 5, 1]) / 8)
    assert len(rings.get_offsets()) == 0
    figure = draw_figure1(*kite, tmp_path / "a.png", motifs=["edge", "4-path"])
    first, second = (ax.collections[3].get_offsets() for ax in figure.axes)
    np.testing.assert_array_equal(first, second)
    between = np.linalg.norm(first[:, None] - first[None], axis=2)
    assert between[~np.eye(7, dtype=bool)].min() > 0.05 * between.max()


@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_the_file_is_the_same_every_time(kite: Graph, tmp_path: Path, suffix: str, start: bytes) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        draw_figure1(*kite, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_bytes().startswith(start)
    if suffix == "svg":  # is vectors
        tags = {element.tag.split("}")[1] for element in ElementTree.parse(paths[0]).iter()}
        assert "path" in tags
        assert "image" not in tags


def test_components_stand_apart(tmp_path: Path) -> None:
    figure = draw_figure1(*graph_of([(0, 1), (1, 2), (3, 4)], 6), tmp_path / "a.png", motifs=["edge"])
    discs, rings = figure.axes[0].collections[3], figure.axes[0].collections[2]  # node 5 is a ring
    place = np.concatenate([discs.get_offsets(), rings.get_offsets()])
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    assert max(distance[0, 1], distance[1, 2], distance[3, 4]) < distance[:3, 3:].min()


@pytest.mark.slow
def test_larger_graphs_are_laid_out_by_springs(tmp_path: Path) -> None:
    ring = graph_of([(i, (i + 1) % 600) for i in range(600)], 600)
    figure = draw_figure1(*ring, tmp_path / "a.png", motifs=["edge"])
    assert np.isfinite(figure.axes[0].collections[3].get_offsets()).all()


@pytest.mark.parametrize(
    ("name", "motifs", "nodes", "message"),
    [
        ("a.jpg", ["edge"], 7, r"a\.jpg: a figure is written as \.pdf, \.svg or \.png"),
        ("a.png", ["5-clique"], 7, "5-clique"),
        ("a.png", [], 7, "at least one motif"),
        ("a.png", ["edge"], 9, "counts are of 7 nodes, the graph has 9"),
    ],
)
def test_refusals_of_figure_1(
    kite: Graph, tmp_path: Path, name: str, motifs: list[str], nodes: int, message: str
) -> None:
    data = Data(edge_index=kite[0].edge_index, num_nodes=nodes)
    refuses(message, draw_figure1, data, kite[1], tmp_path / name, motifs=motifs)
    with pytest.raises(ValueError, match="1 to 2,000 nodes, this graph has 2,001"):
        draw_figure1(*graph_of([(0, 1)], 2001), tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def group(labels: list[int]) -> Graph:
    """Node 0 with a triangle 0-1-2 and three loose ties 3, 4, 5."""
    return graph_of([(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (0, 5)], 6, labels)


def test_votes_by_hand_and_a_tie_is_shared() -> None:
    data, counts = group([1, 1, 1, 0, 0, 0])
    plain, credit = votes(data, counts, "edge")
    # 0 hears two of class 1 and three of class 0; 1 and 2 hear class 1 alone; 3, 4, 5 hear class 1.
    np.testing.assert_array_equal(credit, [0, 1, 1, 0, 0, 0])
    assert (plain.nodes, plain.right) == (6, pytest.approx(2 / 6))
    strong, credit = votes(data, counts, "triangle")
    np.testing.assert_array_equal(credit, [1, 1, 1, np.nan, np.nan, np.nan])
    assert (strong.nodes, strong.right) == (3, 1.0)
    assert misled_node(data, counts, "triangle") == 0
    data, counts = group([1, 1, 1, 0, 0, 2])
    assert votes(data, counts, "edge")[1][0] == 0.5
    message = "no node has neighbours that are wrong about it and a right triangle"
    refuses(message, misled_node, data, counts, "triangle")


def test_the_panels_of_figure_2_and_strong_ties_are_right_on_the_embedded_graph(tmp_path: Path) -> None:
    data, counts = group([1, 1, 1, 0, 0, 0])
    figure = draw_figure2(data, counts, tmp_path / "figure2.png")
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["(a) edge: 2 of 5 agree with the target", "(b) triangle: 2 of 2 agree with the target"]
    first = (tmp_path / "figure2.png").read_bytes()
    draw_figure2(data, counts, tmp_path / "figure2.png")
    assert (tmp_path / "figure2.png").read_bytes() == first
    refuses(r"written as \.pdf", draw_figure2, data, counts, tmp_path / "figure2.gif")
    data = mcn.load_dataset("strong-ties")
    counts = mcn.count_motifs(data.edge_index, data.num_nodes)
    node = misled_node(data, counts, "triangle")
    for motif, right in (("edge", 0.0), ("triangle", 1.0)):
        assert votes(data, counts, motif)[1][node] == right


def test_what_flows_is_what_the_network_multiplied_by(karate: Trained) -> None:
    found, stack = explain(karate.run, karate.data, keep=34), karate.run.inputs(karate.data).stack
    for layer in (0, -1):
        lines = lines_into(found, range(34), layer)
        # Coefficients of a node sum to one, and every node hears itself.
        sums = np.bincount([line.to for line in lines], [line.weight for line in lines])
        np.testing.assert_allclose(sums, np.ones(34), rtol=1e-4)
        assert {line.to for line in lines if line.to == line.of} == set(range(34))
        assert all(line.option == found.chosen[line.to, layer] for line in lines)
        for node in (0, 16, 33):
            motif, step = found.motifs[found.motif[node, layer]], int(found.step[node, layer])
            heard = {line.of for line in lines if line.to == node}
            assert heard == set(stack.matrix(motif, step)[[node]].indices.tolist())
    nodes = telling_nodes(found)  # those that are drawn
    chosen = found.motif[nodes, -1].tolist()
    assert chosen == sorted(set(chosen))
    assert (found.predicted[nodes] == found.truth[nodes]).all()
    assert option_name(found, 3) == "triangle, 2 steps"


def test_the_picture_of_figure_3(karate: Trained, tmp_path: Path) -> None:
    path = tmp_path / "figure3.png"
    figure = draw_figure3(karate.folder, karate.data, path, nodes=[16])
    (ax,) = figure.axes
    words = {text.get_text() for text in ax.texts}
    assert {"layer 1", "layer 2"} <= words
    found = explain(karate.run, karate.data, keep=4)
    last = lines_into(found, [16], -1)
    first = lines_into(found, {line.of for line in last}, 0)
    assert len(ax.lines) == len(last) + len(first)
    assert f"16: {option_name(found, last[0].option)}" in words
    assert path.read_bytes().startswith(b"\x89PNG")


def test_runs_without_choices_are_refused(views: Trained, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the nodes of this run choose no motifs"):
        draw_figure4(views.folder, views.data, tmp_path / "figure4.png", label=0)
    with pytest.raises(ValueError, match="figure 3 shows two layers of nodes that choose"):
        draw_figure3(views.folder, views.data, tmp_path / "figure3.png")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A run whose nodes choose differently: the paper's rule, a few epochs."""
    return train(tmp_path_factory.mktemp("run") / "karate", mcn.load_dataset("karate"), motifs=MOTIFS)


def largest(data: Data, label: int) -> set[int]:
    graph = nx.Graph(data.edge_index.T.tolist())
    graph.add_nodes_from(range(data.num_nodes))
    members = [node for node in graph if int(data.y[node]) == label]
    return max(nx.connected_components(graph.subgraph(members)), key=len)


@pytest.mark.parametrize("seed", range(8))
def test_the_component_is_the_largest(seed: int) -> None:
    graph = nx.gnm_random_graph(60, 70, seed=seed)
    data, _ = graph_of(list(graph.edges), 60, np.random.default_rng(seed).integers(0, 2, 60).tolist())
    for label in (0, 1):
        found = class_component(data, label)
        assert (np.diff(found) > 0).all()
        assert len(found) == len(largest(data, label))
        assert nx.is_connected(graph.subgraph(found.tolist()))
        assert set(data.y[found].tolist()) == {label}


def test_class_4_of_cora(data_root: Path) -> None:
    data = mcn.load_dataset("cora", root=data_root)
    found = class_component(data, 4)
    assert (int((data.y == 4).sum()), len(found)) == (426, 333)
    assert set(found.tolist()) == largest(data, 4)


@pytest.mark.parametrize("layer", [1, 2])
def test_colours_and_legend_say_what_was_chosen(trained: Trained, tmp_path: Path, layer: int) -> None:
    from matplotlib.colors import to_hex

    folder, data, run = trained
    figure = draw_figure4(folder, data, tmp_path / "a.svg", label=1, layer=layer)
    members = sorted(largest(data, 1))
    chosen = run.predict(data).motif[members, layer - 1]
    lines, *dots = figure.axes[0].collections
    inside = nx.Graph(data.edge_index.T.tolist()).subgraph(members)
    assert len(lines.get_segments()) == inside.number_of_edges()
    for t, motif in enumerate(MOTIFS):
        assert len(dots[t].get_offsets()) == (chosen == t).sum()
        assert to_hex(dots[t].get_facecolor()[0]) == COLOURS[t].lower()
        share = f"{motif}: {(chosen == t).sum()} ({(chosen == t).mean():.0%})"
        assert share in [text.get_text() for text in figure.legends[0].get_texts()]
    assert figure.axes[0].get_title() == f"(a) motif chosen in layer {layer}, class Officer"


def test_places_weights_and_legend_of_figure_4(trained: Trained, tmp_path: Path) -> None:
    """Each dot of panel a stands where panel b, which has all nodes in their order, has its node."""
    folder, data, run = trained
    members = sorted(largest(data, 0))
    figure = draw_figure4(folder, data, tmp_path / "a.png", label=0, weights="edge")
    chosen = run.predict(data).motif[members, 0]
    all_nodes = figure.axes[1].collections[3].get_offsets()  # every node has an edge: no rings
    for t in range(3):
        np.testing.assert_array_equal(figure.axes[0].collections[1 + t].get_offsets(), all_nodes[chosen == t])
    # The weights are those of the whole graph.
    graph = nx.Graph(data.edge_index.T.tolist())
    shared = [[len(set(graph[u]) & set(graph[v])) for v in graph[u] if v in members] for u in members]
    degree = np.array([sum(counts) for counts in shared], float)
    figure = draw_figure4(folder, data, tmp_path / "a.png", label=0)
    areas = figure.axes[1].collections[3].get_sizes()
    np.testing.assert_allclose(areas / areas.max(), degree[degree > 0] / degree.max())
    for weights in (None, "triangle"):
        figure = draw_figure4(run, data, tmp_path / "a.png", label=0, weights=weights)
        assert len(figure.axes) == (1 if weights is None else 2)
        title = "motif chosen" if weights is None else "(a) motif chosen"
        assert figure.axes[0].get_title().startswith(title)
        box = figure.legends[0].get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": 4}, r"label = 4: no node has this class; the classes are \[0, 1\]"),
        ({"layer": 3}, "layer = 3: the network of this run has layers 1 to 2"),
        ({"run": Path()}, "no finished run here"),
        ({"path": Path("a")}, "a figure is written as"),
        ({"weights": "5-star"}, "5-star"),
    ],
)
def test_refusals_of_figure_4(trained: Trained, here: Path, changes: dict[str, Any], message: str) -> None:
    given = {"run": trained.folder, "data": trained.data, "path": Path("a.png"), "label": 0}
    refuses(message, draw_figure4, **given | changes)
    assert list(here.iterdir()) == []
