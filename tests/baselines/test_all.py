"""What must hold for every method."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mcn.baselines import METHODS
from mcn.baselines.gcn_ensemble import LARGER
from mcn.train import accuracy_on_test
from tests.baselines.graphs import baseline, block_task, blocks

NAMES = sorted(METHODS)
SHORT = {"lr": 0.02, "max_epochs": 200}
RECIPES = {"mcn": {"lr": 0.02, "max_epochs": 40}, "paper": SHORT, "views": {"max_epochs": 40}}
RECIPES |= {"auto": {"max_epochs": 40, "repeats": 1, "candidates": ("mlp", "gat")}}
"""Learning fast, for few epochs: how recipes are trained to the end is not the matter here."""
SETTINGS = {**RECIPES, **dict.fromkeys(("gat", "gcn", "mlp", "gat-paper", "gcn-paper"), SHORT)}


def scores_of(name: str, data: Data, seed: int = 0) -> Any:
    method = METHODS[name]
    config = method.configure(None, SETTINGS.get(name, {}), {})
    return method.run(method.prepare(data, None, config, None), config, seed).scores


@cache
def own_scores(name: str) -> Any:
    """The scores that several tests compare others with."""
    return scores_of(name, blocks())


def test_every_row_of_the_table_is_there() -> None:
    rows = "majority deepwalk mlp lp manireg semiemb ica planetoid chebyshev monet gcn gat gcn-ensemble"
    more = {"planetoid-t", "planetoid-i", "grand", "twins", "gat-paper", "gcn-paper", *LARGER}
    more |= {"gat-consistency", "gcn-consistency", "graphsage", "gpr-gnn", "acm-gcn", "linkx", "link"}
    assert set(rows.split()) | more | set(RECIPES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_better_than_the_majority_and_blind_to_test_labels(name: str) -> None:
    data = blocks()
    scores = own_scores(name)
    assert (scores.dtype, scores.shape) == (np.float32, (150, 3))
    assert np.isfinite(scores).all()
    probable = bool(scores.min() >= 0 and np.allclose(scores.sum(1), 1, atol=1e-4))
    assert probable == ("probabilities" in METHODS[name].can)
    if name not in ("majority", "twins"):  # there are no near copies of anything here
        accuracy = accuracy_on_test(data, scores.argmax(1))
        assert accuracy is not None
        assert accuracy > 0.55  # a third of the nodes are in each class
    other = data.clone()
    test = other.test_mask.nonzero().squeeze(1)
    other.y[test] = other.y[test[torch.randperm(len(test), generator=torch.Generator().manual_seed(0))]]
    assert not torch.equal(other.y, data.y)
    torch.manual_seed(17)  # what was drawn elsewhere does not matter
    np.testing.assert_array_equal(scores_of(name, other), scores)


@pytest.mark.parametrize("name", ["deepwalk", "planetoid-t", "monet", "gcn-ensemble", "graphsage", "linkx"])
def test_another_seed_is_another_run(name: str) -> None:
    assert not np.array_equal(own_scores(name), scores_of(name, blocks(), seed=1))


@pytest.mark.parametrize("name", ["manireg", "ica", "semiemb", "mlp", "graphsage", "linkx"])
def test_dense_features(name: str) -> None:
    scores = scores_of(name, blocks(sparse=False))
    assert block_task().val_accuracy(scores) > 0.55


def test_random_numbers_of_the_caller_are_left_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    baseline("chebyshev")(block_task(), 0)
    assert torch.equal(torch.rand(4), expected)
