from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mcn
from mcn.viz import draw_figure1

pytest.importorskip("matplotlib")
pytest.importorskip("networkx")

# A 4-clique on 0 … 3, and the path 3-4-5-6 hanging on it.
EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6)]


@pytest.fixture
def kite() -> tuple[Data, mcn.MotifCounts]:
    index = torch.tensor(EDGES).T
    data = Data(edge_index=torch.cat([index, index.flip(0)], dim=1), num_nodes=7)
    return data, mcn.count_motifs(data.edge_index, 7)


def test_areas_and_widths_follow_the_weights(kite: tuple[Data, mcn.MotifCounts], tmp_path: Path) -> None:
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


def test_induced_four_paths_by_hand(kite: tuple[Data, mcn.MotifCounts], tmp_path: Path) -> None:
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


def test_nodes_keep_their_places(kite: tuple[Data, mcn.MotifCounts], tmp_path: Path) -> None:
    figure = draw_figure1(*kite, tmp_path / "a.png", motifs=["edge", "4-path"])
    first, second = (ax.collections[3].get_offsets() for ax in figure.axes)
    np.testing.assert_array_equal(first, second)
    between = np.linalg.norm(first[:, None] - first[None], axis=2)
    assert between[~np.eye(7, dtype=bool)].min() > 0.05 * between.max()


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_file_is_the_same_every_time(
    kite: tuple[Data, mcn.MotifCounts], tmp_path: Path, suffix: str
) -> None:
    for name in ("a", "b"):
        draw_figure1(*kite, tmp_path / f"{name}.{suffix}")
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    start = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[suffix]
    assert (tmp_path / f"a.{suffix}").read_bytes().startswith(start)


def test_the_svg_is_vectors(kite: tuple[Data, mcn.MotifCounts], tmp_path: Path) -> None:
    draw_figure1(*kite, tmp_path / "a.svg")
    tree = ElementTree.parse(tmp_path / "a.svg")
    tags = {element.tag.split("}")[1] for element in tree.iter()}
    assert "path" in tags
    assert "image" not in tags


def test_components_stand_apart(tmp_path: Path) -> None:
    index = torch.tensor([[0, 1, 3], [1, 2, 4]])  # 0-1-2, 3-4, and 5 alone
    data = Data(edge_index=torch.cat([index, index.flip(0)], dim=1), num_nodes=6)
    figure = draw_figure1(data, mcn.count_motifs(data.edge_index, 6), tmp_path / "a.png", motifs=["edge"])
    discs, rings = figure.axes[0].collections[3], figure.axes[0].collections[2]
    place = np.concatenate([discs.get_offsets(), rings.get_offsets()])
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    assert max(distance[0, 1], distance[1, 2], distance[3, 4]) < distance[:3, 3:].min()


@pytest.mark.slow
def test_larger_graphs_are_laid_out_by_springs(tmp_path: Path) -> None:
    nodes = torch.arange(600)
    index = torch.stack([nodes, (nodes + 1) % 600])
    data = Data(edge_index=torch.cat([index, index.flip(0)], dim=1), num_nodes=600)
    figure = draw_figure1(data, mcn.count_motifs(data.edge_index, 600), tmp_path / "a.png", motifs=["edge"])
    assert np.isfinite(figure.axes[0].collections[3].get_offsets()).all()


def test_refusals(kite: tuple[Data, mcn.MotifCounts], tmp_path: Path) -> None:
    data, counts = kite
    with pytest.raises(ValueError, match=r"a\.jpg: a figure is written as \.pdf, \.svg or \.png"):
        draw_figure1(data, counts, tmp_path / "a.jpg")
    with pytest.raises(ValueError, match="5-clique"):
        draw_figure1(data, counts, tmp_path / "a.png", motifs=["5-clique"])
    with pytest.raises(ValueError, match="at least one motif"):
        draw_figure1(data, counts, tmp_path / "a.png", motifs=[])
    with pytest.raises(ValueError, match="counts are of 7 nodes, the graph has 9"):
        draw_figure1(Data(edge_index=data.edge_index, num_nodes=9), counts, tmp_path / "a.png")
    many = torch.tensor([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="1 to 2,000 nodes, this graph has 2,001"):
        draw_figure1(Data(edge_index=many, num_nodes=2001), mcn.count_motifs(many, 2001), tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []
