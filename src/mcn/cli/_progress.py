"""How far the work is: a bar on a terminal, and off it, in a log file say, a plain line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

PATIENCE = 1.0
"""Seconds of work before there is a bar."""
FIRST, LONGEST = 10.0, 120.0
"""Seconds before the first line, and the longest time between two; from line to line it doubles."""


class Report(Protocol):
    """Takes the finished fraction of the work, and what to say of it now."""

    def __call__(self, fraction: float, now: str | None = None, /) -> None: ...


@contextmanager
def progress_bar(what: str) -> Iterator[Report]:
    """Show on standard error how far the work is, once it turns out to be long.

    On a terminal: a bar with the time left after a second. Elsewhere: a line after ten, and further ones at
    growing intervals, also while the work is in the middle of a step and reports nothing.
    """
    with _bar(what) if sys.stderr.isatty() else _lines(what) as report:
        yield report


@contextmanager
def _bar(what: str) -> Iterator[Report]:
    began = time.monotonic()
    bar = None

    def report(fraction: float, now: str | None = None, /) -> None:
        nonlocal bar
        if bar is None:
            if time.monotonic() - began < PATIENCE:
                return
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
            )
            bar = Progress(*columns, console=Console(stderr=True), transient=True)
            bar.add_task(what, total=1.0)
            bar.start()
        bar.update(bar.task_ids[0], completed=fraction, description=now or what)

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()


class Intervals:
    """When to say something: after `first` seconds, then after twice as long each time, up to `longest`."""

    def __init__(self, first: float | None = None, longest: float | None = None) -> None:
        self._gap = FIRST if first is None else first
        self._longest = LONGEST if longest is None else longest
        self.next = self._gap

    def due(self, elapsed: float) -> bool:
        """Whether it is time; what is said next is counted from now."""
        if elapsed < self.next:
            return False
        self._gap = min(2 * self._gap, self._longest)
        self.next = elapsed + self._gap
        return True


class LogLines:
    """The lines of a log on how far the work is.

    Args:
        what: the work.
        intervals: when a line is due.
        clock: the time in seconds.
    """

    def __init__(self, what: str, intervals: Intervals, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._intervals, self._clock = what, intervals, clock
        self._began = clock()
        self._start: tuple[float, float] | None = None  # how far it was when it first said so, and when
        self._last = (0.0, 0.0)

    def report(self, fraction: float, now: str | None = None, /) -> None:
        """Take note of how far it is."""
        self._last = (min(max(fraction, 0.0), 1.0), self._clock() - self._began)
        self._start = self._start or self._last
        self._what = now or self._what

    def wait(self) -> float:
        """Seconds until a line may be due."""
        return max(0.0, self._intervals.next - (self._clock() - self._began))

    def line(self) -> str | None:
        """The line to write now, if one is due."""
        elapsed = self._clock() - self._began
        if not self._intervals.due(elapsed):
            return None
        (fraction, told), (before, since) = self._last, self._start or (0.0, 0.0)
        if fraction <= 0.0:
            return f"mcn: {self._what}: {duration(elapsed)} so far"
        done = f"mcn: {self._what}: {fraction:.0%} after {duration(elapsed)}"
        if fraction <= before or told <= since:  # all of it was there at the start: from a ledger, say
            return done
        left = (1.0 - fraction) * (told - since) / (fraction - before) - (elapsed - told)
        if fraction >= 1.0:
            return f"{done}, finishing"
        if left <= 0.0:  # what was heard so far says that it should be over
            return f"{done}, no further for {duration(elapsed - told)}"
        return f"{done}, about {duration(left)} left"


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(8.2), duration(95), duration(5400)
    ('8 s', '95 s', '90 min')
    >>> duration(36000)
    '10.0 h'
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@contextmanager
def _lines(what: str) -> Iterator[Report]:
    """Write the lines from a thread of their own: the work may be silent for longer than that."""
    lines, ended = LogLines(what, Intervals()), threading.Event()

    def write() -> None:
        while not ended.wait(lines.wait()):
            line = lines.line()
            if line is not None:
                with suppress(OSError, ValueError):  # the log is gone; the work is not about it
                    print(line, file=sys.stderr, flush=True)

    writer = threading.Thread(target=write, name="mcn-progress", daemon=True)
    writer.start()
    try:
        yield lines.report
    finally:
        ended.set()
        writer.join()
