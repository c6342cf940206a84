"""The embedded graph: where neighbourhoods differ by node, choosing per node pays."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from torch_geometric.data import Data

from mcn.data import load_dataset, strong_ties
from mcn.train import MCNConfig, Predictions, accuracy_on_test
from mcn.train.mcn.config import ATTENTION, CHANGES
from tests.train.graphs import predicted, trained

SEEDS = (0, 1)
GAT, GCN = MCNConfig(**CHANGES["gat"]), MCNConfig(**CHANGES["gcn"])
TRIANGLE = MCNConfig(motifs=("triangle",), motif_attention=False)
OPEN = ("edge", "2-star")


@pytest.fixture(scope="module")
def data() -> Data:
    return load_dataset("strong-ties")


@cache
def run(config: MCNConfig) -> tuple[float, Predictions]:
    """The result on the embedded graph."""
    return result_on(load_dataset("strong-ties"), config)


def result_on(graph: Data, config: MCNConfig) -> tuple[float, Predictions]:
    """Test accuracy in percent, and the predictions."""
    trainer = trained(graph, config)
    own = predicted(trainer)
    accuracy = accuracy_on_test(graph, own.labels)
    assert accuracy is not None
    return 100 * accuracy, own


def mean(config: MCNConfig) -> float:
    return sum(run(config.replace(seed=seed))[0] for seed in SEEDS) / len(SEEDS)


def shares(own: Predictions, data: Data) -> list[float]:
    """Per layer: nodes with strong ties that chose the triangle, others that chose the edge."""
    strong: Any = data.strong.numpy()
    return [float(((chosen == 1) == strong).mean()) for chosen in own.motif.T]


def test_in_short() -> None:
    """A smaller graph, one seed, few epochs: MCN is ahead of GAT and its nodes choose as they should."""
    small = strong_ties(num_nodes=600, val=150, test=300)
    accuracy, own = result_on(small, MCNConfig(attention="paper", max_epochs=150))
    assert accuracy > result_on(small, GAT.replace(max_epochs=150))[0] + 10
    assert min(shares(own, small)) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("attention", ATTENTION)
def test_choosing_pays(attention: str, data: Data) -> None:
    config = MCNConfig(attention=attention)
    own = mean(config)
    assert own >= mean(GAT) + 10
    assert own >= mean(GCN) + 10
    assert own >= mean(TRIANGLE) + 10
    for seed in SEEDS:
        choices = run(config.replace(seed=seed))[1]
        strong = data.strong.numpy()
        for layer in choices.motif.T:
            assert (layer[strong] == 1).mean() >= 0.9
            assert (layer[~strong] == 0).mean() >= 0.9


@pytest.mark.slow
def test_without_the_triangle_the_gap_is_gone() -> None:
    assert abs(mean(MCNConfig(attention="paper", motifs=OPEN)) - mean(GAT)) < 5
