"""Which nodes and edges of a large graph a page draws."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mcn.data import load_dataset, simple_graph
from mcn.viz import write_report
from mcn.viz.sample import drawn_edges, drawn_nodes
from tests.viz.conftest import train
from tests.viz.explorer.reading import read_page


def groups(nodes: int, edges: int, size: int = 200) -> Data:
    """A graph of equal groups, four fifths of whose edges stay within them; every group has a class."""
    draw = np.random.default_rng(1)
    one = draw.integers(0, nodes, 2 * edges)
    within = one // size * size + draw.integers(0, size, 2 * edges)
    other = np.where(draw.random(2 * edges) < 0.8, within % nodes, draw.integers(0, nodes, 2 * edges))
    pairs = np.unique(np.sort(np.stack([one, other], 1)[one != other], 1), axis=0)
    pairs = draw.permutation(pairs)[:edges]
    data = Data(edge_index=torch.from_numpy(np.vstack([pairs, pairs[:, ::-1]]).T.copy()), num_nodes=nodes)
    data.y = torch.arange(nodes) // size % 5
    data.x = torch.eye(5)[data.y] + torch.from_numpy(draw.normal(size=(nodes, 5))).float()
    part = torch.arange(nodes) % 4
    data.train_mask, data.val_mask, data.test_mask = part == 0, part == 1, part == 2
    data.node_ids = [f"user-{node}" for node in range(nodes)]
    return data


SLOW = [pytest.param(*sizes, marks=pytest.mark.slow) for sizes in ((100_000, 500_000), (12_000, 519_000))]


@pytest.mark.parametrize(("nodes", "edges"), [(6_000, 250_000), *SLOW])
def test_a_report_is_small_and_its_drawing_sparse(nodes: int, edges: int, tmp_path: Path) -> None:
    data = groups(nodes, edges)
    run = train(tmp_path / "run", data, motifs=("edge", "triangle"), max_epochs=1)
    page = write_report(run.run, data)
    meta, arrays = read_page(page)
    assert page.stat().st_size < 3_000_000
    assert meta["whole"] == {"nodes": nodes, "edges": edges}
    assert 2_000 <= meta["nodes"] <= 20_000
    assert arrays["drawn"].sum() <= 20_000
    assert sum(map(sum, meta["confusion"]["test"])) == nodes // 4  # charts count all nodes
    place = [int(name.removeprefix("user-")) for name in meta["ids"]]
    np.testing.assert_array_equal(arrays["degree"], np.bincount(data.edge_index[0])[place])


def test_nodes_lie_around_their_centres() -> None:
    data = groups(2_000, 8_000, 100)
    edges = simple_graph(data.edge_index, data.num_nodes).pairs
    near = drawn_nodes(edges, 2_000, 60, [1234])
    assert len(near) == 60
    assert set(data.edge_index[1, data.edge_index[0] == 1234].tolist()) < set(near.tolist())
    some = drawn_nodes(edges, 2_000, 500)
    np.testing.assert_array_equal(some, drawn_nodes(edges, 2_000, 500))
    inside = np.isin(edges, some).all(1).sum()  # of as many nodes at random: a sixteenth of the edges
    assert inside > 0.1 * len(edges)
    assert drawn_nodes(edges, 2_000, 2_000).tolist() == list(range(2_000))
    pairs = np.arange(400).reshape(-1, 2)  # which have no more neighbours than their other end
    assert len(drawn_nodes(pairs, 400, 300)) == 300
    assert drawn_nodes(pairs, 400, 300, [7]).tolist() == [6, 7]


def test_the_edges_with_most_shared_neighbours_are_drawn() -> None:
    clique = np.array([(u, v) for u in range(6) for v in range(u + 1, 6)])
    edges = np.concatenate([clique, clique + 6, [[0, 6], [1, 7], [2, 8]]])  # two cliques, three bridges
    assert drawn_edges(edges, 12, 33).tolist() == [True] * 33
    assert drawn_edges(edges, 12, 30).tolist() == [True] * 30 + [False] * 3
    karate = simple_graph(load_dataset("karate").edge_index, 34).pairs
    assert drawn_edges(karate, 34, 20).sum() == 20
    assert drawn_edges(np.zeros((0, 2), np.int64), 3, 20).tolist() == []
