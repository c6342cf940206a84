"""Training in mini-batches: the full batch where nothing is left out, resumable, exact in validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from mcn.train import MCNConfig, fit, prepare
from mcn.train.loop import Trainer, below
from mcn.train.mcn.batches import BatchTrainer, mean_share
from mcn.train.recipes import find_recipe, work_of
from tests.train.graphs import new_trainer, same_tensors, small_config, small_graph

PLAIN: dict[str, Any] = {"dropout": 0.0, "epsilon": 0.0}
KINDS: dict[str, dict[str, Any]] = {
    "mcn": {"attention": "gated", "gate": True},
    "paper": {"attention": "paper", "steps": 2, "psi": "transition"},
    "learned value": {"attention": "paper", "advantage": "learned"},
    "gat": {"motifs": ("edge",), "motif_attention": False},
    "gcn": {"motifs": ("edge",), "motif_attention": False, "self_attention": False, "heads": 1},
}


def run(trainer: Trainer, epochs: int) -> dict[str, torch.Tensor]:
    for _ in range(epochs):
        trainer.run_epoch()
    return trainer.tensors()


@pytest.mark.parametrize("kind", KINDS)
def test_one_batch_of_everybody_and_all_neighbours_is_the_full_batch(kind: str) -> None:
    data, config = small_graph(), small_config(**PLAIN, **KINDS[kind])
    full = run(new_trainer(data, config), 3)
    trainer = new_trainer(data, config.replace(batch_size=1000, neighbours=(-1,)))
    assert isinstance(trainer, BatchTrainer)
    own = run(trainer, 3)
    assert own.keys() == full.keys()
    for name, value in full.items():
        torch.testing.assert_close(own[name], value, rtol=1e-4, atol=1e-5, msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_resumed_bit_by_bit_and_with_any_number_of_workers(kind: str) -> None:
    data, config = small_graph(), small_config(batch_size=7, neighbours=(3, 2), **KINDS[kind])
    whole = new_trainer(data, config)
    first = run(whole, 2)
    saved = {name: value.clone() for name, value in first.items()}, whole.state()
    undisturbed = run(whole, 2)
    resumed = new_trainer(data, config)
    resumed.load(*saved)
    assert same_tensors(run(resumed, 2), undisturbed)
    if kind == "mcn":
        resumed = new_trainer(data, config.replace(loader_workers=2))
        resumed.load(*saved)
        assert same_tensors(run(resumed, 2), undisturbed)


@pytest.mark.parametrize("batch_size", [4, 7])
def test_the_running_mean_of_the_weights_is_validated_and_kept(batch_size: int) -> None:
    data, config = small_graph(), small_config(batch_size=batch_size, neighbours=(2,), **KINDS["paper"])
    trainer = new_trainer(data, config)
    seen: list[dict[str, torch.Tensor]] = []

    def look(*_: Any) -> None:
        seen.append({name: value.detach().clone() for name, value in trainer.model.named_parameters()})

    trainer.optimizer.register_step_post_hook(look)
    trainer.run_epoch()
    epoch = trainer.run_epoch()
    steps = -(-len(trainer.problem.train) // batch_size)
    assert len(seen) == 2 * steps
    assert steps > 2
    kept = trainer.best if trainer.best_epoch == 2 else below("mean.", trainer.tensors())
    weights = torch.arange(1.0, len(seen) + 1)  # the n-th step weighs n
    for name, value in trainer.model.named_parameters():
        assert torch.equal(value, seen[-1][name])
        each = torch.stack([one[name] for one in seen])
        expected = torch.tensordot(weights / weights.sum(), each, 1)
        torch.testing.assert_close(kept[name], expected, rtol=1e-5, atol=1e-7)
    trainer.model.load_state_dict(kept)
    with torch.no_grad():
        assert trainer.final_scores().loss == pytest.approx(epoch.val_loss, rel=1e-6)


def test_later_the_mean_remembers_three_epochs_or_a_hundred_steps_or_an_epoch() -> None:
    assert mean_share(57, 10) == pytest.approx(2 / 59)
    assert mean_share(58, 10) == mean_share(10_000, 10) == 1 / 30
    assert mean_share(10_000, 60) == 1 / 100
    assert mean_share(10_000, 400) == 1 / 400
    assert mean_share(0, 1) == mean_share(77, 1) == 1.0


def test_a_run_with_one_batch_an_epoch_goes_on_with_several() -> None:
    """As with other processes, whose batches together are smaller."""
    data, config = small_graph(), small_config(batch_size=1000, neighbours=(2,), **KINDS["gat"])
    trainer = new_trainer(data, config)
    tensors = run(trainer, 2)
    further = new_trainer(data, config.replace(batch_size=7))
    further.load(tensors, trainer.state())
    mean = below("mean.", further.tensors())
    assert same_tensors(mean, below("model.", tensors))


def test_mean_weights_of_another_network_are_refused() -> None:
    data, config = small_graph(), small_config(batch_size=7, neighbours=(2,), **KINDS["gat"])
    trainer = new_trainer(data, config)
    tensors = dict(run(trainer, 1))
    name = next(each for each in tensors if each.startswith("mean."))
    tensors[name] = torch.zeros(3, 1)
    with pytest.raises(ValueError, match="the mean weights are not those of this network"):
        new_trainer(data, config).load(tensors, trainer.state())


@pytest.mark.parametrize("kind", ["mcn", "gcn"])
def test_validation_and_prediction_are_those_of_full_passes(kind: str) -> None:
    data, config = small_graph(), small_config(batch_size=5, neighbours=(2,), max_epochs=3, **KINDS[kind])
    trainer = new_trainer(data, config)
    result = fit(trainer)
    whole = config.replace(batch_size=None)
    full = work_of(whole).trainer(prepare(data, whole), whole)
    full.model.load_state_dict(trainer.model.state_dict())
    full.model.eval()
    with torch.no_grad():
        expected = full.final_scores()
    assert result.val_accuracy == expected.accuracy
    assert result.val_loss == pytest.approx(expected.loss, rel=1e-6)
    own = work_of(config).predict(trainer.model, trainer.problem.inputs)
    other = work_of(whole).predict(full.model, full.problem.inputs)
    np.testing.assert_allclose(own.probabilities, other.probabilities, atol=1e-6)
    np.testing.assert_array_equal(own.motif, other.motif)
    np.testing.assert_array_equal(own.step, other.step)


def test_it_learns() -> None:
    data = small_graph()
    trainer = new_trainer(data, small_config(batch_size=6, neighbours=(4,), max_epochs=40, lr=0.02))
    assert fit(trainer).val_accuracy > 0.6


def test_nodes_alone_are_trained_on() -> None:
    """Every training node is isolated: batches without an edge."""
    data = small_graph()
    alone = data.train_mask
    ends = data.edge_index
    data.edge_index = ends[:, ~(alone[ends[0]] | alone[ends[1]])]
    for kind in KINDS.values():
        run(new_trainer(data, small_config(batch_size=4, **kind)), 1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"neighbours": (0,)}, "neighbours must be integers of at least 1, or -1 for all, got 0"),
        ({"neighbours": ("ten",)}, "neighbours must be integers of at least 1, or -1 for all, got 'ten'"),
        ({"neighbours": ()}, "neighbours must have at least one number, got none"),
        ({"neighbours": (5, 5, 5)}, "neighbours has 3 numbers, but there are 2 layers"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, got 0"),
        ({"batch_size": 8, "psi_prior": "product"}, "batch_size needs psi_prior softmax, got product"),
        ({"batch_size": 8, "consistency": 1.0}, "batch_size needs consistency 0, got 1.0"),
    ],
)
@pytest.mark.parametrize("recipe", ["mcn", "paper"])
def test_what_cannot_be_batched_is_refused(recipe: str, changes: dict[str, Any], words: str) -> None:
    rule = {"attention": "gated"} if recipe == "mcn" else {}
    with pytest.raises(ValueError, match=words):
        find_recipe(recipe).config(**rule, **changes)


def test_neighbours_as_typed_and_as_stored() -> None:
    config = MCNConfig(neighbours=("10", " 5"), num_layers=2)  # type: ignore[arg-type]
    assert config.neighbours == (10, 5)
    assert MCNConfig.from_dict(config.to_dict()) == config
    assert MCNConfig(neighbours=7).neighbours == (7,)  # type: ignore[arg-type]
