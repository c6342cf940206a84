"""Training with motif views: settings, the step, resuming, what it may know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch_geometric.data import Data

from mcn.data import load_dataset
from mcn.nn import exact_features
from mcn.train import ViewsClassifier, ViewsConfig, fit, load_run, recipe_config, train_run
from mcn.train.loop import one_torch_thread
from mcn.train.recipes import make_trainer, predict_trained, prepare_any
from mcn.train.views.trainer import ViewsTrainer

SMALL = ViewsConfig(
    order=3,
    alpha=0.2,
    top=6,
    symmetric=False,
    hidden=8,
    batch=10,
    unlabelled=12,
    ramp=20,
    sure=2.0,
    every=3,
    max_epochs=6,
    stopping="accuracy",
)
WHOLE = SMALL.replace(whole=True, symmetric=True, smooth=True, sure=0.0)


@pytest.fixture(scope="module")
def ties() -> Data:
    return load_dataset("strong-ties")


def trainer(data: Data, config: ViewsConfig = SMALL) -> ViewsTrainer:
    own = make_trainer(prepare_any(data, config), config)
    assert isinstance(own, ViewsTrainer)
    return own


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match=r"lost must be a probability below 1, got 1"):
        ViewsConfig(lost=1.0)
    with pytest.raises(ValueError, match="unknown setting 'passs'; did you mean 'passes'"):
        ViewsConfig.from_dict({"passs": 3})
    with pytest.raises(ValueError, match="alpha must be a positive number"):
        ViewsConfig(alpha=0.0)
    assert ViewsConfig(alpha=None).alpha is None
    with pytest.raises(ValueError, match="whole steps mix after the first layer: they need batch_norm and"):
        ViewsConfig(whole=True, batch_norm=True)
    config = ViewsConfig(motifs=["edge"], passes=3)  # type: ignore[arg-type]
    assert ViewsConfig.from_dict(config.to_dict()) == config


def test_recipes_have_settings_by_data_set() -> None:
    assert recipe_config("views", "pubmed").to_dict()["batch"] == 5
    assert recipe_config("views", None) == ViewsConfig()
    assert recipe_config("paper", "cora").to_dict()["attention"] == "paper"
    with pytest.raises(ValueError, match="recipe must be one of mcn, paper, views, got 'view'"):
        recipe_config("view", "cora")


def test_training_learns(ties: Data) -> None:
    config = SMALL.replace(hidden=32, max_epochs=60, every=10, batch=50, unlabelled=100, patience=60)
    own = trainer(ties, config)
    result = fit(own)
    assert result.val_accuracy > 0.35  # five classes: chance is 0.2, and most edges of this graph mislead
    labels = predict_trained(own).labels
    val = ties.val_mask.numpy()
    assert (labels == ties.y.numpy())[val].mean() == pytest.approx(result.val_accuracy)


def test_the_loss_of_a_step_is_a_cross_entropy(ties: Data) -> None:
    """With nothing random in it, the step's loss is the cross-entropy of the exact features."""
    config = SMALL.replace(
        consistency=0.0, lost=0.0, motifs=("edge",), input_dropout=0.0, dropout=0.0, passes=1
    )
    own = trainer(ties, config.replace(batch=10_000))
    problem = own.problem
    own.model.train()
    x = exact_features(problem.rows, problem.x, problem.train)
    wanted = torch.nn.functional.cross_entropy(own.model(x), problem.train_labels)
    loss, _ = own._step(0)
    assert loss == pytest.approx(float(wanted.detach()), rel=1e-5)


def test_a_whole_step_is_the_same_loss_over_all_nodes(ties: Data) -> None:
    """Nothing random: cross-entropy of the training nodes, agreement of two passes that are the same."""
    config = WHOLE.replace(lost=0.0, motifs=("edge",), input_dropout=0.0, dropout=0.0, consistency=0.0)
    own = trainer(ties, config)
    x = exact_features(own.problem.rows, own.problem.x, own.problem.train)
    wanted = torch.nn.functional.cross_entropy(own.model(x), own.problem.train_labels)
    loss, _ = own._step(0)
    assert loss == pytest.approx(float(wanted.detach()), rel=1e-5)


def test_lost_nodes_are_lost_to_everyone_and_the_rest_is_louder(ties: Data) -> None:
    """The mean of many whole passes is the pass with nothing lost, as long as the network is linear."""
    config = WHOLE.replace(
        lost=0.5, motifs=("edge",), input_dropout=0.0, dropout=0.0, num_layers=1, passes=400
    )
    own = trainer(ties, config)
    _, known, unknown = own._whole(1)
    p = own.problem
    exact = own.model.whole(p.x, p.rows.mean)
    spread = known.std(0) / 20
    assert ((known.mean(0) - exact[p.train]).abs() <= 5 * spread + 1e-6).all()
    assert unknown.shape == (400, p.rows.num_nodes - len(p.train), p.num_classes)


def test_smooth_predictions_are_averages_over_neighbours(ties: Data) -> None:
    own = trainer(ties, WHOLE.replace(max_epochs=1))
    fit(own)
    p = own.problem
    rough = own.model.whole(p.x, p.rows.mean).softmax(1).detach().numpy()
    mean = p.rows.mean
    matrix = csr_array((mean.values, mean.indices, mean.indptr), shape=(len(rough), len(rough)))
    np.testing.assert_allclose(predict_trained(own).probabilities, matrix @ rough, atol=1e-5)


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
    np.testing.assert_array_equal(predict_trained(first).probabilities, predict_trained(second).probabilities)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batch_norm": True, "row_norm": True, "num_layers": 1, "average": 0.0},
        {"whole": True, "symmetric": True, "smooth": True},
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
    summary = train_run(tmp_path / "run", ties, SMALL, {"dataset": "strong-ties"})
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
    np.testing.assert_allclose(
        predict_trained(first).probabilities, predict_trained(second).probabilities, atol=1e-6
    )


def test_the_estimator_is_the_same_run(ties: Data) -> None:
    own = trainer(ties, SMALL.replace(seed=2))
    result = fit(own)
    params = {k: v for k, v in SMALL.to_dict().items() if k != "seed"}
    clf = ViewsClassifier(**params, random_state=2).fit(ties)
    assert clf.val_accuracy_ == result.val_accuracy
    np.testing.assert_array_equal(clf.predict_proba(ties), predict_trained(own).probabilities)
    assert clf.get_params()["lost"] == 0.5
    with pytest.raises(ValueError, match="ViewsClassifier has no parameter 'last'; did you mean 'lost'"):
        clf.set_params(last=0.2)
    with pytest.raises(ValueError, match="this ViewsClassifier is not fitted yet"):
        ViewsClassifier().predict(ties)


def test_the_estimator_has_every_setting() -> None:
    assert (
        ViewsConfig(**{k: v for k, v in ViewsClassifier().get_params().items() if k != "random_state"})
        == ViewsConfig()
    )
    assert set(ViewsClassifier().get_params()) - {"random_state"} == set(ViewsConfig().to_dict()) - {"seed"}
