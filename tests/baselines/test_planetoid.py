from __future__ import annotations

import numpy as np
import pytest

from mcn.baselines._arrays import adjacency
from mcn.baselines._walks import Neighbours
from mcn.baselines.planetoid import MOST_WALKS, contexts
from tests.baselines.graphs import baseline, block_task, path_task


def test_contexts() -> None:
    task = block_task()
    node, context = contexts(task, Neighbours.of(task), np.random.default_rng(0))
    reach = adjacency(task)
    within = (reach + reach @ reach + reach @ reach @ reach).toarray() > 0
    walked, labelled = slice(0, len(node) - 30), slice(len(node) - 30, None)
    assert within[node[walked], context[walked]].all()
    labels = task.labels.numpy()
    np.testing.assert_array_equal(np.sort(node[labelled]), np.sort(task.train))
    np.testing.assert_array_equal(labels[node[labelled]], labels[context[labelled]])


def test_a_node_alone_has_no_context() -> None:
    node, _ = contexts(path_task(), Neighbours.of(path_task()), np.random.default_rng(0))
    assert 4 not in node


def test_a_large_graph_has_some_of_its_nodes_in_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    task = block_task()
    assert task.num_nodes < MOST_WALKS
    monkeypatch.setattr("mcn.baselines.planetoid.MOST_WALKS", 20)
    rng = np.random.default_rng(0)
    first, second = (contexts(task, Neighbours.of(task), rng)[0][:-30] for _ in range(2))
    assert len(first) == len(set(first)) == len(second) == 20
    assert not np.array_equal(first, second)


def test_the_better_variant_on_validation() -> None:
    task = block_task()
    both = [baseline(f"planetoid-{variant}")(task, 0) for variant in "ti"]
    best = max(both, key=task.val_accuracy)
    np.testing.assert_array_equal(baseline("planetoid")(task, 0), best)
