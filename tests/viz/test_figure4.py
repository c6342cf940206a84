from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mcn
from mcn.train import MCNConfig, ViewsConfig, load_run, train_run
from mcn.viz import draw_figure4
from mcn.viz._drawing import COLOURS
from mcn.viz.figure4 import class_component

pytest.importorskip("matplotlib")
nx = pytest.importorskip("networkx")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Data]:
    """A run whose nodes choose differently: the paper's rule, a few epochs."""
    folder = tmp_path_factory.mktemp("run") / "karate"
    data = mcn.load_dataset("karate")
    motifs = ("edge", "4-path", "triangle")
    train_run(folder, data, MCNConfig(motifs=motifs, attention="paper", max_epochs=8), {"dataset": "karate"})
    return folder, data


def largest(data: Data, label: int) -> set[int]:
    graph = nx.Graph(data.edge_index.T.tolist())
    graph.add_nodes_from(range(data.num_nodes))
    members = [node for node in graph if int(data.y[node]) == label]
    return max(nx.connected_components(graph.subgraph(members)), key=len)


@pytest.mark.parametrize("seed", range(8))
def test_the_component_is_the_largest(seed: int) -> None:
    graph = nx.gnm_random_graph(60, 70, seed=seed)
    index = torch.tensor(list(graph.edges)).T
    y = torch.from_numpy(np.random.default_rng(seed).integers(0, 2, 60))
    data = Data(edge_index=torch.cat([index, index.flip(0)], dim=1), y=y, num_nodes=60)
    for label in (0, 1):
        found = class_component(data, label)
        assert (np.diff(found) > 0).all()
        assert len(found) == len(largest(data, label))
        assert nx.is_connected(graph.subgraph(found.tolist()))
        assert set(y[found].tolist()) == {label}


def test_class_4_of_cora(data_root: Path) -> None:
    data = mcn.load_dataset("cora", root=data_root)
    found = class_component(data, 4)
    assert (int((data.y == 4).sum()), len(found)) == (426, 333)
    assert set(found.tolist()) == largest(data, 4)


@pytest.mark.parametrize("layer", [1, 2])
def test_colours_and_legend_say_what_was_chosen(run: tuple[Path, Data], tmp_path: Path, layer: int) -> None:
    from matplotlib.colors import to_hex

    folder, data = run
    figure = draw_figure4(folder, data, tmp_path / "a.svg", label=1, layer=layer)
    members = sorted(largest(data, 1))
    chosen = load_run(folder).predict(data).motif[members, layer - 1]
    lines, *dots = figure.axes[0].collections
    inside = nx.Graph(data.edge_index.T.tolist()).subgraph(members)
    assert len(lines.get_segments()) == inside.number_of_edges()
    for t, motif in enumerate(("edge", "4-path", "triangle")):
        assert len(dots[t].get_offsets()) == (chosen == t).sum()
        assert to_hex(dots[t].get_facecolor()[0]) == COLOURS[t].lower()
        share = f"{motif}: {(chosen == t).sum()} ({(chosen == t).mean():.0%})"
        assert share in [text.get_text() for text in figure.legends[0].get_texts()]
    assert figure.axes[0].get_title() == f"(a) motif chosen in layer {layer}, class Officer"


def test_places_agree_with_choices(run: tuple[Path, Data], tmp_path: Path) -> None:
    """Each dot of panel a stands where panel b, which has all nodes in their order, has its node."""
    folder, data = run
    figure = draw_figure4(folder, data, tmp_path / "a.png", label=0, weights="edge")
    members = sorted(largest(data, 0))
    chosen = load_run(folder).predict(data).motif[members, 0]
    all_nodes = figure.axes[1].collections[3].get_offsets()  # every node has an edge: no rings
    for t in range(3):
        np.testing.assert_array_equal(figure.axes[0].collections[1 + t].get_offsets(), all_nodes[chosen == t])


def test_the_weights_are_those_of_the_whole_graph(run: tuple[Path, Data], tmp_path: Path) -> None:
    folder, data = run
    figure = draw_figure4(folder, data, tmp_path / "a.png", label=0)
    members = sorted(largest(data, 0))
    graph = nx.Graph(data.edge_index.T.tolist())
    degree = np.array(
        [sum(len(set(graph[u]) & set(graph[v])) for v in graph[u] if v in members) for u in members], float
    )
    areas = figure.axes[1].collections[3].get_sizes()
    np.testing.assert_allclose(areas / areas.max(), degree[degree > 0] / degree.max())


def test_one_panel(run: tuple[Path, Data], tmp_path: Path) -> None:
    figure = draw_figure4(*run, tmp_path / "a.pdf", label=0, weights=None)
    assert len(figure.axes) == 1
    assert figure.axes[0].get_title().startswith("motif chosen")


@pytest.mark.parametrize("weights", [None, "triangle"])
def test_the_legend_fits(run: tuple[Path, Data], tmp_path: Path, weights: str | None) -> None:
    figure = draw_figure4(*run, tmp_path / "a.png", label=0, weights=weights)
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


def test_a_run_without_choices(tmp_path: Path) -> None:
    data = mcn.load_dataset("karate")
    train_run(tmp_path / "run", data, ViewsConfig(max_epochs=2), {"dataset": "karate"})
    with pytest.raises(ValueError, match="the nodes of this run choose no motifs"):
        draw_figure4(tmp_path / "run", data, tmp_path / "a.png", label=0)


def test_refusals(run: tuple[Path, Data], tmp_path: Path) -> None:
    folder, data = run
    with pytest.raises(ValueError, match=r"label = 4: no node has this class; the classes are \[0, 1\]"):
        draw_figure4(folder, data, tmp_path / "a.png")
    with pytest.raises(ValueError, match="layer = 3: the network of this run has layers 1 to 2"):
        draw_figure4(folder, data, tmp_path / "a.png", label=0, layer=3)
    with pytest.raises(ValueError, match="no finished run here"):
        draw_figure4(tmp_path, data, tmp_path / "a.png", label=0)
    with pytest.raises(ValueError, match="a figure is written as"):
        draw_figure4(folder, data, tmp_path / "a", label=0)
    with pytest.raises(ValueError, match="5-star"):
        draw_figure4(folder, data, tmp_path / "a.png", label=0, weights="5-star")
    assert list(tmp_path.iterdir()) == []
