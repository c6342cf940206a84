from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mcn
from mcn.viz import draw_figure2
from mcn.viz.figure2 import misled_node, votes

pytest.importorskip("matplotlib")
pytest.importorskip("networkx")


def group(labels: list[int]) -> tuple[Data, mcn.MotifCounts]:
    """Node 0 with a triangle 0-1-2 and three loose ties 3, 4, 5."""
    pairs = torch.tensor([[0, 0, 1, 0, 0, 0], [1, 2, 2, 3, 4, 5]])
    data = Data(edge_index=torch.cat([pairs, pairs.flip(0)], 1), y=torch.tensor(labels), num_nodes=6)
    return data, mcn.count_motifs(data.edge_index, 6)


def test_votes_by_hand() -> None:
    data, counts = group([1, 1, 1, 0, 0, 0])
    plain, credit = votes(data, counts, "edge")
    # 0 hears two of class 1 and three of class 0; 1 and 2 hear class 1 alone; 3, 4, 5 hear class 1.
    np.testing.assert_array_equal(credit, [0, 1, 1, 0, 0, 0])
    assert (plain.nodes, plain.right) == (6, pytest.approx(2 / 6))
    strong, credit = votes(data, counts, "triangle")
    np.testing.assert_array_equal(credit, [1, 1, 1, np.nan, np.nan, np.nan])
    assert (strong.nodes, strong.right) == (3, 1.0)
    assert misled_node(data, counts, "triangle") == 0


def test_a_tie_is_shared() -> None:
    data, counts = group([1, 1, 1, 0, 0, 2])
    assert votes(data, counts, "edge")[1][0] == 0.5
    with pytest.raises(
        ValueError, match="no node has neighbours that are wrong about it and a right triangle"
    ):
        misled_node(data, counts, "triangle")


def test_the_panels(tmp_path: Path) -> None:
    data, counts = group([1, 1, 1, 0, 0, 0])
    figure = draw_figure2(data, counts, tmp_path / "figure2.png")
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["(a) edge: 2 of 5 agree with the target", "(b) triangle: 2 of 2 agree with the target"]
    first = (tmp_path / "figure2.png").read_bytes()
    draw_figure2(data, counts, tmp_path / "figure2.png")
    assert (tmp_path / "figure2.png").read_bytes() == first
    with pytest.raises(ValueError, match=r"written as \.pdf"):
        draw_figure2(data, counts, tmp_path / "figure2.gif")


def test_on_the_embedded_graph_strong_ties_are_right() -> None:
    data = mcn.load_dataset("strong-ties")
    counts = mcn.count_motifs(data.edge_index, data.num_nodes)
    node = misled_node(data, counts, "triangle")
    for motif, right in (("edge", 0.0), ("triangle", 1.0)):
        assert votes(data, counts, motif)[1][node] == right
