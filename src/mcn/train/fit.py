"""The training loop."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
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

    def __call__(self, trainer: BaseTrainer, epoch: Epoch) -> None:
        """Take the scores of the epoch that has just ended."""
        ...


@dataclass
class BaseTrainer(ABC):
    """A training run as it stands: everything that decides how it goes on.

    `tensors` and `state` hold all of it, `load` goes on from them: a run that is stopped and resumed ends
    with the same weights, bit for bit, as one that was left alone.
    """

    model: Any
    problem: Any
    config: Any
    epoch: int = 0
    stopped: bool = False
    best_epoch: int = 0
    best: dict[str, torch.Tensor] = field(default_factory=dict)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.rule = stopping_rule(self.config.stopping, self.config.patience)
        self.optimizer = self._make_optimizer()
        self._val_labels: torch.Tensor = self.problem.val_labels

    def run_epoch(self) -> Epoch:
        """Train for an epoch, then look at the validation nodes once.

        Raises:
            ValueError: the loss is no longer a number.
        """
        began = time.perf_counter()
        self.model.train()
        train_loss, train_accuracy = self._learn()
        self.model.eval()
        loss, accuracy = self._validate()
        verdict = self.rule.update(accuracy, loss)
        self.epoch += 1
        if verdict.keep or not self.best:
            self.best, self.best_epoch = self._snapshot(), self.epoch
        self.stopped = verdict.stop or self.epoch >= self.config.max_epochs
        self.seconds += time.perf_counter() - began
        return Epoch(self.epoch, train_loss, train_accuracy, loss, accuracy, verdict.keep)

    @abstractmethod
    def _make_optimizer(self) -> torch.optim.Optimizer:
        """Adam over the parameters of the model."""

    @abstractmethod
    def _learn(self) -> tuple[float, float]:
        """Change the weights; the loss and accuracy on training nodes."""

    @abstractmethod
    def _validate(self) -> tuple[float, float]:
        """Loss and accuracy on the validation nodes."""

    @abstractmethod
    def final_scores(self) -> tuple[float, float]:
        """Loss and accuracy on the validation nodes of the weights the model has now."""

    def _snapshot(self) -> dict[str, torch.Tensor]:
        """A copy of the weights that were validated."""
        return {name: value.detach().clone() for name, value in self.model.state_dict().items()}

    def _check(self, loss: float) -> None:
        if not math.isfinite(loss):
            raise ValueError(
                f"the loss is {loss} after {self.epoch} epochs; lower the learning rate "
                f"(lr = {self.config.lr}) or look for extreme values among the features"
            )

    def _judge(self, logits: torch.Tensor) -> tuple[float, float]:
        loss = torch.nn.functional.cross_entropy(logits, self._val_labels)
        right = int((logits.argmax(1) == self._val_labels).sum())
        return float(loss), right / len(self._val_labels)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors of the run: weights now and at their best, and Adam's moments."""
        moments = self.optimizer.state_dict()["state"]
        return (
            {f"model.{name}": value for name, value in self.model.state_dict().items()}
            | {f"best.{name}": value for name, value in self.best.items()}
            | {f"adam.{i}.{name}": value for i, slot in moments.items() for name, value in slot.items()}
        )

    def state(self) -> dict[str, Any]:
        """All plain values of the run."""
        return {
            "epoch": self.epoch,
            "stopped": self.stopped,
            "best_epoch": self.best_epoch,
            "seconds": self.seconds,
            "rule": self.rule.state_dict(),
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        self.model.load_state_dict(below("model.", tensors))
        self.best = {name: value.clone() for name, value in below("best.", tensors).items()}
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in below("adam.", tensors).items():
            index, _, slot = name.partition(".")
            moments.setdefault(int(index), {})[slot] = value.clone()
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": moments})
        self.rule.load_state_dict(state["rule"])
        self.epoch, self.stopped = int(state["epoch"]), bool(state["stopped"])
        self.best_epoch, self.seconds = int(state["best_epoch"]), float(state["seconds"])


@dataclass
class Trainer(BaseTrainer):
    """Training of an `mcn.MCN`: one epoch is one step over all training nodes (eq:loss)."""

    model: MCN
    problem: Problem
    config: Config
    lead: float = 0.0

    def __post_init__(self) -> None:
        self.objective = Objective(self.model, self.problem, self.config)
        super().__post_init__()

    def _make_optimizer(self) -> torch.optim.Optimizer:
        return _optimizer(self.model, list(self.objective.parameters()), self.config)

    def _learn(self) -> tuple[float, float]:
        self.optimizer.zero_grad(set_to_none=True)
        step = self.objective.step(self.model, self.epoch, self.plain)
        self._check(step.train_loss)
        step.loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return step.train_loss, step.train_accuracy

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
        learned = self._scores(None)
        if not (self.config.gate and self.config.chooses):
            return learned
        without = self._scores(0)
        self.lead = _MEMORY * self.lead + (1 - _MEMORY) * (learned[1] - without[1])
        return without if self.plain else learned

    def _scores(self, choice: int | None) -> tuple[float, float]:
        return self._judge(self.model(self.problem.x, self.problem.stack, self.problem.val, choice=choice))

    def final_scores(self) -> tuple[float, float]:
        """Loss and accuracy on the validation nodes of the weights the model has now."""
        return self._scores(None)

    def _snapshot(self) -> dict[str, torch.Tensor]:
        weights = super()._snapshot()
        if self.plain:
            prefer_first(weights)
        return weights

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors of the run, the value head's among them."""
        own = {f"objective.{name}": value for name, value in self.objective.tensors().items()}
        return super().tensors() | own

    def state(self) -> dict[str, Any]:
        """All plain values of the run."""
        return super().state() | {
            "lead": self.lead,
            "rng": self.model.rng.state_dict(),
            "objective": self.objective.state_dict(),
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        super().load(tensors, state)
        self.objective.load(below("objective.", tensors), state["objective"])
        self.model.rng.load_state_dict(state["rng"])
        self.lead = float(state["lead"])


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
    model = make_network(problem.x.shape[1], problem.num_classes, config)
    if config.priors == "validation":
        model.offset.copy_(prior_shift(problem.train_labels, problem.val_labels, problem.num_classes))
    return model


def prior_shift(train_labels: torch.Tensor, val_labels: torch.Tensor, num_classes: int) -> torch.Tensor:
    """log(prior among validation nodes / prior among training nodes) per class, each count plus one."""
    train, val = (
        torch.bincount(labels, minlength=num_classes).to(torch.float64) + 1
        for labels in (train_labels, val_labels)
    )
    return torch.log((val / val.sum()) / (train / train.sum())).to(torch.float32)


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


def fit(trainer: BaseTrainer, callbacks: Sequence[Callback] = ()) -> FitResult:
    """Train until the stopping rule says so; the model then has the weights that were kept."""
    with one_torch_thread():
        while not trainer.stopped:
            epoch = trainer.run_epoch()
            for callback in callbacks:
                callback(trainer, epoch)
        trainer.model.load_state_dict(trainer.best)
        trainer.model.eval()
        with torch.no_grad():
            loss, accuracy = trainer.final_scores()
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


def below(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors whose names begin with `prefix`, by the rest of their names."""
    return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}
