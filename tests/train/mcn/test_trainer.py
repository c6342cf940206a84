"""Training: the seed decides everything; threads, interruptions and test labels decide nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from mcn.train import Epoch, MCNConfig, fit
from mcn.train.checkpoint import load_tensors, save_tensors
from mcn.train.loop import Trainer, one_torch_thread
from mcn.train.mcn.config import ATTENTION
from mcn.train.mcn.trainer import MCNTrainer, prefer_first
from tests.train.graphs import new_trainer, predicted, same_tensors, small_config, small_graph, trained

RULES: list[dict[str, Any]] = [
    *({"attention": name} for name in ATTENTION),
    {"attention": "paper", "advantage": "mean"},
    {"attention": "paper", "advantage": "learned"},
    {"attention": "paper", "consistency": 1.0, "consistency_ramp": 4},
    {"attention": "paper", "steps": 2, "num_layers": 3},
    {"motif_attention": False, "self_attention": False},
    {"self_attention": False},
    {"self_attention": False, "consistency": 1.0},
]


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return dict(trainer.model.state_dict())


def history(trainer: Trainer) -> list[Epoch]:
    seen: list[Epoch] = []
    fit(trainer, [lambda _trainer, epoch: seen.append(epoch)])
    return seen


def test_the_seed_decides_everything() -> None:
    data = small_graph()
    torch.manual_seed(1)
    first = trained(data, small_config(seed=3))
    torch.manual_seed(2)  # the global generator plays no part, nor is it touched
    before = torch.get_rng_state()
    second = trained(data, small_config(seed=3))
    assert torch.equal(torch.get_rng_state(), before)
    assert same_tensors(weights(first), weights(second))
    assert not same_tensors(weights(first), weights(trained(data, small_config(seed=4))))


@pytest.mark.parametrize("changes", RULES, ids=str)
def test_resumed_equals_undisturbed(changes: dict[str, Any], tmp_path: Path) -> None:
    """Stopped in the middle, saved to a file, loaded into a new trainer: same weights, scores and end."""
    data, config = small_graph(), small_config(**changes)
    whole = new_trainer(data, config)
    expected = history(whole)

    first = new_trainer(data, config)
    with one_torch_thread():
        seen = [first.run_epoch() for _ in range(5)]
    save_tensors(tmp_path / "last", first.tensors(), first.state())
    second = new_trainer(data, config)
    second.load(*load_tensors(tmp_path / "last"))
    seen += history(second)
    assert seen == expected
    assert same_tensors(weights(second), weights(whole))
    assert (second.epoch, second.best_epoch, second.stopped) == (whole.epoch, whole.best_epoch, True)
    assert second.seconds > first.seconds > 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs a settable affinity (Linux)")
def test_threads_decide_nothing() -> None:
    """Counting, building the stack and training with one core, and with all of them."""
    cores, threads = os.sched_getaffinity(0), torch.get_num_threads()
    if len(cores) < 2:
        pytest.skip("needs two cores")
    data = small_graph(num_nodes=1500, num_words=600, words_per_node=60)
    config = small_config(hidden=16, heads=8, max_epochs=3, steps=2, motifs=("edge", "triangle", "4-path"))
    results = []
    try:
        for some in ({min(cores)}, cores):
            os.sched_setaffinity(0, some)
            torch.set_num_threads(len(some))
            trainer = trained(data, config)
            own = predicted(trainer)
            results.append(weights(trainer) | {"own": torch.from_numpy(own.probabilities)})
    finally:
        os.sched_setaffinity(0, cores)
        torch.set_num_threads(threads)
    assert same_tensors(*results)


def test_torch_gets_its_threads_back() -> None:
    before = torch.get_num_threads()
    with one_torch_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_test_labels_decide_nothing() -> None:
    data, shuffled = small_graph(), small_graph()
    places = data.test_mask.nonzero().squeeze(1)
    shuffled.y[places] = data.y[places[torch.randperm(len(places))]]
    assert not torch.equal(data.y, shuffled.y)
    for changes in RULES[:2]:
        first, second = (new_trainer(d, small_config(**changes)) for d in (data, shuffled))
        assert history(first) == history(second)
        assert same_tensors(weights(first), weights(second))


def test_the_kept_weights_are_those_of_the_best_epoch() -> None:
    data, config = small_graph(), small_config(max_epochs=40, stopping="loss", lr=0.3)
    trainer = new_trainer(data, config)
    at: dict[int, dict[str, torch.Tensor]] = {}
    seen: list[Epoch] = []

    def note(trainer: Trainer, epoch: Epoch) -> None:
        seen.append(epoch)
        at[epoch.epoch] = {name: value.clone() for name, value in trainer.model.state_dict().items()}

    result = fit(trainer, [note])
    best = min(seen, key=lambda epoch: epoch.val_loss)
    assert result.best_epoch == best.epoch < 40
    assert result.epochs == len(seen) == 40
    assert (result.val_loss, result.val_accuracy) == (best.val_loss, best.val_accuracy)
    if not config.gate:
        assert same_tensors(weights(trainer), at[best.epoch])
    assert [epoch.epoch for epoch in seen] == list(range(1, 41))


def test_patience_ends_a_run() -> None:
    trainer = new_trainer(small_graph(), small_config(max_epochs=1000, patience=3, stopping="loss", lr=0.1))
    seen = history(trainer)
    assert len(seen) < 1000
    assert not any(epoch.kept for epoch in seen[-3:])
    assert seen[-4].kept
    assert trainer.stopped


def test_it_learns() -> None:
    trainer = new_trainer(small_graph(), small_config(max_epochs=60, lr=0.02, dropout=0.0, attention="paper"))
    seen = history(trainer)
    assert seen[-1].train_loss < 0.8 * seen[0].train_loss
    assert max(epoch.val_accuracy for epoch in seen) > 0.5  # a third by chance


def test_divergence_is_an_error() -> None:
    data = small_graph(dense=True)
    data.x = data.x * 1e30
    with pytest.raises(ValueError, match=r"the loss is (nan|inf) after \d+ epochs; lower the learning rate"):
        trained(data, small_config(lr=1e30, normalize=False, max_epochs=50))


def test_a_closed_gate_means_no_choice() -> None:
    """The gate starts closed, opens when the learned choices lead, and is only there if asked for."""
    trainer = new_trainer(small_graph(), small_config(attention="paper", gate=True, steps=2))
    assert isinstance(trainer, MCNTrainer)
    assert trainer.plain
    with one_torch_thread():
        trainer.run_epoch()
    if trainer.plain:
        trainer.model.load_state_dict(trainer.best)
        own = predicted(trainer)
        assert not own.motif.any()
        assert (own.step == 1).all()
    trainer.lead = 0.1
    assert not trainer.plain
    assert not new_trainer(small_graph(), small_config(attention="paper", gate=False)).plain
    assert not new_trainer(small_graph(), small_config(motifs=("edge",), gate=True)).plain


def test_selectors_that_prefer_the_first() -> None:
    trainer = new_trainer(small_graph(), small_config(motifs=("edge", "triangle", "2-star"), steps=2))
    state = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    prefer_first(state)
    trainer.model.load_state_dict(state)
    trainer.model.eval()
    p = trainer.problem.inputs
    with torch.no_grad():
        logits, choices = trainer.model(p.x, p.stack, return_choices=True)
        assert torch.equal(logits, trainer.model(p.x, p.stack, choice=0))
    assert all((c.motif == 0).all() and (c.step == 1).all() for c in choices)


def test_the_selector_may_have_a_learning_rate_of_its_own() -> None:
    trainer = new_trainer(small_graph(), small_config(policy_lr=0.1, policy_decay=0.0))
    network, selector = trainer.optimizer.param_groups
    assert (network["lr"], network["weight_decay"]) == (0.005, 0.0005)
    assert (selector["lr"], selector["weight_decay"]) == (0.1, 0.0)
    names = [name for name, _ in trainer.model.named_parameters()]
    assert len(selector["params"]) == sum(".selector." in name for name in names) > 0
    assert len(network["params"]) + len(selector["params"]) == len(names)
    alike = new_trainer(small_graph(), small_config())
    assert {group["lr"] for group in alike.optimizer.param_groups} == {0.005}


def test_a_frozen_config() -> None:
    with pytest.raises(AttributeError):
        MCNConfig().seed = 3  # type: ignore[misc]
