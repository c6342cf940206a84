from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

from mcn.motifs import count_motifs
from mcn.train import MCNConfig, prepare
from mcn.train.mcn import work
from mcn.train.problem import Memory, class_names
from tests.train.graphs import small_graph

PLAIN = MCNConfig(attention="gated")  # one network, one stack


def test_the_parts_and_their_labels() -> None:
    data = small_graph()
    problem = prepare(data, PLAIN)
    assert problem.train.tolist() == data.train_mask.nonzero().squeeze(1).tolist()
    assert problem.val.tolist() == data.val_mask.nonzero().squeeze(1).tolist()
    assert torch.equal(problem.train_labels, data.y[data.train_mask])
    assert torch.equal(problem.val_labels, data.y[data.val_mask])
    assert problem.num_classes == 3
    assert problem.inputs.stack.motifs == ("edge", "triangle")


def test_test_labels_are_not_in_it() -> None:
    data = small_graph()
    problem = prepare(data, PLAIN)
    hidden = ~(data.train_mask | data.val_mask)
    assert (problem.labels[hidden] == -1).all()
    assert torch.equal(problem.labels[~hidden], data.y[~hidden])


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.int16])
def test_labels_of_any_integer_type(dtype: torch.dtype) -> None:
    data = small_graph()
    expected = prepare(data, PLAIN).labels
    data.y = data.y.to(dtype)
    assert torch.equal(prepare(data, PLAIN).labels, expected)


def test_counts_can_be_given() -> None:
    data = small_graph()
    counts = count_motifs(data.edge_index, data.num_nodes)
    given, own = (prepare(data, PLAIN, c).inputs.stack for c in (counts, None))
    assert (given.matrix("triangle") != own.matrix("triangle")).nnz == 0


def test_names_of_the_classes() -> None:
    data = small_graph()
    assert class_names(data) is None
    data.classes = np.array(["x", "y", "z", "never seen"])
    assert class_names(data) == ["x", "y", "z", "never seen"]
    assert prepare(data, PLAIN).num_classes == 4
    data.classes = ["x", "y"]
    with pytest.raises(ValueError, match=r"data.y holds class 2, but data.classes has 2 names"):
        prepare(data, PLAIN)


def test_the_scale_of_the_counts_can_come_from_elsewhere() -> None:
    config = PLAIN
    here, there = (work.inputs(small_graph(seed), config).stack for seed in (0, 1))
    memory = prepare(small_graph(0), config).memory(small_graph(0))
    assert memory == Memory(60, None, {"count_scale": here.count_scale.tolist(), "scaling": "rows"})
    moved = work.inputs(small_graph(1), config, memory=memory).stack
    assert np.array_equal(moved.count_scale, here.count_scale)
    assert not np.array_equal(moved.node_counts, there.node_counts)


def test_the_fingerprint_is_of_what_training_sees() -> None:
    data = small_graph()
    first = prepare(data, PLAIN).fingerprint()
    assert prepare(small_graph(dense=True), PLAIN).fingerprint() == first  # the same features

    def changed(**attributes: Any) -> str:
        other = small_graph()
        for name, value in attributes.items():
            other[name] = value
        return prepare(other, PLAIN).fingerprint()

    assert changed() == first
    shuffled = data.y.clone()
    places = data.test_mask.nonzero().squeeze(1)
    shuffled[places] = data.y[places.flip(0)]
    assert changed(y=shuffled) == first  # test labels are not seen
    relabelled = data.y.clone()
    node = int(data.train_mask.nonzero()[0])
    relabelled[node] = (relabelled[node] + 1) % 3
    assert changed(y=relabelled) != first
    assert changed(val_mask=data.test_mask, test_mask=data.val_mask) != first
    assert changed(x=data.x.to_dense() * torch.arange(60)) != first
    u, v = data.edge_index[:, 0].tolist()
    keep = [{a, b} != {u, v} for a, b in data.edge_index.T.tolist()]
    assert changed(edge_index=data.edge_index[:, keep]) != first


def test_graphs_of_several_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected a torch_geometric\.data\.Data .* got HeteroData"):
        prepare(HeteroData(), MCNConfig())
