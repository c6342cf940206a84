from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from mcn.baselines import Task, task_from_data
from mcn.baselines.twins import MOST_NODES, _of_edges, posterior, twins
from mcn.data import load_dataset
from tests.baselines.copies import contacts, copies, matrix, task_of


def test_posterior_by_hand() -> None:
    """Node 2 has twins of strength 0.1 and 0.5: 0.4 votes for class 0, 2 cut to 0.95 for class 1."""
    twin = np.zeros((4, 4), np.float32)
    twin[2, :2] = 0.1, 0.5
    twin[2, 3] = 0.7  # a validation node: it has no vote
    task = Task(
        torch.zeros(4, 1),
        np.empty((2, 0), np.int64),
        torch.tensor([0, 1, -1, 0]),
        np.array([0, 1]),
        np.array([3]),
        2,
    )
    prior = np.array([0.75, 0.25])
    none = np.exp(-1.35)
    expected = np.tile(prior, (4, 1))
    expected[2] = (1 - none) * np.array([0.4, 0.95]) / 1.35 + none * prior
    found = posterior(sp.csr_array(twin), task, prior)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_planted_copies_are_classified() -> None:
    """10 classes by place: no neighbour helps, a twin does. Three nodes in ten have a label."""
    a, place = copies(seed=1)
    classes = np.random.default_rng(5).permutation(100)[place] % 10
    task = task_of(a, classes, share=0.3)
    found = twins(task, 0)
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)
    rest = np.setdiff1d(np.arange(400), np.concatenate([task.train, task.val]))
    majority = np.bincount(classes[task.val]).argmax()
    assert (found.argmax(1) == classes)[rest].mean() > 0.45
    assert (classes[rest] == majority).mean() < 0.2


def test_only_training_labels_vote() -> None:
    a, place = copies(nodes=40, number=3)
    task = task_of(a, place % 4)
    labels = task.labels.clone()
    labels[task.val] = task.labels[np.roll(task.val, 1)]
    assert not torch.equal(labels, task.labels)
    np.testing.assert_array_equal(twins(replace(task, labels=labels), 1), twins(task, 0))


def test_one_matrix_for_all_splits() -> None:
    a, place = copies(nodes=40, number=3)
    _of_edges.cache_clear()
    first = twins(task_of(a, place % 4, seed=0), 0)
    assert not np.array_equal(first, twins(task_of(a, place % 4, seed=1), 1))
    assert (_of_edges.cache_info().misses, _of_edges.cache_info().hits) == (1, 1)
    _of_edges.cache_clear()
    np.testing.assert_array_equal(first, twins(task_of(a, place % 4, seed=0), 0))


def test_without_twins_the_shares_of_the_classes_are_left() -> None:
    """In a complete graph nobody is far: validation classes, one added to each."""
    complete = np.argwhere(np.triu(np.ones((20, 20)), 1))
    task = task_of(matrix(complete, 20), np.arange(20) % 3)
    share = np.bincount(task.val_labels, minlength=3) + 1
    np.testing.assert_allclose(twins(task, 0), np.tile(share / share.sum(), (20, 1)), rtol=1e-6)


def test_a_graph_without_copies() -> None:
    """What it finds there is noise, and it is not sure of it."""
    task = task_of(matrix(contacts(150, 2), 150), np.random.default_rng(0).integers(5, size=150))
    found = twins(task, 0)
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)
    assert np.median(found.max(1)) < 0.6


def test_large_graphs_are_refused() -> None:
    task = task_of(matrix(np.array([[0, 1]]), MOST_NODES + 1), np.arange(MOST_NODES + 1) % 2)
    with pytest.raises(ValueError, match=r"10,001 nodes need more than 1\.2 GB; expected at most 10,000"):
        twins(task, 0)


@pytest.mark.slow
def test_dd7(data_root: Path) -> None:
    """Validation accuracy, class shares from the validation nodes themselves; most frequent class: 12.7 %."""
    task = task_from_data(load_dataset("dd7", root=data_root, seed=100))
    assert task.val_accuracy(twins(task, 0)) > 0.35
