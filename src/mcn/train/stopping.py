"""When to stop, and which epoch's weights to keep: small rules over the validation scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple


class Verdict(NamedTuple):
    """What a rule says after an epoch."""

    keep: bool  # these weights are the best so far
    stop: bool


@dataclass
class StoppingRule(ABC):
    """Takes the validation scores of every epoch; says whether to keep the weights and whether to stop."""

    patience: int = 100
    best_accuracy: float = -inf
    best_loss: float = inf
    waited: int = field(default=0)

    def update(self, accuracy: float, loss: float) -> Verdict:
        """Take the scores of one epoch."""
        keep, better = self._compare(accuracy, loss)
        self.waited = 0 if better else self.waited + 1
        return Verdict(keep, self.waited >= self.patience)

    @abstractmethod
    def _compare(self, accuracy: float, loss: float) -> tuple[bool, bool]:
        """Return whether to keep the weights of this epoch, and whether it counts as progress."""

    def state_dict(self) -> dict[str, Any]:
        """Plain values to go on from."""
        return {"best_accuracy": self.best_accuracy, "best_loss": self.best_loss, "waited": self.waited}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from saved values."""
        self.best_accuracy, self.best_loss = float(state["best_accuracy"]), float(state["best_loss"])
        self.waited = int(state["waited"])


class GATRule(StoppingRule):
    """GAT's reference: wait while neither score is at its best so far; keep the last epoch with both."""

    def _compare(self, accuracy: float, loss: float) -> tuple[bool, bool]:
        accurate, sure = accuracy >= self.best_accuracy, loss <= self.best_loss
        self.best_accuracy, self.best_loss = max(accuracy, self.best_accuracy), min(loss, self.best_loss)
        return accurate and sure, accurate or sure


class AccuracyRule(StoppingRule):
    """Accuracy only; among equally accurate epochs the one with the least loss."""

    def _compare(self, accuracy: float, loss: float) -> tuple[bool, bool]:
        better = accuracy > self.best_accuracy
        keep = better or (accuracy == self.best_accuracy and loss < self.best_loss)
        if keep:
            self.best_accuracy, self.best_loss = accuracy, loss
        return keep, better


class GATAccuracyRule(StoppingRule):
    """GAT's reference on Citeseer: accuracy only, keep the last of equally accurate epochs, ties count."""

    def _compare(self, accuracy: float, loss: float) -> tuple[bool, bool]:
        keep = accuracy >= self.best_accuracy
        if keep:
            self.best_accuracy, self.best_loss = accuracy, loss
        return keep, keep


class LossRule(StoppingRule):
    """Loss only."""

    def _compare(self, accuracy: float, loss: float) -> tuple[bool, bool]:
        better = loss < self.best_loss
        if better:
            self.best_accuracy, self.best_loss = accuracy, loss
        return better, better


RULES: dict[str, type[StoppingRule]] = {
    "gat": GATRule,
    "gat-accuracy": GATAccuracyRule,
    "accuracy": AccuracyRule,
    "loss": LossRule,
}


def stopping_rule(name: str, patience: int) -> StoppingRule:
    """The rule of this name: one of `RULES`."""
    return RULES[name](patience)
