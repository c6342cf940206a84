"""Graphs drawn piece by piece: what was promised of their shape holds, and the seed decides."""

from __future__ import annotations

import numpy as np
import pytest

from mcn.data import PlantedGraph, rmat_stream, simple_graph
from mcn.data import generators as module
from mcn.motifs import count_motifs


def whole(pieces) -> np.ndarray:
    return np.concatenate(list(pieces), axis=1)


def test_rmat_is_seeded_skewed_and_of_the_size_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE", 3000)
    edges = whole(rmat_stream(10, 10_000, seed=3))
    assert edges.shape == (2, 10_000)
    assert edges.dtype == np.int32
    assert edges.min() >= 0
    assert edges.max() < 1024
    assert np.array_equal(edges, whole(rmat_stream(10, 10_000, seed=3)))
    assert not np.array_equal(edges, whole(rmat_stream(10, 10_000, seed=4)))
    degree = np.bincount(edges.reshape(-1), minlength=1024)
    assert degree.max() > 8 * degree.mean()
    with pytest.raises(ValueError, match="scale must be 1 to 31"):
        next(rmat_stream(40, 10))


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


def test_impossible_graphs_are_refused() -> None:
    with pytest.raises(ValueError, match="20 nodes are too few for 10 classes"):
        PlantedGraph(20, 10)
    with pytest.raises(ValueError, match="inside must be between 0 and 1, got 2"):
        PlantedGraph(2000, 10, inside=2)
