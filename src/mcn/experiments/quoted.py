"""Figures in the sentences of a page that come from kept runs: each names its source and is written from it.

A figure is a number with a point, with or without a sign and a spread, and a comment right behind it that no
reader of the page sees: ``0.44 ± 0.24<!-- beyond citeseer gat − mcn -->``. Sources:

    TABLE SET ROW               mean ± sample standard deviation over the runs, of table2, table3, beyond …
    TABLE SET ROW, s.e.         mean ± standard error
    TABLE SET ROW, validation   the same of validation accuracies, mean ± sample standard deviation
    TABLE SET ROW − ROW         mean ± standard error of the paired differences
    choice SET ROW …            the same, of the study of choosing
    search SET SPACE            the winner's test runs, mean ± sample standard deviation
    figure4 MOTIF PLACE         mean ± standard error over the runs; figure4-pairs: under scope="pairs"
    from WORDS                  from elsewhere: left as it is

How many digits stand there stays. A difference with a sign keeps one; without, it must not be negative.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from mcn.experiments.choice.figures import by_row
from mcn.experiments.choice.study import read_rows
from mcn.experiments.engine.cells import paired
from mcn.experiments.paper.evidence import path_of, read_kept
from mcn.experiments.paper.plan import TABLES
from mcn.experiments.search.kept import FILE, read_searches

_NUMBER = r"(?P<sign>[+−-]?)(?P<value>\d+\.\d+)(?P<spread> ± \d+\.\d+)?"
_SOURCED = re.compile(rf"{_NUMBER}<!-- (?P<source>[^<>]+?) -->")
_MADE = re.compile(r"(?ms)^<!-- (results [a-z0-9 ]+|choice|published|auto) -->\n.*?^<!-- end of \1 -->$")
_CODE = re.compile(r"(?ms)^```.*?^```$|`[^`\n]*`")
_SPREAD = re.compile(r"[+−-]?\d+(?:\.\d+)? ± \d+(?:\.\d+)?(?!\.?\d|<!-- )")
_ELSEWHERE = "from "
_PATTERNS = ("figure4", "figure4-pairs")


@dataclass(frozen=True)
class Figure:
    """A mean and its spread, which one run alone does not have."""

    mean: float
    spread: float | None


def with_figures(page: str, folder: str | os.PathLike[str]) -> str:
    """Return a page with every sourced figure written anew from the runs of a folder.

    Raises:
        ValueError: a source that is not there, or a figure without a sign that is negative.
        OSError: a file is missing.
    """
    sources = _Sources(Path(folder))
    return _SOURCED.sub(lambda found: _written(found, sources), page)


def without_source(page: str) -> list[str]:
    """Return the figures with a spread that say nothing of where they are from.

    Parts that are made from runs as a whole, and code, do not count.

    >>> without_source("It has 83.5 ± 0.4, and 83.2 ± 0.9<!-- search cora citation-screen --> here.")
    ['83.5 ± 0.4']
    """
    return _SPREAD.findall(_CODE.sub("", _MADE.sub("", page)))


def _written(found: re.Match[str], sources: _Sources) -> str:
    source = found["source"]
    if source.startswith(_ELSEWHERE):
        return found[0]
    figure = sources.figure(source)
    digits = _digits(found["value"])
    # Rounded first, and without the sign that a rounded zero may have.
    mean = round(figure.mean, digits) + 0.0
    text = f"{mean:+.{digits}f}".replace("-", "−")
    if not found["sign"]:
        if mean < 0:
            raise ValueError(f"{found[0]}: it is {text}; give it a sign, or turn the difference round")
        text = text[1:]
    if found["spread"]:
        if figure.spread is None:
            raise ValueError(f"{found[0]}: one run has no spread")
        text += f" ± {figure.spread:.{_digits(found['spread'])}f}"
    return f"{text}<!-- {source} -->"


def _digits(number: str) -> int:
    return len(number.rpartition(".")[2])


class _Sources:
    """The files of a folder, each read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._table = cache(self._read_table)
        self._searches = cache(lambda: read_searches(folder / FILE))
        self._choice = cache(lambda: read_rows(folder / "choice.csv"))
        self._pattern = cache(lambda name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))

    def figure(self, source: str) -> Figure:
        """Return what a source amounts to.

        Raises:
            ValueError: there are no such runs.
        """
        kind, _, what = source.partition(" ")
        try:
            if kind == "choice" or kind in TABLES:
                return self._row(kind, what)
            if kind == "search":
                return self._search(what)
            if kind in _PATTERNS:
                return self._figure4(kind, what)
        except (KeyError, StopIteration):
            raise ValueError(f"source {source!r}: there are no such runs") from None
        known = ", ".join((*TABLES, "choice", "search", *_PATTERNS))
        raise ValueError(f"source {source!r}: expected {known} or from …")

    def _read_table(self, name: str, validation: bool) -> dict[tuple[str, str], dict[int, float]]:
        found: dict[tuple[str, str], dict[int, float]] = {}
        for run in read_kept(path_of(self._folder, name)):
            share = run.val_accuracy if validation else run.test_accuracy
            found.setdefault((run.dataset, run.method), {})[run.seed] = 100 * share
        return found

    def _runs(self, kind: str, dataset: str, row: str, validation: bool) -> dict[int, float]:
        if kind == "choice":
            return by_row(self._choice(), dataset)[row]
        return self._table(kind, validation)[dataset, row]

    def _row(self, kind: str, what: str) -> Figure:
        what, _, form = what.partition(", ")
        dataset, _, rows = what.partition(" ")
        first, _, second = rows.partition(" − ")
        # A form that means nothing here would leave another figure standing under its name.
        known = ("", *(() if second else ("s.e.",)), *(() if kind == "choice" else ("validation",)))
        if form not in known:
            raise ValueError(f"source '{kind} {what}, {form}': it has no figure of this form")
        runs = self._runs(kind, dataset, first, form == "validation")
        if not second:
            return _mean(list(runs.values()), error=form == "s.e.")
        gap = paired(runs, self._runs(kind, dataset, second, form == "validation"))
        if gap is None:
            raise KeyError
        return Figure(gap.mean, gap.error)

    def _search(self, what: str) -> Figure:
        dataset, space = what.split(" ", 1)
        own = next(s for s in self._searches() if (s["dataset"], s["space"]) == (dataset, space))
        return _mean([100 * row["test_accuracy"] for row in own["final"]])

    def _figure4(self, kind: str, what: str) -> Figure:
        motif, place = what.split(" ", 1)
        values = [run["correlation"][motif][place] for run in self._pattern(kind)["runs"]]
        return _mean([v for v in values if v is not None and math.isfinite(v)], error=True)


def _mean(values: Sequence[float], *, error: bool = False) -> Figure:
    """Mean and sample standard deviation, or standard error."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    if error and spread is not None:
        spread /= math.sqrt(len(values))
    return Figure(float(np.mean(values)), spread)
