"""eq:loss: what one step minimises."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from mcn.train.losses import agreement_loss, attention_loss, classification_loss, correctness
from tests.train.graphs import new_trainer, small_config, small_graph


def pieces(changes: dict[str, Any]) -> tuple[Any, Any]:
    """A trainer and its twin, whose next passes are the same."""
    data, config = small_graph(), small_config(**changes)
    first, second = new_trainer(data, config), new_trainer(data, config)
    first.model.train()
    second.model.train()
    return first, second


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_the_papers_loss(weight: float) -> None:
    """(L_C + L_A) / |T|, with the ±1 reward of the very pass."""
    first, second = pieces({"attention": "paper", "policy_weight": weight})
    step = first.objective.step(first.model, 0)
    p = second.problem
    logits, choices = second.model(p.inputs.x, p.inputs.stack, p.train, return_choices=True)
    loss_c = classification_loss(logits, p.train_labels)
    reward = correctness(logits, p.train_labels)
    expected = (loss_c + weight * attention_loss(choices, reward)) / len(p.train)
    assert step.loss.item() == pytest.approx(expected.item(), rel=1e-6)
    assert step.fetch()[0] == pytest.approx(loss_c.item() / len(p.train), rel=1e-6)
    assert step.fetch()[1] == pytest.approx((reward.mean().item() + 1) / 2)


@pytest.mark.parametrize(
    "changes", [{"motif_attention": False}, {"motifs": ("edge",)}, {"policy_weight": 0.0}]
)
def test_nothing_to_choose_or_to_reward(changes: dict[str, Any]) -> None:
    first, second = pieces({"attention": "paper", **changes})
    step = first.objective.step(first.model, 0)
    p = second.problem
    expected = classification_loss(second.model(p.inputs.x, p.inputs.stack, p.train), p.train_labels) / len(
        p.train
    )
    assert step.loss.item() == pytest.approx(expected.item(), rel=1e-6)
    assert step.fetch()[0] == pytest.approx(expected.item(), rel=1e-6)


def test_two_views() -> None:
    """Two passes over all nodes: the mean of their losses, and how far they disagree, growing with time."""
    first, second = pieces({"attention": "paper", "consistency": 2.0, "consistency_ramp": 10})
    step = first.objective.step(first.model, 5)
    p = second.problem
    train = torch.from_numpy(p.train)
    views, losses = [], []
    for _ in range(2):
        logits, choices = second.model(p.inputs.x, p.inputs.stack, return_choices=True)
        own = logits[train]
        reward = torch.zeros(len(logits))
        reward[train] = correctness(own, p.train_labels)
        losses.append(classification_loss(own, p.train_labels) + attention_loss(choices, reward))
        views.append(logits)
    expected = sum(losses) / 2 / len(train) + 2.0 * 0.5 * agreement_loss(views, 0.5)
    assert step.loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_learned_value_is_trained_along() -> None:
    first, _ = pieces({"attention": "paper", "advantage": "learned"})
    own = list(first.objective.parameters())
    assert [tuple(parameter.shape) for parameter in own] == [(1, 3 + 15), (1,)]
    assert {id(p) for p in own} <= {id(p) for g in first.optimizer.param_groups for p in g["params"]}
    for _ in range(3):
        first.run_epoch()
    assert all(parameter.abs().max() > 0 for parameter in own)
    assert set(first.objective.tensors()) == {"weight", "bias"}


def test_the_first_loss_is_the_same_for_every_advantage_but_its_baseline() -> None:
    """The running mean takes the mean off the first rewards, so their sum is zero."""
    first, second = pieces({"attention": "paper", "advantage": "mean", "num_layers": 1})
    step = first.objective.step(first.model, 0)
    p = second.problem
    logits, choices = second.model(p.inputs.x, p.inputs.stack, p.train, return_choices=True)
    reward = correctness(logits, p.train_labels)
    gain = reward - reward.mean()
    expected = classification_loss(logits, p.train_labels) + attention_loss(choices, gain)
    assert step.loss.item() == pytest.approx(expected.item() / len(p.train), rel=1e-5)
