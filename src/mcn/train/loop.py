"""The training loop: one for every network, and for the selection among several."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray

from mcn.nn._parallel import one_torch_thread
from mcn.train.held_out import HeldOut
from mcn.train.problem import Problem
from mcn.train.processes import torch_device
from mcn.train.settings import Settings
from mcn.train.stopping import StoppingRule


class Epoch(NamedTuple):
    """The scores of one epoch; accuracies between 0 and 1, None where no class is predicted.

    candidate, run: in a model selection, the candidate that was trained, and which of its runs it was.
    """

    epoch: int
    train_loss: float
    train_accuracy: float | None
    val_loss: float
    val_accuracy: float | None
    kept: bool
    val_score: float
    candidate: str | None = None
    run: int | None = None


class Scores(NamedTuple):
    """How good a network is on the validation nodes; `accuracy` is None where no class is predicted.

    score: the metric that training stops by, as a number of which more is better.
    """

    loss: float
    accuracy: float | None
    score: float


@dataclass(frozen=True)
class FitResult:
    """How a run went; `seconds` is the time its epochs took, those before a resume included."""

    epochs: int
    best_epoch: int
    val_accuracy: float | None
    val_loss: float
    val_score: float
    seconds: float


class Training(ABC):
    """A training run as it stands: of one network, or of several to select among.

    `tensors` and `state` hold all of it, `load` goes on from them: a run that is stopped and resumed ends
    with the same weights, bit for bit, as one that was left alone.
    """

    model: Any
    problem: Problem
    config: Any
    epoch: int
    stopped: bool
    seconds: float

    @property
    @abstractmethod
    def progress(self) -> float:
        """How far the run is, from 0 to 1."""

    @abstractmethod
    def run_epoch(self) -> Epoch:
        """Train for an epoch, then look at the validation nodes once."""

    @abstractmethod
    def finish(self) -> FitResult:
        """Give the model the weights that were kept, and score them."""

    @abstractmethod
    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors of the run."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All plain values of the run."""

    @abstractmethod
    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""

    def notes(self) -> dict[str, Any]:
        """Return plain values that a recipe adds to the summary of a run."""
        return {}

    def remarks(self) -> list[str]:
        """Return sentences that a recipe adds to the remarks on a run."""
        return []

    def held_out_probabilities(self) -> tuple[NDArray[Any], int] | None:
        """Return what is said of validation nodes that chose no epoch, and how many networks were tried."""
        return None

    @property
    def learned_from_validation(self) -> bool:
        """Whether a network that predicts was trained on validation nodes, so that they cannot judge it."""
        return False


@dataclass
class Trainer(Training):
    """The training of one network; each kind of network has its own subclass."""

    model: Any
    problem: Problem
    config: Settings
    epoch: int = 0
    stopped: bool = False
    best_epoch: int = 0
    best: dict[str, torch.Tensor] = field(default_factory=dict)
    seconds: float = 0.0
    held_out: HeldOut | None = None

    def __post_init__(self) -> None:
        self.config = self.config.settled(self.problem)
        self.rule = StoppingRule(self.config.stopping, self.config.patience)
        self.device = torch_device(self.config.device)
        self.model.to(self.device)
        self.optimizer: Any = self._make_optimizer()
        self._val_labels: torch.Tensor = self.problem.val_labels
        self._val_logits = torch.empty(0)

    def run_epoch(self) -> Epoch:
        """Train for an epoch, then look at the validation nodes once.

        Raises:
            ValueError: the loss is no longer a number.
        """
        began = time.perf_counter()
        self.model.train()
        train_loss, train_right = self._learn()
        self.model.eval()
        scores = self._validate()
        verdict = self.rule.update(scores.score, scores.loss)
        if self.held_out is not None:
            self.held_out.update(self._val_logits)
        self.epoch += 1
        if verdict.keep or not self.best:
            self.best, self.best_epoch = self._snapshot(), self.epoch
        self.stopped = verdict.stop or self.epoch >= self.config.max_epochs
        self.seconds += time.perf_counter() - began
        right = None if scores.accuracy is None else train_right
        return Epoch(self.epoch, train_loss, right, *scores[:2], verdict.keep, scores.score)

    def _make_optimizer(self) -> torch.optim.Optimizer | None:
        """Adam with L2 over the parameters of the model; None where it has none."""
        c, fused = self.config, self.device.type in ("cpu", "cuda")
        return torch.optim.Adam(self.model.parameters(), lr=c.lr, weight_decay=c.weight_decay, fused=fused)

    @abstractmethod
    def _learn(self) -> tuple[float, float]:
        """Change the weights; the loss on training nodes, and how right the network is about them."""

    @abstractmethod
    def _validate(self) -> Scores:
        """Score the weights that were trained so far on the validation nodes."""

    @abstractmethod
    def final_scores(self) -> Scores:
        """Score the weights that the model has now on the validation nodes."""

    def _snapshot(self) -> dict[str, torch.Tensor]:
        """A copy of the weights that were validated."""
        return {name: value.detach().clone() for name, value in self.model.state_dict().items()}

    def _check(self, loss: float) -> None:
        if not math.isfinite(loss):
            raise ValueError(
                f"the loss is {loss} after {self.epoch} epochs; lower the learning rate "
                f"(lr = {self.config.lr}) or look for extreme values among the features"
            )

    def hold_out(self, seed: int) -> HeldOut:
        """Also collect held-out predictions of the validation nodes, in folds that `seed` decides."""
        task, c = self.problem.task, self.config
        self.held_out = HeldOut(task, self._val_labels, c.stopping, c.metric, seed)
        return self.held_out

    def _judge(self, logits: torch.Tensor) -> Scores:
        self._val_logits = logits = logits.cpu()
        task, metric = self.problem.task, self.config.metric
        loss = float(task.loss(logits, self._val_labels))
        outputs, targets = task.outputs_of(logits).numpy(), self._val_labels.numpy()
        accuracy = task.accuracy(outputs, targets)
        if metric == "accuracy" and accuracy is not None:
            return Scores(loss, accuracy, accuracy)
        found = task.merit(metric, outputs, targets)
        if found is None:
            raise ValueError(
                f"{metric} is not defined on the validation nodes: they are all of one class, or have one "
                "number; choose another metric, or another split"
            )
        return Scores(loss, accuracy, found)

    @property
    def progress(self) -> float:
        """How far the run is, from 0 to 1: epochs waited in vain against the patience, for want of an end."""
        if self.stopped:
            return 1.0
        waited = float(self.rule.state_dict()["waited"]) / self.config.patience
        return max(self.epoch / self.config.max_epochs, min(0.99, waited))

    def held_out_probabilities(self) -> tuple[NDArray[Any], int] | None:
        """Return what each validation node gets by the epoch that the other folds picked; see `hold_out`."""
        return None if self.held_out is None else (self.held_out.outputs, 1)

    def finish(self) -> FitResult:
        """Give the model the weights that were kept, and score them."""
        self.model.load_state_dict(self.best)
        self.model.eval()
        with torch.no_grad():
            found = self.final_scores()
        self.model.to("cpu")
        return FitResult(self.epoch, self.best_epoch, found.accuracy, found.loss, found.score, self.seconds)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors of the run: weights now and at their best, and Adam's moments."""
        moments = {} if self.optimizer is None else self.optimizer.state_dict()["state"]
        held_out = {} if self.held_out is None else {"held_out": self.held_out.logits}
        return (
            held_out
            | {f"model.{name}": value for name, value in self.model.state_dict().items()}
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
            **({} if self.held_out is None else {"held_out": self.held_out.state()}),
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        self.model.load_state_dict(below("model.", tensors))
        self.best = {name: value.clone() for name, value in below("best.", tensors).items()}
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in below("adam.", tensors).items():
            index, _, slot = name.partition(".")
            moments.setdefault(int(index), {})[slot] = value.clone()
        nothing_kept = not self.best and state["rule"] == self.rule.state_dict()  # before the first epoch
        if not nothing_kept and shapes(self.model.state_dict()) != shapes(self.best):
            raise ValueError("the weights kept so far are not those of this network")
        self._check_moments(moments)
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": moments})
        self.rule.load_state_dict(state["rule"])
        if self.held_out is not None:
            self.held_out.load(tensors["held_out"], state["held_out"])
        self.epoch, self.stopped = int(state["epoch"]), bool(state["stopped"])
        self.best_epoch, self.seconds = int(state["best_epoch"]), float(state["seconds"])

    def _check_moments(self, moments: dict[int, dict[str, torch.Tensor]]) -> None:
        parameters = [each for group in self.optimizer.param_groups for each in group["params"]]
        for place, slots in moments.items():
            mine = parameters[place] if place in range(len(parameters)) else torch.empty(0)
            like = (mine.shape, mine.dtype)
            wanted = {"step": (torch.Size(), torch.float32), "exp_avg": like, "exp_avg_sq": like}
            if wanted != shapes(slots):
                raise ValueError(f"the moments of parameter {place} are not those of this network")


Callback = Callable[[Training, Epoch], object]
"""Something that is told of every epoch: the run, and the scores of the epoch that has just ended."""


def fit(trainer: Training, callbacks: Sequence[Callback] = ()) -> FitResult:
    """Train until the stopping rule says so; the model then has the weights that were kept."""
    with one_torch_thread():
        while not trainer.stopped:
            epoch = trainer.run_epoch()
            for callback in callbacks:
                callback(trainer, epoch)
        return trainer.finish()


def below(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors whose names begin with `prefix`, by the rest of their names."""
    return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}


def shapes(tensors: Mapping[str, torch.Tensor]) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """Return shape and type of every tensor, by name."""
    return {name: (value.shape, value.dtype) for name, value in tensors.items()}
