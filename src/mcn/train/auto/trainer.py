"""Training several candidates in turn under one budget of time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from mcn.train.auto.config import AutoConfig
from mcn.train.loop import Epoch, FitResult, Scores, Trainer, below
from mcn.train.problem import Problem
from mcn.train.recipes import work_of
from mcn.train.settings import Settings


class Winner(torch.nn.Module):
    """The network that was kept, and its configuration."""

    def __init__(self, network: torch.nn.Module, config: Settings) -> None:
        super().__init__()
        self.network, self.config = network, config


@dataclass
class AutoTrainer(Trainer):
    """Candidates are trained one after the other, first each once, then with further seeds.

    In the first round a candidate has its share of the time that is left, so that none keeps the others from
    being tried; later a run is begun only if, by what the runs before it took, it ends within the budget. A
    run that is still going when its time is over ends there with the best weights it had.

    The winner is the candidate with the best mean validation score over the seeds that it shares with all
    others; of equals the earlier, cheaper one. Kept is its run with the best validation score.
    """

    config: AutoConfig
    runs: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._kept: dict[str, dict[str, torch.Tensor]] = {}
        self._queue = [(name, i) for i in range(self.config.repeats) for name in self.config.candidates]
        self._current: Trainer | None = None
        self._begin()

    @property
    def progress(self) -> float:
        """How much of the work, or of the time, is done."""
        done = len(self.runs) / (len(self.runs) + len(self._queue) + 1)
        return 1.0 if self.stopped else min(0.99, max(done, self.seconds / (60 * self.config.minutes)))

    def _begin(self) -> None:
        """Start the next run that the time allows, or stop."""
        while self._queue:
            self._name, self._repeat = self._queue.pop(0)
            before = [run["seconds"] for run in self.runs if run["candidate"] == self._name]
            expected = float(np.mean(before)) if before else 0.0
            left = 60 * self.config.minutes - self.seconds
            untried = sum(repeat == 0 for _, repeat in self._queue) + 1
            self._until = self.seconds + (left / untried if self._repeat == 0 else left)
            if left > 0 and expected <= left:
                self._current = self._candidate()
                return
        self._current, self.stopped = None, True

    def _candidate(self) -> Trainer:
        """Make a fresh training run of the candidate whose turn it is."""
        own = self.config.candidate(self._name, self._repeat)
        return work_of(own).trainer(Problem(self.problem.inputs.of(own), self.problem.known), own)

    def run_epoch(self) -> Epoch:
        """Train the current candidate for an epoch; take up the next one when it is done."""
        current = self._current
        assert current is not None
        before = current.seconds
        found = current.run_epoch()
        self.epoch += 1
        self.seconds += current.seconds - before
        if current.stopped or self.seconds >= self._until:
            self._end(current)
        return found._replace(epoch=self.epoch)

    def _end(self, current: Trainer) -> None:
        result = current.finish()
        others = [run["score"] for run in self.runs if run["candidate"] == self._name]
        self.runs.append(
            {
                "candidate": self._name,
                "seed": current.config.seed,
                "score": result.val_score,
                "accuracy": result.val_accuracy,
                "loss": result.val_loss,
                "epochs": result.epochs,
                "best_epoch": result.best_epoch,
                "seconds": result.seconds,
                "cut": not current.stopped,
            }
        )
        if not others or result.val_score > max(others):
            self._kept[self._name] = {k: v.detach().clone() for k, v in current.model.state_dict().items()}
        self._begin()

    def finish(self) -> FitResult:
        """Take the winner."""
        name = self.table()[0]["candidate"]
        best = max(
            (run for run in self.runs if run["candidate"] == name), key=lambda run: float(run["score"])
        )
        own = self.config.candidate(name, int(best["seed"]) - self.config.seed * 1000)
        inputs = self.problem.inputs.of(own)
        network = work_of(own).network(inputs.in_channels, self.problem.num_classes, own)
        network.load_state_dict(self._kept[name])
        network.eval()
        self.model = Winner(network, own)
        self.problem.inputs.winner = own
        self.best_epoch = best["best_epoch"]
        return FitResult(
            self.epoch, best["best_epoch"], best["accuracy"], best["loss"], best["score"], self.seconds
        )

    def table(self) -> list[dict[str, Any]]:
        """Return the candidates, the winner first: mean score, and the paired difference to the winner."""
        by_name: dict[str, list[float]] = {}
        for run in self.runs:
            by_name.setdefault(run["candidate"], []).append(float(run["score"]))
        shared = min(len(scores) for scores in by_name.values())
        means = {name: float(np.mean(scores[:shared])) for name, scores in by_name.items()}
        order = sorted(means, key=lambda name: (-means[name], self.config.candidates.index(name)))
        rows = []
        for name in order:
            gaps = np.subtract(by_name[order[0]][:shared], by_name[name][:shared])
            error = float(gaps.std(ddof=1) / math.sqrt(shared)) if shared > 1 and name != order[0] else None
            seconds = [run["seconds"] for run in self.runs if run["candidate"] == name]
            rows.append(
                {
                    "candidate": name,
                    "runs": len(by_name[name]),
                    "score": means[name],
                    "behind": float(gaps.mean()),
                    "behind_error": error,
                    "seconds_per_run": float(np.mean(seconds)),
                }
            )
        return rows

    def notes(self) -> dict[str, Any]:
        """Return the table and all runs of the candidates."""
        return {"candidates": self.table(), "candidate_runs": self.runs}

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors: what is kept of each candidate, and the run under way."""
        kept = {f"kept.{name}.{k}": v for name, own in self._kept.items() for k, v in own.items()}
        current = {} if self._current is None else self._current.tensors()
        return kept | {f"current.{name}": value for name, value in current.items()}

    def state(self) -> dict[str, Any]:
        """All plain values."""
        return {
            "epoch": self.epoch,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "runs": self.runs,
            "queue": self._queue,
            "now": [self._name, self._repeat, self._until],
            "current": None if self._current is None else self._current.state(),
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        self.epoch, self.stopped, self.seconds = state["epoch"], state["stopped"], state["seconds"]
        self.runs = state["runs"]
        self._kept = {}
        for name, value in below("kept.", tensors).items():
            candidate, _, rest = name.partition(".")
            self._kept.setdefault(candidate, {})[rest] = value.clone()
        self._queue = [(name, repeat) for name, repeat in state["queue"]]
        self._name, self._repeat, self._until = state["now"]
        self._current = None
        if state["current"] is not None:
            self._current = self._candidate()
            self._current.load(below("current.", tensors), state["current"])

    def _make_optimizer(self) -> torch.optim.Optimizer:
        raise AssertionError("each candidate has its own")

    def _learn(self) -> tuple[float, float]:
        raise AssertionError("each candidate learns by itself")

    def _validate(self) -> Scores:
        raise AssertionError("each candidate is validated by itself")

    def final_scores(self) -> Scores:
        """Score the winner."""
        raise AssertionError("`finish` knows the winner's scores")
