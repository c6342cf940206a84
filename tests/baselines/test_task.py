from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from mcn.baselines import task_from_data
from tests.baselines.graphs import block_task, blocks, path_task


def test_what_a_method_is_given() -> None:
    data = blocks()
    task = task_from_data(data, "mine")
    assert (task.num_nodes, task.num_classes, task.dataset) == (150, 3, "mine")
    known = data.train_mask | data.val_mask
    assert torch.equal(task.labels[known], data.y[known])
    assert (task.labels[~known] == -1).all()
    np.testing.assert_array_equal(task.train_labels, data.y[data.train_mask])
    np.testing.assert_array_equal(task.val_labels, data.y[data.val_mask])
    np.testing.assert_allclose(task.x.to_dense().sum(1), 1, rtol=1e-6)


def test_edges_are_made_simple() -> None:
    data = blocks()
    expected = task_from_data(data).edge_index
    loops = torch.arange(150).repeat(2, 1)
    half = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    data.edge_index = torch.cat([half, half, loops], dim=1)
    np.testing.assert_array_equal(task_from_data(data).edge_index, expected)


def test_accuracy_on_validation_by_hand() -> None:
    scores = np.array([[0, 1], [0, 1], [0, 1], [0, 1], [1, 0]])
    assert path_task().val_accuracy(scores) == 0.5  # nodes 1 (wrong) and 4 (right)


def test_a_graph_without_labels() -> None:
    data = blocks()
    data.y = None
    with pytest.raises(ValueError, match="no labels"):
        task_from_data(data)


def test_what_other_papers_set_for_a_data_set() -> None:
    task = block_task()
    cora, citeseer = (dataclasses.replace(task, dataset=name) for name in ("cora", "citeseer"))
    assert cora.published("chebyshev") == {"order": 2}
    assert citeseer.published("chebyshev") == {}
    assert citeseer.published("gcn-ensemble") == {"motifs": ["edge"], "steps": 2}
    assert cora.published("gcn-ensemble") == {"hidden": 64, "dropout": 0.8}
    for elsewhere in (task, dataclasses.replace(task, dataset="mine")):
        for method in ("grand", "chebyshev", "gcn-ensemble"):
            assert elsewhere.published(method) == {}
