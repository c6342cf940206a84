"""Edge weights in training: used by the networks, refused by what cannot use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mcn.experiments import compare
from mcn.experiments.engine.source import in_memory
from mcn.train import MCNClassifier, ViewsClassifier
from tests.train.graphs import same_tensors, small_graph

QUICK: dict[str, Any] = {"max_epochs": 4, "hidden": 4, "random_state": 0}


def with_weights(weight: float | None = None, seed: int = 0) -> Data:
    """A small graph whose edges all have this weight, or random ones, the same in both directions."""
    data = small_graph(seed)
    low, high = data.edge_index.min(0).values, data.edge_index.max(0).values
    data.edge_weight = 1.0 + (low * 31 + high * 17) % 5 if weight is None else torch.full(low.shape, weight)
    return data


@pytest.mark.parametrize("kind", [MCNClassifier, ViewsClassifier])
def test_weights_of_one_change_no_bit_and_others_do(kind: Any) -> None:
    plain, ones, others = (kind(**QUICK).fit(g) for g in (small_graph(), with_weights(1.0), with_weights()))
    assert same_tensors(plain.model_.state_dict(), ones.model_.state_dict())
    assert not same_tensors(plain.model_.state_dict(), others.model_.state_dict())


@pytest.mark.parametrize("kind", [MCNClassifier, ViewsClassifier])
def test_a_graph_without_weights_is_not_predicted_by_a_network_with(kind: Any) -> None:
    data, bare = with_weights(), small_graph()
    weighted, plain = kind(**QUICK).fit(data), kind(**QUICK).fit(bare)
    again = Data(data.x, data.edge_index)
    again.edge_attr = data.edge_weight
    np.testing.assert_array_equal(weighted.predict_proba(again), weighted.predict_proba(data))
    with pytest.raises(ValueError, match="was trained with edge weights, and this graph has none"):
        weighted.predict(bare)
    with pytest.raises(ValueError, match="was trained without edge weights, and this graph has some"):
        plain.predict(data)


def noisy(seed: int = 0, nodes: int = 120) -> Data:
    """Two classes; each node has 3 edges of weight 5 within its class and 3 of weight 0.1 to the other one.

    Features tell the class of every third node.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(nodes) % 2
    ends, weights = [], []
    for node in range(nodes):
        for same, weight in ((True, 5.0), (False, 0.1)):
            others = np.flatnonzero((y == y[node]) == same)
            ends += [(node, other) for other in rng.choice(others[others != node], 3, replace=False)]
            weights += 3 * [weight]
    x = rng.normal(size=(nodes, 4)) + 3 * (2 * y[:, None] - 1) * (np.arange(nodes)[:, None] % 3 == 0)
    data = Data(torch.from_numpy(x.astype(np.float32)), torch.tensor(ends).T, y=torch.from_numpy(y))
    data.edge_weight = torch.tensor(weights)
    part = torch.from_numpy(rng.permutation(nodes) % 4)
    data.train_mask, data.val_mask, data.test_mask = part == 0, part == 1, part >= 2
    return data


def test_weights_tell_which_neighbours_to_listen_to() -> None:
    data = noisy()
    quick = {"max_epochs": 40, "patience": 40}
    weighted = {row["method"]: row["test_mean"] for row in compare(data, ["gcn", "gat"], settings=quick)}
    del data.edge_weight
    plain = {row["method"]: row["test_mean"] for row in compare(data, ["gcn", "gat"], settings=quick)}
    for method in ("gcn", "gat"):
        assert weighted[method] > plain[method] + 10


def test_baselines_refuse_weights_before_anything_is_run() -> None:
    data, told = with_weights(), []
    with pytest.raises(ValueError, match="the baseline 'ica' does not use edge weights"):
        compare(data, ["mlp", "ica"], settings={"max_epochs": 1}, progress=told.append)
    assert not told
    assert len(compare(data, ["majority"])) == 1  # which looks at no edge


def test_weights_are_part_of_a_key() -> None:
    keys = {in_memory(graph).memory for graph in (small_graph(), with_weights(1.0), with_weights())}
    assert len(keys) == 3
