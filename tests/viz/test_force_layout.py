from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

from mcn.data import load_dataset, simple_graph
from mcn.viz import layout
from mcn.viz.force_layout import _pivot_mds, edge_strengths, relax


def pairs(name: str) -> tuple[np.ndarray, int]:
    data = load_dataset(name)
    return simple_graph(data.edge_index, data.num_nodes).pairs, data.num_nodes


def cliques(count: int, size: int) -> np.ndarray:
    """A ring of cliques, joined by single edges."""
    inside = [(c * size + i, c * size + j) for c in range(count) for i in range(size) for j in range(i)]
    return np.array([*inside, *((c * size, (c + 1) % count * size) for c in range(count))])


def test_the_same_every_time_and_the_club_falls_into_its_two_factions() -> None:
    edges, size = pairs("karate")
    first = layout(edges, size)
    np.testing.assert_array_equal(first, layout(edges, size))
    assert not np.array_equal(first, layout(edges, size, seed=1))
    assert np.isfinite(first).all()
    assert np.hypot(*first.T).max() == pytest.approx(1)
    places, y = first, load_dataset("karate").y.numpy()
    middles = np.stack([places[y == c].mean(0) for c in (0, 1)])
    nearest = np.hypot(*(places[:, None] - middles).transpose(2, 0, 1)).argmin(1)
    assert (nearest == y).mean() > 0.85


def test_cliques_stay_together() -> None:
    places = layout(cliques(8, 6), 48).reshape(8, 6, 2)
    middles = places.mean(1)
    inside = np.hypot(*(places - middles[:, None]).transpose(2, 0, 1)).max()
    between = np.hypot(*(middles[:, None] - middles).transpose(2, 0, 1))
    assert between[~np.eye(8, dtype=bool)].min() > 1.5 * inside


@pytest.mark.parametrize(
    ("edges", "size"),
    [
        ([], 0),
        ([], 1),
        ([], 500),
        ([(0, 1)], 2),
        ([(0, 1), (1, 2), (0, 2)], 3),
        ([(0, i) for i in range(1, 200)], 200),
        ([(i, i + 1) for i in range(299)], 300),
        ([(2 * i, 2 * i + 1) for i in range(100)], 210),
    ],
    ids=["none", "one", "alone", "pair", "triangle", "star", "path", "pairs"],
)
def test_odd_graphs(edges: list[tuple[int, int]], size: int) -> None:
    places = layout(np.array(edges, np.int64).reshape(-1, 2), size)
    assert places.shape == (size, 2)
    assert np.isfinite(places).all()
    distance = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    assert (distance[~np.eye(size, dtype=bool)] > 0).all()


def test_components_do_not_overlap() -> None:
    sizes = [40, 12, 12, 5, 3, 1, 1]
    starts = np.cumsum([0, *sizes])
    edges = np.concatenate([cliques(1, n)[:-1] + s for n, s in zip(sizes, starts, strict=False) if n > 1])
    places = layout(edges, int(starts[-1]))
    parts = [places[a:b] for a, b in pairwise(starts)]
    for i, one in enumerate(parts):
        for other in parts[:i]:
            gap = np.hypot(*(one.mean(0) - other.mean(0)))
            reach = sum(np.hypot(*(p - p.mean(0)).T).max() for p in (one, other))
            assert gap > reach


def test_strengths_follow_the_shared_neighbours() -> None:
    """Against the product of the adjacency with itself, on edges in any order and direction."""
    edges, size = pairs("karate")
    generator = np.random.default_rng(0)
    edges = generator.permuted(generator.permutation(edges), axis=1)
    dense = np.zeros((size, size))
    dense[tuple(edges.T)] = dense[tuple(edges.T[::-1])] = 1.0
    degree = dense.sum(1)
    least = np.minimum.outer(degree, degree)
    closed = (0.08 + dense @ dense / np.maximum(least - 1, 1)) * dense
    expected = closed / np.minimum.outer(closed.max(1), closed.max(1))
    np.testing.assert_allclose(edge_strengths(edges, size), expected[tuple(edges.T)])


@pytest.mark.parametrize("name", ["karate", "path"])
def test_pivots_measure_shortest_paths(name: str) -> None:
    """With every node a pivot, the axes are those of classical scaling of Dijkstra's distances."""
    path = np.stack([np.arange(29), np.arange(1, 30)], 1), 30
    edges, size = pairs("karate") if name == "karate" else path
    graph = sp.coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(size, size))
    graph = sp.csr_array(graph + graph.T)
    square = csgraph.dijkstra(graph, unweighted=True) ** 2
    square -= square.mean(0) + square.mean(1, keepdims=True) - square.mean()
    left, values, _ = np.linalg.svd(square)
    expected, axes = left[:, :2] * values[:2], _pivot_mds(graph)
    lengths = np.linalg.norm(axes, axis=0)
    cosines = np.abs((expected * axes).sum(0)) / np.linalg.norm(expected, axis=0) / lengths
    np.testing.assert_allclose(cosines[: 2 if name == "karate" else 1], 1.0)


def test_the_tree_pushes_like_the_pairs_do() -> None:
    """One step of pure repulsion, against the sum over all pairs: nearly the same direction."""
    generator = np.random.default_rng(0)
    start = generator.normal(size=(300, 2)) * 10
    mass = generator.uniform(1, 3, 300)
    moved = start.copy()
    relax(moved, np.zeros((0, 2), np.int64), np.zeros(0), mass, 1, 0.0)
    apart = start[:, None] - start
    square = (apart**2).sum(2) + 1e-4
    force = mass[:, None] * (mass[None, :, None] * apart / square[..., None]).sum(1)
    step = moved - start
    cosine = (step * force).sum(1) / np.hypot(*step.T) / np.hypot(*force.T)
    assert np.median(cosine) > 0.999
    assert np.quantile(cosine, 0.05) > 0.95  # near the middle the forces cancel
