"""The training loop."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import torch

from mcn.nn import MCN
from mcn.train.config import Config
from mcn.train.objective import objective
from mcn.train.problem import Problem
from mcn.train.stopping import stopping_rule


class Epoch(NamedTuple):
    """The scores of one epoch; accuracies between 0 and 1."""

    epoch: int
    train_loss: float
    train_accuracy: float
    val_loss: float
    val_accuracy: float
    kept: bool


class Callback(Protocol):
    """Told of every epoch."""

    def __call__(self, trainer: Trainer, epoch: Epoch) -> None: ...


@dataclass
class Trainer:
    """A training run as it stands: everything that decides how it goes on.

    `tensors` and `state` hold all of it, `load` goes on from them: a run that is stopped and resumed ends
    with the same weights, bit for bit, as one that was left alone.
    """

    model: MCN
    problem: Problem
    config: Config
    epoch: int = 0
    stopped: bool = False
    best_epoch: int = 0
    best: dict[str, torch.Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rule = stopping_rule(self.config.stopping, self.config.patience)
        self.objective = objective(self.model, self.problem, self.config)
        self.optimizer = _optimizer(self.model, list(self.objective.parameters()), self.config)
        self._val_labels = self.problem.val_labels

    def run_epoch(self) -> Epoch:
        """One training step and one look at the validation nodes."""
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        step = self.objective.step(self.model, self.epoch)
        step.loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        loss, accuracy = self._validate()
        verdict = self.rule.update(accuracy, loss)
        self.epoch += 1
        if verdict.keep or not self.best:
            self.best = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
            self.best_epoch = self.epoch
        self.stopped = verdict.stop or self.epoch >= self.config.max_epochs
        return Epoch(self.epoch, step.train_loss, step.train_accuracy, loss, accuracy, verdict.keep)

    @torch.no_grad()
    def _validate(self) -> tuple[float, float]:
        self.model.eval()
        logits = self.model(self.problem.x, self.problem.stack, self.problem.val)
        loss = torch.nn.functional.cross_entropy(logits, self._val_labels)
        return float(loss), float((logits.argmax(1) == self._val_labels).float().mean())

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors of the run: weights now and at their best, Adam's moments, the value head."""
        moments = self.optimizer.state_dict()["state"]
        return (
            {f"model.{name}": value for name, value in self.model.state_dict().items()}
            | {f"best.{name}": value for name, value in self.best.items()}
            | {f"adam.{i}.{name}": value for i, slot in moments.items() for name, value in slot.items()}
            | {f"objective.{name}": value for name, value in self.objective.tensors().items()}
        )

    def state(self) -> dict[str, Any]:
        """All plain values of the run."""
        return {
            "epoch": self.epoch,
            "stopped": self.stopped,
            "best_epoch": self.best_epoch,
            "rng": self.model.rng.state_dict(),
            "rule": self.rule.state_dict(),
            "objective": self.objective.state_dict(),
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        self.model.load_state_dict(_below("model.", tensors))
        self.best = {name: value.clone() for name, value in _below("best.", tensors).items()}
        self.objective.load(_below("objective.", tensors), state["objective"])
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in _below("adam.", tensors).items():
            index, _, slot = name.partition(".")
            moments.setdefault(int(index), {})[slot] = value.clone()
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": moments})
        self.rule.load_state_dict(state["rule"])
        self.model.rng.load_state_dict(state["rng"])
        self.epoch, self.stopped = int(state["epoch"]), bool(state["stopped"])
        self.best_epoch = int(state["best_epoch"])


@dataclass(frozen=True)
class FitResult:
    """How a run went."""

    epochs: int
    best_epoch: int
    val_accuracy: float
    val_loss: float
    seconds: float


def build_model(problem: Problem, config: Config) -> MCN:
    """A fresh network for a problem; its weights are decided by `config.seed` alone."""
    return make_network(problem.x.shape[1], problem.num_classes, config)


def make_network(in_channels: int, num_classes: int, config: Config) -> MCN:
    """The network that a configuration asks for. A GCN drops out its inputs only, as in its reference."""
    inner = config.dropout if config.self_attention else 0.0
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return MCN(
            in_channels,
            config.hidden,
            num_classes,
            config.num_layers,
            motifs=len(config.motifs),
            steps=config.steps,
            heads=config.heads,
            output_heads=config.output_heads,
            input_dropout=config.dropout,
            coefficient_dropout=inner,
            feature_dropout=inner,
            self_attention=config.self_attention,
            motif_attention=config.motif_attention,
            prior=config.prior,
            epsilon=config.epsilon,
            policy_grad=config.policy_grad,
            init_bias=config.init_bias,
            seed=config.seed,
        )


def fit(trainer: Trainer, callbacks: Sequence[Callback] = ()) -> FitResult:
    """Train until the stopping rule says so; the model then has the weights that were kept."""
    began = time.perf_counter()
    with one_torch_thread():
        while not trainer.stopped:
            epoch = trainer.run_epoch()
            for callback in callbacks:
                callback(trainer, epoch)
        trainer.model.load_state_dict(trainer.best)
        loss, accuracy = trainer._validate()
    return FitResult(trainer.epoch, trainer.best_epoch, accuracy, loss, time.perf_counter() - began)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch's own reductions in one order whatever the machine; our kernels thread by themselves."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _optimizer(model: MCN, extra: list[torch.nn.Parameter], config: Config) -> torch.optim.Optimizer:
    """Adam with L2; the selectors (and the value head) may have a learning rate and L2 of their own."""
    selector = [p for name, p in model.named_parameters() if ".selector." in name] + extra
    network = [p for name, p in model.named_parameters() if ".selector." not in name]
    groups: list[dict[str, Any]] = [{"params": network}]
    if selector:
        lr = config.lr if config.policy_lr is None else config.policy_lr
        decay = config.weight_decay if config.policy_decay is None else config.policy_decay
        groups.append({"params": selector, "lr": lr, "weight_decay": decay})
    return torch.optim.Adam(groups, lr=config.lr, weight_decay=config.weight_decay, fused=True)


def _below(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}
