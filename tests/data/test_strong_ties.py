from typing import Any

import networkx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mcn.data import strong_ties
from tests.conftest import refuses


@pytest.fixture(scope="module")
def graph() -> tuple[Data, networkx.Graph]:
    data = strong_ties()
    return data, networkx.Graph(data.edge_index.T.tolist())


def _same_class_share(data: Data, edges: list[tuple[int, int]]) -> float:
    y = data.y.tolist()
    return float(np.mean([y[u] == y[v] for u, v in edges]))


def test_sizes_and_that_words_are_weak_hints(graph: tuple[Data, networkx.Graph]) -> None:
    data = graph[0]
    assert data.num_nodes == 2000
    assert data.x.shape == (2000, 300)
    assert torch.bincount(data.y).tolist() == [400] * 5
    assert int(data.strong.sum()) == 1300
    parts = [data.train_mask, data.val_mask, data.test_mask]
    assert [int(part.sum()) for part in parts] == [100, 500, 1000]
    x = data.x.to_dense()
    assert torch.equal(x.sum(dim=1), torch.full((2000,), 10.0))
    own = (torch.arange(300)[None, :] % 5) == data.y[:, None]
    # One in five of the class's own, and a fifth of the others by chance: 0.2 + 0.8 / 5.
    assert float((x * own).sum() / x.sum()) == pytest.approx(0.36, abs=0.02)


def test_strong_nodes_are_those_in_a_triangle_and_ties_are_as_documented(graph: Any) -> None:
    data, g = graph
    triangles = networkx.triangles(g)
    in_triangle = torch.tensor([triangles.get(node, 0) > 0 for node in range(2000)])
    assert torch.equal(in_triangle, data.strong)
    strong = data.strong.tolist()
    closed = [(u, v) for u, v in g.edges if set(g[u]) & set(g[v])]
    open_strong = [(u, v) for u, v in g.edges if not set(g[u]) & set(g[v]) and strong[u]]
    open_other = [(u, v) for u, v in g.edges if not strong[u]]
    assert all(strong[u] == strong[v] for u, v in g.edges)
    assert _same_class_share(data, closed) == 1.0
    assert 2 * len(open_strong) / 1300 == pytest.approx(6, abs=0.01)
    # A fifth of random pairs share a class; 70 % of those are redrawn: 0.06 / (0.06 + 0.8) is about 7 %.
    assert _same_class_share(data, open_strong) == pytest.approx(0.07, abs=0.02)
    assert 2 * len(open_other) / 700 == pytest.approx(3, abs=0.01)
    assert _same_class_share(data, open_other) == pytest.approx(0.9, abs=0.03)


def test_the_seed_decides_everything() -> None:
    one, same, other = (strong_ties(seed, num_nodes=300, val=50, test=100) for seed in (1, 1, 2))
    for name in ("edge_index", "y", "train_mask", "strong"):
        assert torch.equal(one[name], same[name])
    assert torch.equal(one.x.to_dense(), same.x.to_dense())
    assert not torch.equal(one.y, other.y)


CROWDED = {"num_nodes": 10, "num_classes": 2, "strong_share": 0.0, "open_inside": 1.0}


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"num_classes": 1}, "num_classes must be at least 2, got 1"),
        ({"strong_share": 1.5}, "strong_share must be between 0 and 1, got 1.5"),
        ({"words_per_node": 70}, "words_per_node=70 exceeds the 60 words"),
        ({"num_nodes": 20}, "too few for cliques"),
        (CROWDED, "no room for 15 ties among 10 nodes"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], message: str) -> None:
    refuses(message, strong_ties, **settings)
