"""When to stop, and which epoch's weights to keep: small rules over the validation scores."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

RULES = ("gat", "gat-accuracy", "accuracy", "loss")


class Verdict(NamedTuple):
    """What a rule says after an epoch."""

    keep: bool  # these weights are the best so far
    stop: bool


@dataclass
class StoppingRule:
    """Takes the validation scores of every epoch; says whether to keep the weights and whether to stop.

    name: "gat", GAT's reference: wait while neither score is at its best so far; keep the last epoch with
        both. "gat-accuracy", its reference on Citeseer: accuracy only, keep the last of equally accurate
        epochs, ties count. "accuracy": of equally accurate epochs the one with the least loss. "loss".
    """

    name: str
    patience: int
    best_accuracy: float = -inf
    best_loss: float = inf
    waited: int = 0

    def update(self, accuracy: float, loss: float) -> Verdict:
        """Take the scores of one epoch."""
        as_accurate, as_sure = accuracy >= self.best_accuracy, loss <= self.best_loss
        more_accurate, surer = accuracy > self.best_accuracy, loss < self.best_loss
        keep, progress = {
            "gat": (as_accurate and as_sure, as_accurate or as_sure),
            "gat-accuracy": (as_accurate, as_accurate),
            "accuracy": (more_accurate or (as_accurate and surer), more_accurate),
            "loss": (surer, surer),
        }[self.name]
        if self.name == "gat":  # each score has a best of its own
            self.best_accuracy, self.best_loss = max(accuracy, self.best_accuracy), min(loss, self.best_loss)
        elif keep:
            self.best_accuracy, self.best_loss = accuracy, loss
        self.waited = 0 if progress else self.waited + 1
        return Verdict(keep, self.waited >= self.patience)

    def state_dict(self) -> dict[str, Any]:
        """Plain values to go on from."""
        return {"best_accuracy": self.best_accuracy, "best_loss": self.best_loss, "waited": self.waited}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from saved values."""
        self.best_accuracy, self.best_loss = float(state["best_accuracy"]), float(state["best_loss"])
        self.waited = int(state["waited"])
