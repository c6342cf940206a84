"""The loop: when it stops and what it keeps, held-out predictions, and what is told of every epoch."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mcn.train import Epoch, TensorBoard, fit, train
from mcn.train.callbacks import Checkpoints, JSONLines
from mcn.train.checkpoint import load_tensors
from mcn.train.held_out import FOLDS, HeldOut, folds_of
from mcn.train.stopping import RULES, StoppingRule
from mcn.train.tasks import Classes
from tests.conftest import refuses
from tests.train.graphs import history, new_trainer, same_tensors, small_config, small_graph, trained

# Stopping rules.

SCORES = [  # accuracy, loss
    (0.5, 1.0),  # 1: first, best at both
    (0.6, 0.9),  # 2: better at both
    (0.7, 0.95),  # 3: accuracy only
    (0.6, 0.8),  # 4: loss only
    (0.7, 0.8),  # 5: ties with both bests
    (0.6, 0.9),  # 6: neither
    (0.7, 0.9),  # 7: ties with the best accuracy
    (0.6, 0.85),  # 8: neither
    (0.5, 0.9),  # 9: neither
    (0.9, 0.1),  # 10: never seen with a patience of 2
]


def verdicts(rule: StoppingRule) -> tuple[list[int], int | None]:
    """Epochs (from 1) whose weights were kept, and the epoch that stopped."""
    kept = []
    for epoch, scores in enumerate(SCORES, 1):
        verdict = rule.update(*scores)
        if verdict.keep:
            kept.append(epoch)
        if verdict.stop:
            return kept, epoch
    return kept, None


@pytest.mark.parametrize(
    ("name", "patience", "kept", "stopped"),
    [
        ("gat", 1, [1, 2, 5], 6),  # epochs 3 and 4 are at their best in one of the two
        ("gat", 2, [1, 2, 5], 9),
        ("gat", 3, [1, 2, 5, 10], None),
        ("accuracy", 2, [1, 2, 3, 5], 5),
        ("accuracy", 6, [1, 2, 3, 5], 9),
        ("accuracy", 7, [1, 2, 3, 5, 10], None),
        ("gat-accuracy", 1, [1, 2, 3], 4),
        ("gat-accuracy", 2, [1, 2, 3, 5, 7], 9),
        ("gat-accuracy", 3, [1, 2, 3, 5, 7, 10], None),
        ("loss", 2, [1, 2, 4], 6),
        ("loss", 5, [1, 2, 4], 9),
        ("loss", 6, [1, 2, 4, 10], None),
    ],
)
def test_stopping_by_hand(name: str, patience: int, kept: list[int], stopped: int | None) -> None:
    assert verdicts(StoppingRule(name, patience)) == (kept, stopped)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_goes_on_from_saved_values(name: str) -> None:
    """Saved as JSON after any epoch, a fresh rule says what the undisturbed one says."""
    undisturbed = [rule.update(*scores) for rule in [StoppingRule(name, 3)] for scores in SCORES]
    for cut in range(1, len(SCORES)):
        first, second = StoppingRule(name, 3), StoppingRule(name, 3)
        said = [first.update(*scores) for scores in SCORES[:cut]]
        second.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert said + [second.update(*scores) for scores in SCORES[cut:]] == undisturbed


def test_the_kept_weights_are_those_of_the_best_epoch_and_patience_ends_a_run() -> None:
    trainer = new_trainer(small_graph(), small_config(max_epochs=40, stopping="loss", lr=0.3, gate=False))
    weights: dict[int, dict[str, torch.Tensor]] = {}
    seen: list[Epoch] = []

    def note(trainer: Any, epoch: Epoch) -> None:
        seen.append(epoch)
        weights[epoch.epoch] = {name: value.clone() for name, value in trainer.model.state_dict().items()}

    result = fit(trainer, [note])
    best = min(seen, key=lambda epoch: epoch.val_loss)
    assert result.best_epoch == best.epoch < 40
    assert result.epochs == len(seen) == 40
    assert (result.val_loss, result.val_accuracy) == (best.val_loss, best.val_accuracy)
    assert same_tensors(dict(trainer.model.state_dict()), weights[best.epoch])
    assert [epoch.epoch for epoch in seen] == list(range(1, 41))
    trainer = new_trainer(small_graph(), small_config(max_epochs=1000, patience=3, stopping="loss", lr=0.1))
    seen = history(trainer)
    assert len(seen) < 1000
    assert not any(epoch.kept for epoch in seen[-3:])
    assert seen[-4].kept
    assert trainer.stopped


def test_divergence_and_a_metric_that_is_not_defined_are_errors() -> None:
    data = small_graph(dense=True)
    data.x, data.scaling = data.x * 1e30, "raw"
    message = r"the loss is (nan|inf) after \d+ epochs; lower the learning rate"
    refuses(message, trained, data, small_config(lr=1e30, max_epochs=50))
    data = small_graph()
    data.val_mask &= data.y == 1
    message = "roc-auc is not defined on the validation nodes: they are all of"
    refuses(message, trained, data, small_config(metric="roc-auc"))


# Held-out predictions: what each fold gets is decided by the other folds alone.


def noise(labels: torch.Tensor, epochs: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(len(labels), 3, generator=generator) for _ in range(epochs)]


def test_every_class_is_dealt_out_evenly_and_fewer_nodes_than_folds_will_do() -> None:
    labels = np.repeat([0, 1, 2], [50, 23, 7])
    fold = folds_of(labels, seed=1)
    for label in range(3):
        share = np.bincount(fold[labels == label], minlength=5)
        assert share.max() - share.min() <= 1
    assert not np.array_equal(fold, folds_of(labels, seed=2))
    for nodes, metric in ((2, "roc-auc"), (1, "accuracy")):
        held = HeldOut(Classes(3), torch.arange(nodes), "gat", metric, seed=0)
        held.update(torch.eye(2)[:nodes])
        assert held.logits.shape == (nodes, 2)


def test_each_fold_gets_the_epoch_that_the_others_pick() -> None:
    labels = torch.arange(40) % 3
    epochs = noise(labels, 12)
    held = HeldOut(Classes(3), labels, "loss", "accuracy", seed=3)
    for logits in epochs:
        held.update(logits)
    for number in range(FOLDS):
        own, others = held.fold == number, held.fold != number
        losses = [torch.nn.functional.cross_entropy(logits[others], labels[others]) for logits in epochs]
        assert torch.equal(held.logits[own], epochs[int(np.argmin(losses))][own])


def test_a_folds_own_labels_decide_nothing_of_its_predictions() -> None:
    """The leak that this is there to prevent: with other labels in a fold, its predictions stay."""
    labels = torch.arange(60) % 3
    first = HeldOut(Classes(3), labels, "gat", "accuracy", seed=0)
    own = first.fold == 2
    second = HeldOut(Classes(3), labels, "gat", "accuracy", seed=0)  # the folds depend on the labels
    second._labels = torch.where(torch.as_tensor(own), (labels + 1) % 3, labels)
    for logits in noise(labels, 30):
        first.update(logits)
        second.update(logits)
    assert torch.equal(first.logits[own], second.logits[own])
    assert not torch.equal(first.logits[~own], second.logits[~own])


def test_on_pure_noise_held_out_accuracy_is_chance_and_the_best_epochs_is_not() -> None:
    labels = torch.arange(300) % 3
    held, kept = [], []
    for seed in range(30):
        one, epochs = HeldOut(Classes(3), labels, "accuracy", "accuracy", seed), noise(labels, 40, seed)
        for logits in epochs:
            one.update(logits)
        held.append(float((one.logits.argmax(1) == labels).float().mean()))
        kept.append(max(float((logits.argmax(1) == labels).float().mean()) for logits in epochs))
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    assert abs(np.mean(held) - 1 / 3) < 3 * error
    assert np.mean(kept) > 1 / 3 + 5 * error  # what early stopping alone makes of nothing


# What is told of every epoch.


def test_lines_after_a_checkpoint_are_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"epoch": 1}\n{"epoch": 2}\n{"epoch": 3}\n{"epo')  # killed while writing
    JSONLines(path, after_epoch=2)
    assert path.read_text() == '{"epoch": 1}\n{"epoch": 2}\n'
    refuses("2 lines, but the checkpoint beside it is of epoch 3", JSONLines, path, after_epoch=3)
    nothing = tmp_path / "nothing.jsonl"
    refuses("0 lines, but the checkpoint beside it is of epoch 2", JSONLines, nothing, after_epoch=2)


def test_checkpoints_and_progress(tmp_path: Path) -> None:
    path = tmp_path / "last.safetensors"
    trainer = new_trainer(small_graph(), small_config(max_epochs=3))
    rare, often = Checkpoints(path, every=3600.0), Checkpoints(tmp_path / "often", every=0.0)
    there: list[bool] = []
    fit(trainer, [rare, often, lambda _trainer, epoch: there.append(path.exists())])
    assert there == [False, False, True]  # too early, too early, the end
    tensors, state = load_tensors(path)
    assert (state["epoch"], state["stopped"]) == (3, True)
    assert same_tensors(tensors, load_tensors(tmp_path / "often")[0])
    told: list[float] = []
    train(small_graph(), small_config(max_epochs=5, patience=1000), tmp_path / "run", progress=told.append)
    assert told == [0.2, 0.4, 0.6, 0.8, 1.0]
    told.clear()
    impatient = small_config(max_epochs=10_000, patience=4, stopping="loss", lr=0.1)
    train(small_graph(), impatient, progress=told.append)
    assert told[-4:] == [0.25, 0.5, 0.75, 1.0]


def test_tensorboard(tmp_path: Path) -> None:
    if importlib.util.find_spec("tensorboard") is None:
        refuses("TensorBoard is not installed: pip install tensorboard", TensorBoard, tmp_path)
        return
    fit(new_trainer(small_graph(), small_config(max_epochs=2)), [TensorBoard(tmp_path)])
    assert [path for path in tmp_path.iterdir() if path.name.startswith("events")]
