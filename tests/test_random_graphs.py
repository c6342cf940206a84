from typing import Any

import networkx
import numpy as np
import pytest
from random_graphs import PlantedGraph, barabasi_albert, erdos_renyi, powerlaw_cluster, rmat, rmat_stream

from mcn.data import simple_graph
from mcn.motifs import count_motifs
from tests.conftest import refuses


@pytest.mark.parametrize(
    "model, arguments, edges",
    [
        (erdos_renyi, (50, 200), 200),
        (erdos_renyi, (20, 170), 170),
        (erdos_renyi, (5, 10), 10),
        (erdos_renyi, (5, 0), 0),
        (rmat, (8, 500), 500),
        (barabasi_albert, (100, 3), 3 * 97),
        (barabasi_albert, (4, 3), 3),
        (powerlaw_cluster, (100, 3, 0.8), 3 * 97),
    ],
)
def test_simple_sorted_of_right_size_and_seeded(model: Any, arguments: tuple[Any, ...], edges: int) -> None:
    found = model(*arguments, seed=1)
    assert found.shape == (2, edges)
    assert found.dtype == np.int64
    assert (found[0] < found[1]).all()
    pairs = [tuple(pair) for pair in found.T.tolist()]
    assert pairs == sorted(set(pairs))
    np.testing.assert_array_equal(found, model(*arguments, seed=1))
    if edges > 10:
        assert not np.array_equal(found, model(*arguments, seed=2))


def test_erdos_renyi_draws_every_edge_equally_often() -> None:
    hits = np.zeros((6, 6), int)
    for seed in range(3000):
        u, v = erdos_renyi(6, 5, seed)
        hits[u, v] += 1
    counts = hits[np.triu_indices(6, 1)]  # 15 pairs, each in a third of the graphs: 1000 ± 26
    assert counts.min() > 870
    assert counts.max() < 1130


def test_rmat_corners() -> None:
    """With a = 1 only the pair (0, 0) can be drawn: no edge can ever be found."""
    refuses("0 of 1 distinct edges", rmat, 4, 1, a=1.0, b=0.0, c=0.0)
    # With a = b = c = d the pairs are uniform.
    degree = np.bincount(rmat(6, 1000, a=0.25, b=0.25, c=0.25).reshape(-1), minlength=64)
    assert degree.min() > 10
    skewed = np.bincount(rmat(10, 5000).reshape(-1), minlength=1024)
    assert skewed.max() > 10 * skewed.mean()


def _clustering(edges: Any) -> float:
    return float(networkx.transitivity(networkx.Graph(edges.T.tolist())))


def test_preferential_attachment_resembles_networkx() -> None:
    ours = np.bincount(barabasi_albert(2000, 3).reshape(-1))
    theirs = [d for _, d in networkx.barabasi_albert_graph(2000, 3, seed=1).degree]
    assert ours.sum() == sum(theirs)
    assert ours.min() == 3 or ours.min() == 1
    assert 0.5 < (ours**2).mean() / np.mean(np.square(theirs)) < 2
    with_triangles = _clustering(powerlaw_cluster(2000, 3, 0.9))
    expected = networkx.transitivity(networkx.powerlaw_cluster_graph(2000, 3, 0.9, seed=1))
    assert with_triangles == pytest.approx(expected, rel=0.35)
    assert with_triangles > 3 * _clustering(barabasi_albert(2000, 3))


def whole(pieces: Any) -> np.ndarray:
    return np.concatenate(list(pieces), axis=1)


def test_a_stream_is_seeded_skewed_and_of_the_size_asked_for() -> None:
    size = 2**21 + 10_000  # more than a piece
    edges = whole(rmat_stream(10, size, seed=3))
    assert edges.shape == (2, size)
    assert edges.dtype == np.int32
    assert edges.min() >= 0
    assert edges.max() < 1024
    assert np.array_equal(edges, whole(rmat_stream(10, size, seed=3)))
    assert not np.array_equal(edges, whole(rmat_stream(10, size, seed=4)))
    degree = np.bincount(edges.reshape(-1), minlength=1024)
    assert degree.max() > 8 * degree.mean()


def test_planted_classes_are_in_edges_triangles_and_features() -> None:
    graph = PlantedGraph(4000, 40_000, num_classes=4, closed=0.3, inside=0.5, signal=2.0, seed=1)
    edges, y = whole(graph.edges()), graph.y
    assert edges.shape == (2, 40_000)
    assert np.bincount(y).tolist() == [1000] * 4
    same = (y[edges[0]] == y[edges[1]]).mean()
    assert same == pytest.approx(0.3 + 0.7 * (0.5 + 0.5 / 4), abs=0.02)
    counts = count_motifs(edges, 4000)
    triangles, (u, v) = counts.column("triangle"), counts.pairs.T
    assert triangles[y[u] == y[v]].mean() > 3 * triangles[y[u] != y[v]].mean()
    x = np.concatenate(list(graph.x()))
    assert x.shape == (4000, 32)
    centres = np.stack([x[y == c].mean(axis=0) for c in range(4)])
    assert np.linalg.norm(centres, axis=1) == pytest.approx(2.0, abs=0.4)
    masks = graph.masks()
    assert sum(mask.astype(int) for mask in masks.values()).tolist() == [1] * 4000
    assert masks["train_mask"].mean() == pytest.approx(0.1, abs=0.02)
    assert np.array_equal(edges, whole(graph.edges()))
    degree = np.diff(simple_graph(edges, 4000).indptr)
    assert degree.max() > 5 * degree.mean()
