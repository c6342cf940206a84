"""Which runs a candidate has, runs that train side by side, and how candidates stand after some of them."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from mcn._threads import kernel_threads, num_kernel_threads, processor_seconds
from mcn.data.limits import reading
from mcn.train.folder import SUMMARY, read_json
from mcn.train.held_out import FOLDS
from mcn.train.loop import Epoch, Trainer
from mcn.train.problem import Known
from mcn.train.settings import at_least

CAUTION = 2.0
"""Standard errors from which on a difference counts as clear."""
DEALS, ENOUGH = 4, 2000
"""How often training and validation nodes are dealt out anew at most; and how many validation nodes in all
tell candidates apart well enough (by two points, if one is right on half of them)."""

KEPT = 16
"""Runs of a candidate whose networks predict, at most: further ones only help to tell candidates apart."""
_MOST = 1000  # runs of a candidate, or passes over the folds
_TOLD = DEALS + KEPT  # runs of a candidate of which every epoch is told
_SLICE = 1.0  # seconds that several cores train on between two looks at what they did


class Grant(NamedTuple):
    """How far a run of a candidate may train in a stage: to so many seconds of processor time, or epochs.

    Seconds are granted where the clock decides, epochs where a recorded schedule does.
    """

    candidate: str
    number: int
    seconds: float = math.inf
    epochs: int | None = None


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
    def of(cls, known: Known, repeats: int | None, cross_fit: bool) -> Rounds:
        """Return the runs for a split: on the given parts alone where one run will do, or nodes are many.

        `repeats` None is as many as there is time for.
        """
        repeats = _MOST if repeats is None else repeats
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
        return number == 0 or self.deals < number < self.deals + KEPT

    def blends(self, number: int) -> bool:
        """Whether what a run says of held-out nodes is kept, for a blend to be fitted on."""
        return number < self.deals + KEPT

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


class Clock:
    """Seconds since training began, those before a resume included; `stop` ends them."""

    def __init__(self, processor: float = 0.0, wall: float = 0.0) -> None:
        self._began = time.process_time() - processor, time.monotonic() - wall
        self._ended: tuple[float, float] | None = None

    def stop(self) -> None:
        """Count no further."""
        self._ended = time.process_time(), time.monotonic()

    @property
    def processor(self) -> float:
        """Seconds of processor time, of all cores together."""
        return (self._ended or (time.process_time(), 0.0))[0] - self._began[0]

    @property
    def wall(self) -> float:
        """Seconds by the clock."""
        return (self._ended or (0.0, time.monotonic()))[1] - self._began[1]

    def wall_at(self, seconds: float) -> float:
        """Return what `time.monotonic` says when `wall` is so many seconds."""
        return self._began[1] + seconds


@dataclass
class Schedule:
    """Which runs a selection trained for how long: all of its decisions that rest on a clock.

    stages: the runs of every stage, [candidate, number of the run, epochs at the end of the stage] each.
    left_out: candidates that no epoch of was trained. ended_by: "budget", "clock", or "runs" if all that were
    asked for were done.
    """

    stages: list[list[list[Any]]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    ended_by: str = "budget"

    @classmethod
    def of_run(cls, folder: str, candidates: Collection[str]) -> Schedule:
        """Read the schedule of a finished run.

        Raises:
            ValueError: there is none, or it has a candidate that is not among these.
        """
        path = Path(folder).expanduser() / SUMMARY
        stored: Any = read_json(path).get("schedule") if path.exists() else None
        with reading(path, "not the summary of a finished run of auto, whose schedule could be followed"):
            schedule = cls(*(stored[one.name] for one in dataclasses.fields(cls)))
            names = {str(name) for stage in schedule.stages for name, _, _ in stage}
            epochs = [at_least(1)("epochs", epochs) for stage in schedule.stages for _, _, epochs in stage]
            for stage in schedule.stages:
                for _, number, _ in stage:
                    at_least(0)("run", number)
        if not epochs or not names <= set(candidates):
            unknown = ", ".join(sorted(names - set(candidates))) or "none"
            raise ValueError(
                f"schedule {folder}: its candidates are not those of this run (not here: {unknown}); give "
                "the settings of the run whose schedule it is"
            )
        return schedule

    def grants(self, stage: int) -> list[Grant]:
        """Return what the runs of a stage are granted; nothing after the last one."""
        return [
            Grant(name, number, epochs=epochs) for name, number, epochs in (self.stages[stage:] or [[]])[0]
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return dataclasses.asdict(self)

    def sentences(self, budget: float) -> list[str]:
        """Say what ended training before the budget was used up, and who was not tried."""
        said = []
        if self.ended_by == "clock":
            said.append(
                f"the clock ended training after 1.5 times the {budget / 60:g} minutes asked for: other "
                "programs had the processor for much of that time"
            )
        if self.left_out:
            said.append(
                f"not tried: {', '.join(self.left_out)}; an epoch would take longer than what is left of the "
                "budget, give more minutes"
            )
        return said


@dataclass(eq=False)
class Turn:
    """A run of a candidate as it stands.

    grant: how far it may train before it has to wait, or ends. trainer: its training. deadline: the time by
    `time.monotonic` from which on it begins no epoch. first, later: the processor time of its first epoch and
    of the others so far.
    """

    grant: Grant
    trainer: Trainer
    deadline: float = math.inf
    first: float = 0.0
    later: float = 0.0

    def __post_init__(self) -> None:
        self._epoch_work = self.trainer.epoch_work()

    @property
    def estimate(self) -> float:
        """The seconds that its epochs so far would have taken by the estimate."""
        return self.trainer.epoch * self._epoch_work

    @property
    def name(self) -> str:
        """The name of the candidate."""
        return self.grant.candidate

    @property
    def number(self) -> int:
        """Which of the candidate's runs it is."""
        return self.grant.number

    @property
    def seconds(self) -> float:
        """Its processor time, if its first epoch had taken as long as the others: it may load kernels."""
        epochs = self.trainer.epoch
        return self.later * epochs / (epochs - 1) if epochs > 1 else min(self.first, 2 * self._epoch_work)

    @property
    def over(self) -> bool:
        """Whether it has ended, or used up its grant, to the nearest epoch."""
        epoch = self.trainer.epoch
        if self.trainer.stopped or self.grant.epochs is not None:
            return self.trainer.stopped or epoch >= (self.grant.epochs or 0)
        half_an_epoch = self.seconds / max(1, epoch) / 2
        return self.seconds + half_an_epoch >= self.grant.seconds or time.monotonic() >= self.deadline

    def run_epoch(self) -> Epoch:
        """Train for an epoch."""
        began = processor_seconds()
        epoch = self.trainer.run_epoch()
        seconds = processor_seconds() - began
        if self.trainer.epoch == 1:
            self.first = seconds
        else:
            self.later += seconds
        return epoch._replace(candidate=self.name, run=self.number)

    def state(self) -> dict[str, Any]:
        """Return all plain values, those of its training among them."""
        own = {"grant": list(self.grant), "first": self.first, "later": self.later}
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
        seconds = [run["processor_seconds"] for run in runs if run["candidate"] == name]
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
        begin: Callable[[Grant], Turn],
        planned: Iterable[Grant] = (),
        running: Iterable[Turn] = (),
    ) -> None:
        self.planned, self.running = list(planned), list(running)
        self._begin, self._lock = begin, threading.Lock()

    @property
    def over(self) -> bool:
        """Whether all runs are over, or have used up their shares."""
        return not self.planned and all(turn.over for turn in self.running)

    def advance(self) -> list[Epoch]:
        """Train on, by an epoch on one core and for about a second on several; return the epochs.

        Of a run whose network is not kept the last epoch alone is returned: there may be hundreds of them.
        """
        cores = num_kernel_threads(torch.get_num_threads())
        ahead = [turn for turn in self.running if not turn.over]
        workers = min(cores, len(ahead) + len(self.planned))
        if not workers:
            return []
        until = time.monotonic() + (_SLICE if workers > 1 else 0.0)
        told: dict[int, list[Epoch]] = {}

        def take() -> Turn | None:
            with self._lock:
                if ahead:
                    return ahead.pop(0)
                if not self.planned:
                    return None
                turn = self._begin(self.planned[0])
                self.planned.pop(0)
                self.running.append(turn)
                return turn

        def work() -> None:
            torch.set_num_threads(1)  # a thread has a number of its own
            with kernel_threads(max(1, cores // workers)):
                while (turn := take()) is not None:
                    epochs = told.setdefault(id(turn), [])
                    while not turn.over:
                        epoch = turn.run_epoch()
                        if turn.number < _TOLD or turn.over:
                            epochs.append(epoch)
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
