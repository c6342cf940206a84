"""A word about the wait when kernels are compiled for the first time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from mcn.cli._progress import Intervals, duration


class Compiled(Protocol):
    """What was compiled so far."""

    kernels: int
    taken: float


@contextmanager
def compile_notice(clock: Callable[[], float] = time.monotonic) -> Iterator[Compiled]:
    """Say on standard error that kernels are being compiled, if any are, and how long it has taken so far.

    On a terminal at once, elsewhere when it takes longer; then now and then. numba announces every
    compilation; what comes from its cache on disk is not compiled.
    """
    from numba.core import event

    class Notice(event.Listener):  # type: ignore[misc, unused-ignore]
        """Adds up the time; a compilation may start others within it."""

        depth, began, taken, kernels = 0, 0.0, 0.0, 0
        said = not sys.stderr.isatty()
        intervals = Intervals()

        def on_start(self, event: Any) -> None:
            if self.depth == 0:
                self.began = clock()
            self.depth += 1
            if not self.said:
                self.said = True
                self.say("this takes some seconds")

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            so_far = self.taken + clock() - self.began
            if self.depth == 0:
                self.taken = so_far
                self.kernels += 1
            if self.intervals.due(so_far):
                self.say(f"{duration(so_far)} so far")

        def say(self, words: str) -> None:
            print(f"mcn: compiling kernels, once: {words}", file=sys.stderr, flush=True)

    notice = Notice()
    with event.install_listener("numba:compile", notice):
        yield notice
