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

from graphmotifs._messages import one_of
from graphmotifs._threads import processor_seconds
from mcn.data.limits import reading
from mcn.nn._parallel import kernel_threads, num_kernel_threads
from mcn.train.folder import SUMMARY, read_summary
from mcn.train.loop import Epoch, Trainer
from mcn.train.settings import at_least

CAUTION = 2.0
"""Standard errors from which on a difference counts as clear."""
KEPT = 16
"""Runs of a candidate whose networks predict, at most: further ones only help to tell candidates apart."""
_LOADING = 3.0  # seconds that a first epoch may take, and a second one follow whatever was granted
_SLICE = 1.0  # seconds that several cores train on between two looks at what they did


class Grant(NamedTuple):
    """How far a run of a candidate may train in a stage: to so many seconds of processor time, or epochs.

    Seconds are granted where the clock decides, epochs where a recorded schedule does.
    """

    candidate: str
    number: int
    seconds: float = math.inf
    epochs: int | None = None


class Clock:
    """Seconds since training began, those before a resume included."""

    def __init__(self, processor: float = 0.0, wall: float = 0.0) -> None:
        self._began = time.process_time() - processor, time.monotonic() - wall

    @property
    def processor(self) -> float:
        """Seconds of processor time, of all cores together."""
        return time.process_time() - self._began[0]

    @property
    def wall(self) -> float:
        """Seconds by the clock."""
        return time.monotonic() - self._began[1]


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
        stored: Any = read_summary(path.parent).get("schedule") if path.exists() else None
        if stored is None:
            raise ValueError(f"schedule {folder}: no finished run of auto is there; give the folder of one")
        with reading(path, "not the summary of a finished run of auto, whose schedule could be followed"):
            schedule = cls(*(stored[one.name] for one in dataclasses.fields(cls)))
            rows = [row for stage in schedule.stages for row in stage]
            for name, number, epochs in rows:
                one_of("candidate", name, candidates)
                at_least(0)("run", number), at_least(1)("epochs", epochs)
            at_least(1)("runs", len(rows))
        return schedule

    def grants(self, stage: int) -> list[Grant]:
        """Return what the runs of a stage are granted; nothing after the last one."""
        rows = self.stages[stage] if stage < len(self.stages) else []
        return [Grant(name, number, epochs=epochs) for name, number, epochs in rows]

    def sentences(self, budget: float) -> list[str]:
        """Say what ended training before the budget was used up, and who was not tried."""
        said, minutes = [], f"the {budget / 60:g} minutes asked for"
        if self.ended_by == "clock":
            said.append(
                f"the clock ended training after 1.5 times {minutes}: other programs had the processor"
            )
        if self.left_out:
            said.append(f"not tried, as too little of {minutes} was left: {', '.join(self.left_out)}")
        return said


@dataclass(eq=False)
class Turn:
    """A run of a candidate as it stands.

    grant: how far it may train before it has to wait, or ends. trainer: its training. deadline: the time by
    `time.monotonic` from which on it begins no epoch. first, later: the processor time of its first epoch and
    of the others so far. ended: whether it has ended for good.
    """

    grant: Grant
    trainer: Trainer
    deadline: float = math.inf
    first: float = 0.0
    later: float = 0.0
    ended: bool = False

    def __post_init__(self) -> None:
        self.name, self.number = self.grant.candidate, self.grant.number

    @property
    def seconds(self) -> float:
        """Its processor time, had its first epoch taken as long as others: that one may load kernels."""
        epochs = self.trainer.epoch
        return self.later * epochs / (epochs - 1) if epochs > 1 else self.first

    @property
    def over(self) -> bool:
        """Whether it has ended, or used up its grant, to the nearest epoch."""
        epoch = self.trainer.epoch
        if self.trainer.stopped or self.grant.epochs is not None:
            return self.trainer.stopped or epoch >= (self.grant.epochs or 0)
        if epoch == 1 and self.first < _LOADING:  # most of which may be loading kernels
            return time.monotonic() >= self.deadline
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


def standings(runs: list[dict[str, Any]], order: list[str]) -> list[dict[str, Any]]:
    """Return the candidates, the best first: mean held-out score, and how far each is behind the best.

    The error of that is of the differences in pairs, over the seeds, or the parts, that both have. Of equals
    the earlier one in `order`, cheapest first, is the better.
    """
    scores: dict[str, dict[int, float]] = {}
    for run in runs:
        scores.setdefault(run["candidate"], {})[run["round"]] = float(run["held_out"])
    means = {name: float(np.mean(list(own.values()))) for name, own in scores.items()}
    ranked = sorted(means, key=lambda name: (-means[name], order.index(name)))
    rows = []
    for name in ranked:
        own, best = scores[name], scores[ranked[0]]
        gaps = np.array([best[number] - score for number, score in own.items() if number in best])
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
    """Whether one share of `count` nodes is above another by `CAUTION` standard errors; of none it is not.

    Two more nodes, one right and one wrong, keep the error of a perfect leader from being zero.

    >>> clearly_above(1.0, 0.97, 30), clearly_above(1.0, 0.9, 30), clearly_above(1.0, 0.97, 300)
    (False, True, True)
    """
    share = (leader * count + 1) / (count + 2)
    return count > 0 and leader - other > CAUTION * math.sqrt(share * (1 - share) / count)


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
        begin: Callable[[Grant], Turn | None],
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
        workers = max(1, min(cores, len(ahead) + len(self.planned)))
        until = time.monotonic() + (_SLICE if workers > 1 else 0.0)
        told: dict[int, list[Epoch]] = {}

        def take() -> Turn | None:
            with self._lock:
                if ahead:
                    return ahead.pop(0)
                while self.planned:
                    turn = self._begin(self.planned[0])
                    self.planned.pop(0)
                    if turn is not None:
                        self.running.append(turn)
                        return turn
                return None

        def work() -> None:
            torch.set_num_threads(1)  # a thread has a number of its own
            with kernel_threads(max(1, cores // workers)):
                while (turn := take()) is not None:
                    epochs = told.setdefault(id(turn), [])
                    while not turn.over:
                        epoch = turn.run_epoch()
                        if turn.number < KEPT or turn.over:
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
