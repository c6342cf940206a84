"""A progress bar for work that turns out to take longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

PATIENCE = 1.0


class Report(Protocol):
    """Takes the finished fraction of the work, and what to say of it now."""

    def __call__(self, fraction: float, now: str | None = None, /) -> None: ...


@contextmanager
def progress_bar(what: str) -> Iterator[Report]:
    """Show a bar with the time left on standard error once a second has passed; quiet off a terminal."""
    began = time.monotonic()
    bar = None

    def report(fraction: float, now: str | None = None, /) -> None:
        nonlocal bar
        if bar is None:
            if not sys.stderr.isatty() or time.monotonic() - began < PATIENCE:
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
