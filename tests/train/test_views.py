"""Training with motif views: the step, and what it may know."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch_geometric.data import Data

from mcn.data import load_dataset
from mcn.nn import exact_features
from mcn.train import fit
from tests.train.graphs import new_trainer, predicted, same_tensors, settings, trained, with_other_test_labels

SMALL = settings(
    "views",
    **{"walk_length": 3, "stop_probability": 0.2, "max_neighbours": 6, "symmetric": False, "hidden": 8},
    **{"labelled_batch": 10, "unlabelled_batch": 12, "steps_per_epoch": 3, "max_epochs": 6},
    **{"consistency_ramp": 20, "min_confidence": 2.0, "stopping": "accuracy"},
)
WHOLE = SMALL.replace(full_batch=True, symmetric=True, smooth_predictions=True, min_confidence=0.0)
CERTAIN: dict[str, Any] = {
    **dict.fromkeys(["drop_neighbours", "input_dropout", "dropout", "consistency"], 0.0),
    "motifs": ("edge",),
}
BOTH = pytest.mark.parametrize("config", [SMALL, WHOLE], ids=["batches", "whole"])


@pytest.fixture(scope="module")
def ties() -> Data:
    return load_dataset("strong-ties")


def test_training_learns(ties: Data) -> None:
    sizes = {"hidden": 32, "steps_per_epoch": 10, "labelled_batch": 50, "unlabelled_batch": 100}
    own = new_trainer(ties, SMALL.replace(**sizes, max_epochs=60, patience=60))
    result = fit(own)
    assert result.val_accuracy > 0.35  # five classes: chance is 0.2, and most edges of this graph mislead
    val = ties.val_mask.numpy()
    assert (predicted(own).labels == ties.y.numpy())[val].mean() == pytest.approx(result.val_accuracy)


@pytest.mark.parametrize(
    "config",
    [SMALL.replace(**CERTAIN, passes=1, labelled_batch=10_000), WHOLE.replace(**CERTAIN)],
    ids=["batches", "whole"],
)
def test_the_loss_of_a_step_is_a_cross_entropy(ties: Data, config: Any) -> None:
    """With nothing random in it, the step's loss is the cross-entropy of the exact features."""
    own = new_trainer(ties, config)
    own.model.train()
    x = exact_features(own.rows, own.x, own.problem.train)
    wanted = torch.nn.functional.cross_entropy(own.model(x), own.problem.train_labels)
    loss, _ = own._step(0)
    assert loss == pytest.approx(float(wanted.detach()), rel=1e-5)


def test_lost_nodes_are_lost_to_everyone_and_smooth_predictions_are_averages(ties: Data) -> None:
    """The mean of many whole passes is the pass with nothing lost, as long as the network is linear."""
    own = new_trainer(ties, WHOLE.replace(**CERTAIN | {"drop_neighbours": 0.5}, num_layers=1, passes=400))
    _, known, unknown = own._all_nodes(1)
    p = own.problem
    exact = own.model.whole(own.x, own.rows.mean)
    spread = known.std(0) / 20
    assert ((known.mean(0) - exact[p.train]).abs() <= 5 * spread + 1e-6).all()
    assert unknown.shape == (400, own.rows.num_nodes - len(p.train), p.num_classes)
    own = trained(ties, WHOLE.replace(max_epochs=1))
    rough = own.model.whole(own.x, own.rows.mean).softmax(1).detach().numpy()
    mean = own.rows.mean
    matrix = csr_array((mean.values, mean.indices, mean.indptr), shape=(len(rough), len(rough)))
    np.testing.assert_allclose(predicted(own).probabilities, matrix @ rough, atol=1e-5)


@BOTH
def test_the_seed_decides_and_test_labels_do_not(ties: Data, config: Any) -> None:
    first, other = trained(ties, config.replace(seed=3)), trained(ties, config.replace(seed=4))
    again = trained(with_other_test_labels(ties), config.replace(seed=3))
    assert same_tensors(first.best, again.best)
    assert not same_tensors(first.best, other.best)
    np.testing.assert_array_equal(predicted(first).probabilities, predicted(again).probabilities)
