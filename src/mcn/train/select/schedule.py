"""Which runs a candidate has, runs that train side by side, and how candidates stand after some of them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from mcn.nn._parallel import kernel_threads, num_kernel_threads
from mcn.train.held_out import FOLDS
from mcn.train.loop import Epoch, Trainer
from mcn.train.problem import Known
from mcn.train.select.choose import CAUTION

DEALS, ENOUGH = 4, 2000
"""How often training and validation nodes are dealt out anew at most; and how many validation nodes in all
tell candidates apart well enough (by two points, if one is right on half of them)."""

_SLICE = 1.0  # seconds that several cores train on between two looks at what they did
Planned = tuple[str, int, float]
"""A run to begin: the candidate, the number of the run, and its share of the work."""


class Rounds(NamedTuple):
    """The runs of a candidate by number: one on the given parts, then some on others, then the rest.

    With few validation nodes the best of several candidates is partly the luckiest. Where chance alone
    decided which nodes are for training and which for validation, a candidate can be judged by other nodes
    too. Where somebody decided (by time, by group), parts stay as they are.

    repeats: runs on the given parts. deals: runs on parts of the same sizes that are dealt out anew; their
    networks are not kept, so that none that predicts has learned from a validation node. passes: how often
    the labelled nodes are cut into folds instead, with a run for each fold, which trains on the other folds;
    these networks are kept, so that all labelled nodes teach those that predict.
    """

    repeats: int
    deals: int = 0
    passes: int = 0

    @classmethod
    def of(cls, known: Known, repeats: int, cross_fit: bool) -> Rounds:
        """Return the runs for a split: on the given parts alone where one run will do, or nodes are many."""
        if not known.at_random or repeats == 1:
            return cls(repeats)
        if cross_fit and known.has_folds:
            return cls(1, passes=repeats - 1)
        return cls(repeats, min(DEALS, -(-ENOUGH // max(1, len(known.val))) - 1))

    @property
    def total(self) -> int:
        """Number of runs."""
        return self.repeats + self.deals + FOLDS * self.passes

    def elsewhere(self, number: int) -> bool:
        """Whether a run has other parts than the given ones."""
        return 0 < number <= self.deals + FOLDS * self.passes

    def keeps(self, number: int) -> bool:
        """Whether the network of a run may predict."""
        return not 0 < number <= self.deals

    def known(self, known: Known, number: int, seed: int) -> Known:
        """Return the parts of a run, the same for all candidates."""
        if not self.elsewhere(number):
            return known
        if self.deals:
            return known.dealt_anew(seed * 1000 + number)
        turn, fold = divmod(number - 1, FOLDS)
        return known.fold(seed * 1000 + turn, fold)

    def unit(self, number: int) -> int:
        """Return which runs count as one: all on the given parts, if there are others to compare with."""
        return number if not self.deals or self.elsewhere(number) else 0

    def scores(self, runs: list[dict[str, Any]]) -> dict[str, dict[int, float]]:
        """Return the mean held-out score of every candidate's runs, by unit."""
        values: dict[str, dict[int, list[float]]] = {}
        for run in runs:
            by_unit = values.setdefault(run["candidate"], {})
            by_unit.setdefault(self.unit(run["round"]), []).append(float(run["held_out"]))
        return {
            name: {unit: float(np.mean(scores)) for unit, scores in by_unit.items()}
            for name, by_unit in values.items()
        }


@dataclass
class Turn:
    """A run of a candidate as it stands.

    name, number: of the candidate, and which of its runs it is. share: the work after which it has to wait,
    or ends. cut: that is what ended it.
    """

    name: str
    number: int
    trainer: Trainer
    share: float
    cut: bool = False
    epoch_work: float = field(init=False)

    def __post_init__(self) -> None:
        self.epoch_work = self.trainer.epoch_work()

    @property
    def work(self) -> float:
        """The work of all its epochs so far."""
        return self.trainer.epoch * self.epoch_work

    @property
    def over(self) -> bool:
        """Whether it has ended, or used up its share."""
        return self.trainer.stopped or self.work >= self.share

    def run_epoch(self) -> Epoch:
        """Train for an epoch."""
        epoch = self.trainer.run_epoch()
        return epoch._replace(candidate=self.name, run=self.number)

    def state(self) -> dict[str, Any]:
        """Return all plain values, those of its training among them."""
        own = {name: getattr(self, name) for name in ("name", "number", "share", "cut")}
        return own | {"trainer": self.trainer.state()}


def standings(runs: list[dict[str, Any]], rounds: Rounds, order: list[str]) -> list[dict[str, Any]]:
    """Return the candidates, the best first: mean held-out score, and how far each is behind the best.

    The error of that is of the differences in pairs, over the seeds, or the parts, that both have. Of equals
    the earlier one in `order`, cheapest first, is the better.
    """
    scores = rounds.scores(runs)
    means = {name: float(np.mean(list(own.values()))) for name, own in scores.items()}
    ranked = sorted(means, key=lambda name: (-means[name], order.index(name)))
    rows = []
    for name in ranked:
        own, best = scores[name], scores[ranked[0]]
        gaps = np.array([best[unit] - score for unit, score in own.items() if unit in best])
        several = len(gaps) > 1 and name != ranked[0]
        seconds = [run["seconds"] for run in runs if run["candidate"] == name]
        rows.append(
            {
                "candidate": name,
                "runs": len(seconds),
                "pairs": len(gaps),
                "score": means[name],
                "behind": means[ranked[0]] - means[name],
                "behind_error": float(gaps.std(ddof=1) / math.sqrt(len(gaps))) if several else None,
                "seconds_per_run": float(np.mean(seconds)),
            }
        )
    return rows


def several_behind(row: dict[str, Any]) -> bool:
    """Whether a candidate is behind the best by `CAUTION` standard errors, by three pairs of runs at least.

    For metrics that are no share of right nodes, whose error a single run does not tell.
    """
    return bool(row["pairs"] >= 3 and row["behind"] > CAUTION * (row["behind_error"] or 0.0))


def clearly_above(leader: float, other: float, count: int) -> bool:
    """Whether one share of `count` nodes is above another by `CAUTION` standard errors.

    Two more nodes, one right and one wrong, keep the error of a perfect leader from being zero.

    >>> clearly_above(1.0, 0.97, 30), clearly_above(1.0, 0.9, 30), clearly_above(1.0, 0.97, 300)
    (False, True, True)
    """
    share = (leader * count + 1) / (count + 2)
    return leader - other > CAUTION * math.sqrt(share * (1 - share) / count)


class Stage:
    """Some runs of a selection, none of which depends on another.

    What a run comes to is therefore the same on any number of cores, and whatever else they do: the cores
    decide only in which order epochs are told. Trainers are made one at a time, because the numbers that
    torch draws for their weights come from one generator.

    Attributes:
        planned: runs that have not begun. running: those that have, in their order, over or not.
    """

    def __init__(
        self,
        begin: Callable[[str, int, float], Turn],
        planned: Iterable[Planned] = (),
        running: Iterable[Turn] = (),
    ) -> None:
        self.planned, self.running = list(planned), list(running)
        self._begin, self._lock = begin, threading.Lock()

    @property
    def over(self) -> bool:
        """Whether all runs are over, or have used up their shares."""
        return not self.planned and all(turn.over for turn in self.running)

    def advance(self) -> list[Epoch]:
        """Train on, by an epoch on one core and for about a second on several; return the epochs."""
        cores = num_kernel_threads(torch.get_num_threads())
        ahead = [turn for turn in self.running if not turn.over]
        workers = min(cores, len(ahead) + len(self.planned))
        until = time.monotonic() + (_SLICE if workers > 1 else 0.0)
        told: dict[int, list[Epoch]] = {}

        def take() -> Turn | None:
            with self._lock:
                if ahead:
                    return ahead.pop(0)
                if not self.planned:
                    return None
                turn = self._begin(*self.planned[0])
                self.planned.pop(0)
                self.running.append(turn)
                return turn

        def work() -> None:
            torch.set_num_threads(1)  # a thread has a number of its own
            with kernel_threads(max(1, cores // workers)):
                while (turn := take()) is not None:
                    epochs = told.setdefault(id(turn), [])
                    while not turn.over:
                        epochs.append(turn.run_epoch())
                        if time.monotonic() >= until:
                            return

        if workers == 1:
            work()
        else:
            # The limit is the whole process's: one that ends in a thread must not lift it for the others.
            with threadpool_limits(1), ThreadPoolExecutor(workers) as pool:
                for future in [pool.submit(work) for _ in range(workers)]:
                    future.result()
        return [epoch for turn in self.running for epoch in told.get(id(turn), ())]
