"""The training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import torch

from mcn._threads import kernel_threads
from mcn.nn import MCN
from mcn.train.config import Config
from mcn.train.objective import Objective
from mcn.train.problem import Problem
from mcn.train.stopping import stopping_rule

_MEMORY = 0.9  # of the gate: about ten epochs


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

    def __call__(self, trainer: Trainer, epoch: Epoch) -> None:
        """Take the scores of the epoch that has just ended."""
        ...


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
    lead: float = 0.0
    best: dict[str, torch.Tensor] = field(default_factory=dict)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.rule = stopping_rule(self.config.stopping, self.config.patience)
        self.objective = Objective(self.model, self.problem, self.config)
        self.optimizer = _optimizer(self.model, list(self.objective.parameters()), self.config)
        self._val_labels = self.problem.val_labels

    def run_epoch(self) -> Epoch:
        """One training step and one look at the validation nodes.

        Raises:
            ValueError: the loss is no longer a number.
        """
        began = time.perf_counter()
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        step = self.objective.step(self.model, self.epoch, self.plain)
        if not math.isfinite(step.train_loss):
            raise ValueError(
                f"the loss is {step.train_loss} after {self.epoch} epochs; lower the learning rate "
                f"(lr = {self.config.lr}) or look for extreme values among the features"
            )
        step.loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        loss, accuracy = self._validate()
        verdict = self.rule.update(accuracy, loss)
        self.epoch += 1
        if verdict.keep or not self.best:
            self.best = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
            self.best_epoch = self.epoch
            if self.plain:
                prefer_first(self.best)
        self.stopped = verdict.stop or self.epoch >= self.config.max_epochs
        self.seconds += time.perf_counter() - began
        return Epoch(self.epoch, step.train_loss, step.train_accuracy, loss, accuracy, verdict.keep)

    @property
    def plain(self) -> bool:
        """Whether the gate is closed: every node listens to the first motif with one step, save for ε."""
        return bool(self.config.gate) and self.config.chooses and self.lead <= 0

    @torch.no_grad()
    def _validate(self) -> tuple[float, float]:
        """Loss and accuracy on the validation nodes.

        With `config.gate` the network is tried with the learned choices and without any; the running mean
        of the difference decides which of the two is trained, validated and kept from here on.
        """
        self.model.eval()
        learned = self._scores(None)
        if not (self.config.gate and self.config.chooses):
            return learned
        without = self._scores(0)
        self.lead = _MEMORY * self.lead + (1 - _MEMORY) * (learned[1] - without[1])
        return without if self.plain else learned

    def _scores(self, choice: int | None) -> tuple[float, float]:
        logits = self.model(self.problem.x, self.problem.stack, self.problem.val, choice=choice)
        loss = torch.nn.functional.cross_entropy(logits, self._val_labels)
        right = int((logits.argmax(1) == self._val_labels).sum())
        return float(loss), right / len(self._val_labels)

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
            "lead": self.lead,
            "seconds": self.seconds,
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
        self.best_epoch, self.lead = int(state["best_epoch"]), float(state["lead"])
        self.seconds = float(state["seconds"])


def prefer_first(weights: dict[str, torch.Tensor]) -> None:
    """Make selectors, in place, that choose the first motif and one step for every node."""
    for name, value in weights.items():
        if ".selector." in name:
            value.zero_()
            if name.endswith("bias"):
                value[0] = 1.0


@dataclass(frozen=True)
class FitResult:
    """How a run went; `seconds` is the time its epochs took, those before a resume included."""

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
    with one_torch_thread():
        while not trainer.stopped:
            epoch = trainer.run_epoch()
            for callback in callbacks:
                callback(trainer, epoch)
        trainer.model.load_state_dict(trainer.best)
        trainer.model.eval()
        with torch.no_grad():
            loss, accuracy = trainer._scores(None)
    return FitResult(trainer.epoch, trainer.best_epoch, accuracy, loss, trainer.seconds)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch's own reductions in one order whatever the machine; our kernels keep its threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with kernel_threads(threads):
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
