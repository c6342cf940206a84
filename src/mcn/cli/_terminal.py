"""What a user sees of the work: how far it is, what is compiled, warnings, and tables of results."""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.0
"""Seconds of work before there is a bar."""
_KINDS = (": a numeric target; ", "taken as classes", "in case or blanks", "copies the label")
_URGENT = (
    *_KINDS,
    *("the clock ended", "no better than guessing", "overfitted", "names the columns", "direction is"),
    *("test figures rest", "header: ", "merged", "node columns: "),
)
MOST_LINES = 18
"""What a verb prints for a usual run, without --verbose."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

Report = Callable[..., None]
"""Takes the finished fraction of the work, and what to say of it now, if that is not always the same."""


def visible(text: str) -> str:
    r"""Return a text whose control characters, which a terminal would obey, are shown as escapes.

    >>> print(visible("a\x1b[2J"))
    a\x1b[2J
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


@contextmanager
def progress_bar(what: str) -> Iterator[Report]:
    """Show on standard error how far the work is and the time left, once it turns out to be long.

    On a terminal only: what goes into a file or a pipe stays quiet.
    """
    if not sys.stderr.isatty():
        yield lambda fraction, now=None: None
        return
    began = time.monotonic()
    bar = None

    def report(fraction: float, now: str | None = None, /) -> None:
        nonlocal bar
        if bar is None:
            if time.monotonic() - began < PATIENCE:
                return
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.add_task(what, total=1.0)
            bar.start()
        bar.update(bar.task_ids[0], completed=fraction, description=now or what)

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def compile_notice() -> Iterator[None]:
    """Say on a terminal, once, that kernels are being compiled, if any are.

    numba announces every compilation; what comes from its cache on disk is not compiled.
    """
    if not sys.stderr.isatty():
        yield
        return
    from numba.core import event

    class Notice(event.Listener):  # type: ignore[misc, unused-ignore]
        """Speaks when the first compilation begins."""

        said = False

        def on_start(self, event: Any) -> None:
            if not self.said:
                self.said = True
                said = "mcn: compiling kernels, once: this takes up to half a minute"
                print(said, file=sys.stderr, flush=True)

        def on_end(self, event: Any) -> None:
            """There is nothing to say."""

    with event.install_listener("numba:compile", Notice()):
        yield


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show each warning about the user's input once, as one line on standard error, without file and line."""
    said = set()

    def show(message: Warning | str, *_where: Any, **_how: Any) -> None:
        text = " ".join(str(message).split())
        if text not in said:
            said.add(text)
            print(f"mcn: warning: {text}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], left: Collection[str] = ()
) -> None:
    """Print a table; cells stand at the right of their column, or at the left if `left` names it."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    print(visible(title))
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="left" if name in left else "right")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console = Console()
    (console if console.is_terminal else Console(width=120)).print(table)


def print_facts(title: str, facts: Mapping[str, str]) -> None:
    """Print a name and a value per line, the values below one another, under a title.

    >>> print_facts("karate", {"nodes": "34", "largest class": "50.0 %"})
    karate
      nodes              34
      largest class  50.0 %
    """
    names, values = max(map(len, facts)), max(map(len, facts.values()))
    print(visible(title))
    for name, value in facts.items():
        print(visible(f"  {name:<{names}}  {value:>{values}}"))


def notable(report: Sequence[str], hidden: tuple[str, ...] = ("labels:",)) -> list[str]:
    """Return what a loader did to a graph, without its plain size and lines that begin with `hidden` words.

    >>> notable(["3 nodes, 3 undirected edges", "labels: 2 classes", "split: drawn with seed 0"])
    ['split: drawn with seed 0']
    """
    changed = [line for line in report[:1] if "(" in line]  # entries that were dropped stand in brackets
    return changed + [line for line in report[1:] if not line.startswith(hidden)]


def fitting(lines: Sequence[str], room: int) -> list[str]:
    """Return the lines that fit, the last one counting the others; what decides on a result is first."""
    urgent_first = sorted(lines, key=lambda line: [words not in line for words in _URGENT])
    if len(lines) <= room:
        return urgent_first
    hidden = len(lines) - max(room - 1, 0)
    return [*urgent_first[:-hidden], f"remarks and notes that are not shown: {hidden} (--verbose)"]


def print_notes(lines: Iterable[str], kind: str = "note") -> None:
    """Print what else there is to say, a line each."""
    for line in lines:
        print(visible(f"{kind}: {line}"))


_ACRONYMS = ("mcn", "gat", "gcn", "mlp", "lp", "ica")


def _method_name(method: str) -> str:
    """Return a method as it is printed: acronyms in capitals, others as users type them."""
    return method.upper() if method in _ACRONYMS else method


def print_methods(title: str, rows: list[dict[str, Any]], metric: str | None = None) -> None:
    """One line per method: `metric` on test nodes as mean ± deviation over the seeds, then accuracy."""
    compared = any(row.get("difference") is not None for row in rows)
    wanted = dict.fromkeys([metric or "accuracy", "accuracy"])
    metrics = [name for name in wanted if name in rows[0]["metrics"]]
    columns = ["method", *(f"test {name}" for name in metrics), f"validation {metrics[0]}"]
    columns += ["seeds", "s per run"]
    columns += [f"− {_method_name(rows[0]['method'])}, paired"] if compared else []

    def cells(row: dict[str, Any]) -> Iterator[str]:
        yield _method_name(row["method"])
        for name in metrics:
            untested = all(figures["test_mean"] is None for figures in row["metrics"].values())
            yield "no test nodes" if untested else mean_and_spread(name, row["metrics"][name])
        validation = row["metrics"][metrics[0]]["val_mean"]
        yield mean_and_spread(metrics[0], {"test_mean": validation, "test_std": None})
        yield str(len(row["seeds"]))
        yield f"{row['seconds_per_run']:.1f}"
        if compared:  # the mean of the paired differences to the first method ± its standard error
            missing = row["difference"] is None
            yield "" if missing else f"{row['difference']:+.2f} ± {row['difference_error']:.2f}"

    print_table(title, columns, [list(cells(row)) for row in rows], left=("method",))


def mean_and_spread(metric: str, scores: dict[str, float | None]) -> str:
    """The mean of a metric over the seeds ± its standard deviation."""
    from mcn.train.metrics import shown

    mean, deviation = scores["test_mean"], scores["test_std"]
    spread = "" if deviation is None else f" ± {shown(metric, deviation).removesuffix('%')}"
    told = shown(metric, mean)
    return f"{told[:-1]}{spread} %" if told.endswith("%") else f"{told}{spread}"
