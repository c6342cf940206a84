"""Runs that know nothing of each other, trained side by side on as many cores as there are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import torch

from mcn._threads import kernel_threads, num_kernel_threads
from mcn.train.loop import Epoch
from mcn.train.select.schedule import Turn

_SLICE = 1.0  # seconds that several cores train on between two looks at what they did
Planned = tuple[str, int, float]
"""A run to begin: the candidate, the number of the run, and its share of the work."""


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
            with ThreadPoolExecutor(workers) as pool:
                for future in [pool.submit(work) for _ in range(workers)]:
                    future.result()
        return [epoch for turn in self.running for epoch in told.get(id(turn), ())]
