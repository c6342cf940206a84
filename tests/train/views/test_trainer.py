"""Training with motif views: the step, resuming, what it may know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch_geometric.data import Data

from mcn.data import load_dataset
from mcn.nn import exact_features
from mcn.train import ViewsConfig, fit, load_run, train_run
from mcn.train.loop import one_torch_thread
from mcn.train.views.trainer import ViewsTrainer
from tests.train.graphs import new_trainer, predicted

SMALL = ViewsConfig(
    walk_length=3,
    stop_probability=0.2,
    max_neighbours=6,
    symmetric=False,
    hidden=8,
    labelled_batch=10,
    unlabelled_batch=12,
    consistency_ramp=20,
    min_confidence=2.0,
    steps_per_epoch=3,
    max_epochs=6,
    stopping="accuracy",
)
WHOLE = SMALL.replace(full_batch=True, symmetric=True, smooth_predictions=True, min_confidence=0.0)


@pytest.fixture(scope="module")
def ties() -> Data:
    return load_dataset("strong-ties")


def trainer(data: Data, config: ViewsConfig = SMALL) -> ViewsTrainer:
    own = new_trainer(data, config)
    assert isinstance(own, ViewsTrainer)
    return own


def test_training_learns(ties: Data) -> None:
    config = SMALL.replace(
        hidden=32, max_epochs=60, steps_per_epoch=10, labelled_batch=50, unlabelled_batch=100, patience=60
    )
    own = trainer(ties, config)
    result = fit(own)
    assert result.val_accuracy > 0.35  # five classes: chance is 0.2, and most edges of this graph mislead
    labels = predicted(own).labels
    val = ties.val_mask.numpy()
    assert (labels == ties.y.numpy())[val].mean() == pytest.approx(result.val_accuracy)


def test_the_loss_of_a_step_is_a_cross_entropy(ties: Data) -> None:
    """With nothing random in it, the step's loss is the cross-entropy of the exact features."""
    config = SMALL.replace(
        consistency=0.0, drop_neighbours=0.0, motifs=("edge",), input_dropout=0.0, dropout=0.0, passes=1
    )
    own = trainer(ties, config.replace(labelled_batch=10_000))
    problem = own.problem
    own.model.train()
    x = exact_features(own.rows, own.x, problem.train)
    wanted = torch.nn.functional.cross_entropy(own.model(x), problem.train_labels)
    loss, _ = own._step(0)
    assert loss == pytest.approx(float(wanted.detach()), rel=1e-5)


def test_a_whole_step_is_the_same_loss_over_all_nodes(ties: Data) -> None:
    """Nothing random: cross-entropy of the training nodes, agreement of two passes that are the same."""
    config = WHOLE.replace(
        drop_neighbours=0.0, motifs=("edge",), input_dropout=0.0, dropout=0.0, consistency=0.0
    )
    own = trainer(ties, config)
    x = exact_features(own.rows, own.x, own.problem.train)
    wanted = torch.nn.functional.cross_entropy(own.model(x), own.problem.train_labels)
    loss, _ = own._step(0)
    assert loss == pytest.approx(float(wanted.detach()), rel=1e-5)


def test_lost_nodes_are_lost_to_everyone_and_the_rest_is_louder(ties: Data) -> None:
    """The mean of many whole passes is the pass with nothing lost, as long as the network is linear."""
    config = WHOLE.replace(
        drop_neighbours=0.5, motifs=("edge",), input_dropout=0.0, dropout=0.0, num_layers=1, passes=400
    )
    own = trainer(ties, config)
    _, known, unknown = own._all_nodes(1)
    p = own.problem
    exact = own.model.whole(own.x, own.rows.mean)
    spread = known.std(0) / 20
    assert ((known.mean(0) - exact[p.train]).abs() <= 5 * spread + 1e-6).all()
    assert unknown.shape == (400, own.rows.num_nodes - len(p.train), p.num_classes)


def test_smooth_predictions_are_averages_over_neighbours(ties: Data) -> None:
    own = trainer(ties, WHOLE.replace(max_epochs=1))
    fit(own)
    rough = own.model.whole(own.x, own.rows.mean).softmax(1).detach().numpy()
    mean = own.rows.mean
    matrix = csr_array((mean.values, mean.indices, mean.indptr), shape=(len(rough), len(rough)))
    np.testing.assert_allclose(predicted(own).probabilities, matrix @ rough, atol=1e-5)


@pytest.mark.parametrize("whole", [False, True])
def test_same_seed_same_bits_and_another_seed_another_run(ties: Data, whole: bool) -> None:
    first, second, other = (trainer(ties, (WHOLE if whole else SMALL).replace(seed=s)) for s in (3, 3, 4))
    for own in (first, second, other):
        fit(own)
    for name, value in first.best.items():
        assert torch.equal(value, second.best[name])
    assert any(not torch.equal(value, other.best[name]) for name, value in first.best.items())


@pytest.mark.parametrize("whole", [False, True])
def test_test_labels_change_nothing(ties: Data, whole: bool) -> None:
    config = WHOLE if whole else SMALL
    shuffled = ties.clone()
    test = shuffled.test_mask.nonzero().squeeze(1)
    shuffled.y[test] = shuffled.y[test[torch.randperm(len(test))]]
    assert not torch.equal(shuffled.y, ties.y)
    first, second = trainer(ties, config), trainer(shuffled, config)
    fit(first)
    fit(second)
    np.testing.assert_array_equal(predicted(first).probabilities, predicted(second).probabilities)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batch_norm": True, "row_norm": True, "num_layers": 1, "ema_decay": 0.0},
        {"full_batch": True, "symmetric": True, "smooth_predictions": True},
    ],
)
def test_resumed_is_undisturbed(ties: Data, changes: dict[str, object]) -> None:
    config = SMALL.replace(**changes)
    whole = trainer(ties, config)
    fit(whole)
    first, second = trainer(ties, config), trainer(ties, config)
    with one_torch_thread():  # as `fit` does: torch's own sums depend on its threads
        first.run_epoch()
        first.run_epoch()
    second.load({k: v.clone() for k, v in first.tensors().items()}, first.state())
    fit(second)
    for name, value in whole.best.items():
        assert torch.equal(value, second.best[name]), name


def test_a_run_on_disk(ties: Data, tmp_path: Path) -> None:
    summary = train_run(tmp_path / "run", ties, SMALL, {"dataset": "strong-ties"}).summary
    run = load_run(tmp_path / "run")
    assert run.config == SMALL
    own = run.predict(ties)
    test = ties.test_mask.numpy()
    assert (own.labels == ties.y.numpy())[test].mean() == pytest.approx(summary["test_accuracy"])
    lines = (tmp_path / "run" / "predictions.csv").read_text().splitlines()
    assert lines[0] == "node,split,true,predicted,probability"
    assert "× 3 steps" in summary["protocol"]
    assert summary["motif_share"] == []


def test_dense_and_sparse_features_are_the_same(ties: Data) -> None:
    dense = ties.clone()
    dense.x = ties.x.to_dense()
    first, second = trainer(ties), trainer(dense)
    fit(first)
    fit(second)
    np.testing.assert_allclose(predicted(first).probabilities, predicted(second).probabilities, atol=1e-6)
