"""Held-out predictions: what each fold gets is decided by the other folds alone."""

from __future__ import annotations

import numpy as np
import torch

from mcn.train.held_out import FOLDS, HeldOut, folds_of
from mcn.train.stopping import stopping_rule


def scores(labels: torch.Tensor, epochs: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(len(labels), 3, generator=generator) for _ in range(epochs)]


def test_every_class_is_dealt_out_evenly() -> None:
    labels = np.repeat([0, 1, 2], [50, 23, 7])
    fold = folds_of(labels, seed=1)
    for label in range(3):
        share = np.bincount(fold[labels == label], minlength=5)
        assert share.max() - share.min() <= 1
    assert not np.array_equal(fold, folds_of(labels, seed=2))


def test_each_fold_gets_the_epoch_that_the_others_pick() -> None:
    labels = torch.arange(40) % 3
    epochs = scores(labels, 12)
    held = HeldOut(labels, "loss", "accuracy", seed=3)
    for logits in epochs:
        held.update(logits)
    for number in range(FOLDS):
        own, others = held.fold == number, held.fold != number
        rule, best = stopping_rule("loss", 1), 0
        for i, logits in enumerate(epochs):
            loss = torch.nn.functional.cross_entropy(logits[others], labels[others])
            best = i if rule.update(0.0, float(loss)).keep else best
        assert torch.equal(held.logits[own], epochs[best][own])


def test_a_folds_own_labels_decide_nothing_of_its_predictions() -> None:
    """The leak that this is there to prevent: with shuffled labels in a fold, its predictions stay."""
    labels = torch.arange(60) % 3
    first = HeldOut(labels, "gat", "accuracy", seed=0)
    own = first.fold == 2
    changed = labels.clone()
    changed[own] = (changed[own] + 1) % 3
    second = HeldOut(labels, "gat", "accuracy", seed=0)  # folds depend on the labels: the same ones
    second._labels = changed
    for logits in scores(labels, 30):
        first.update(logits)
        second.update(logits)
    assert torch.equal(first.logits[own], second.logits[own])
    assert not torch.equal(first.logits[~own], second.logits[~own])


def test_on_pure_noise_held_out_accuracy_is_chance_and_the_best_epochs_is_not() -> None:
    labels = torch.arange(300) % 3
    held, kept = [], []
    for seed in range(30):
        one = HeldOut(labels, "accuracy", "accuracy", seed)
        epochs = scores(labels, 40, seed)
        for logits in epochs:
            one.update(logits)
        held.append(float((one.logits.argmax(1) == labels).float().mean()))
        kept.append(max(float((logits.argmax(1) == labels).float().mean()) for logits in epochs))
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    assert abs(np.mean(held) - 1 / 3) < 3 * error
    assert np.mean(kept) > 1 / 3 + 5 * error  # what early stopping alone makes of nothing


def test_goes_on_where_it_was() -> None:
    labels = torch.arange(30) % 3
    whole, first, second = (HeldOut(labels, "gat", "macro-f1", seed=5) for _ in range(3))
    epochs = scores(labels, 10)
    for i, logits in enumerate(epochs):
        whole.update(logits)
        if i < 4:
            first.update(logits)
    second.load(first.logits, first.state())
    for logits in epochs[4:]:
        second.update(logits)
    assert torch.equal(whole.logits, second.logits)


def test_fewer_nodes_than_folds() -> None:
    labels = torch.tensor([0, 1])
    held = HeldOut(labels, "gat", "roc-auc", seed=0)
    held.update(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    assert held.logits.shape == (2, 2)
    alone = HeldOut(labels[:1], "gat", "accuracy", seed=0)
    alone.update(torch.tensor([[1.0, 0.0]]))
    assert alone.logits.shape == (1, 2)
