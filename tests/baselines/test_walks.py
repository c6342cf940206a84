from __future__ import annotations

import numpy as np

from mcn.baselines._arrays import adjacency
from mcn.baselines._walks import Neighbours, walks
from tests.baselines.graphs import block_task, path_task


def test_every_step_is_an_edge() -> None:
    task = block_task()
    start = np.flatnonzero(adjacency(task).sum(1))
    paths = walks(Neighbours.of(task), start, 9, np.random.default_rng(0))
    assert paths.shape == (len(start), 10)
    a = adjacency(task).toarray()
    assert (a[paths[:, :-1], paths[:, 1:]] == 1).all()


def test_a_node_alone_stays() -> None:
    assert walks(Neighbours.of(path_task()), np.array([4]), 3, np.random.default_rng(0)).tolist() == [[4] * 4]


def test_neighbours_are_equally_likely() -> None:
    nodes = np.full(20_000, 1)
    drawn = Neighbours.of(path_task()).step(nodes, np.random.default_rng(0))
    assert set(drawn) == {0, 2}
    assert abs((drawn == 0).mean() - 0.5) < 0.02


def test_a_graph_without_edges() -> None:
    graph = Neighbours(np.zeros(4, np.int64), np.empty(0, np.int64))
    assert graph.step(np.arange(3), np.random.default_rng(0)).tolist() == [0, 1, 2]
