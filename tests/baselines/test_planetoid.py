from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit

from mcn.baselines._arrays import adjacency
from mcn.baselines._walks import Neighbours
from mcn.baselines.planetoid import context_loss, contexts
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


def test_the_loss_by_hand() -> None:
    e, c = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0], [0.5, 1.0]])
    loss = context_loss(e, c, torch.tensor([0]), torch.tensor([0]), torch.tensor([[1, 1]]))
    assert float(loss) == pytest.approx(-np.log(expit(1.0)) - 2 * np.log(expit(-2.5)), rel=1e-5)


def test_the_better_variant_on_validation() -> None:
    task = block_task()
    both = [baseline(f"planetoid-{variant}")(task, 0) for variant in "ti"]
    best = max(both, key=task.val_accuracy)
    np.testing.assert_array_equal(baseline("planetoid")(task, 0), best)
