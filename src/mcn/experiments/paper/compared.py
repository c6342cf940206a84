"""Our cells beside the paper's: lines, ranks and paired differences, for the report and results.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mcn.experiments.engine.cells import Cell, Difference, paired, within_noise
from mcn.experiments.paper.plan import Entry
from mcn.experiments.paper.reported import SAME_AS, PaperTable

_DIGITS = 9  # means of equal results may differ in their last bits
Cells = Mapping[tuple[str, str], Cell | None]
"""What was measured, by data set and method; None where nothing was run."""
PAIRS = (
    ("mcn", "gat"),
    ("mcn", "gat-consistency"),
    ("gat-consistency", "gat"),
    ("mcn-paper", "gat"),
    ("mcn-paper", "gat-paper"),
    ("mcn", "gcn"),
    ("mcn", "majority"),
    ("mlp", "majority"),
    ("twins", "majority"),
    ("mcn-paper-mean", "mcn-paper"),
    ("mcn-paper-learned", "mcn-paper"),
    ("mcn-paper-mean", "gat"),
    ("mcn-paper-learned", "gat"),
    ("gcn-ensemble", "gcn"),
    ("gcn-ensemble-6", "gcn"),
    ("gcn-ensemble-10", "gcn"),
    ("gcn-ensemble-15", "gcn"),
    ("views", "gat"),
    ("views", "grand"),
    ("views-edge", "grand"),
    ("views", "views-edge"),
    ("views", "views-random"),
    ("views", "views-walks"),
    ("views-random", "views-edge"),
    ("views-walks", "views-edge"),
    ("views-2", "views-edge"),
    ("views-5", "views-edge"),
)
"""Differences that are worth a line."""


@dataclass(frozen=True)
class Line:
    """A method on a data set: the paper's value, deviation and rank, our runs and rank, a note if any."""

    method: str
    value: float | None
    spread: tuple[float, int] | None
    paper_rank: float | None
    cell: Cell | None
    rank: float | None
    note: str

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, in points."""
        return None if self.cell is None or self.value is None else self.cell.mean - self.value

    @property
    def within_noise(self) -> bool | None:
        """See `mcn.experiments.engine.cells.within_noise`."""
        if self.cell is None or self.value is None:
            return None
        return within_noise(self.cell, self.value, self.spread)


@dataclass(frozen=True)
class Pair:
    """The paired difference of two methods on a data set."""

    dataset: str
    first: str
    second: str
    gap: Difference


def lines(paper: PaperTable, entries: Iterable[Entry], cells: Cells) -> dict[str, list[Line]]:
    """The lines of every data set; ranks are among the methods that the paper has."""
    by_dataset: dict[str, list[Entry]] = {}
    for entry in entries:
        by_dataset.setdefault(entry.dataset, []).append(entry)
    found = {}
    for dataset, own in by_dataset.items():
        theirs = ranks({name: paper.value(dataset, name) for name in paper.rows})
        ours = ranks(ranked_means(paper, cells, dataset, [entry.method for entry in own]))
        found[dataset] = [
            Line(
                entry.method,
                paper.value(dataset, SAME_AS.get(entry.method, entry.method)),
                paper.spread(dataset, SAME_AS.get(entry.method, entry.method)),
                theirs.get(entry.method),
                cells.get((dataset, entry.method)),
                ours.get(entry.method),
                entry.note,
            )
            for entry in own
        ]
    return found


def ranked_means(
    paper: PaperTable, cells: Cells, dataset: str, methods: Iterable[str]
) -> dict[str, float | None]:
    """Our means of the methods that take part in the ranking: those that the paper has."""
    found = {method: cells.get((dataset, method)) for method in methods if method in paper.rows}
    return {method: None if cell is None else cell.merit for method, cell in found.items()}


def pairs(cells: Cells, datasets: Sequence[str]) -> list[Pair]:
    """The paired differences of `PAIRS` wherever both methods were run."""
    found = []
    for first, second in PAIRS:
        for dataset in datasets:
            a, b = cells.get((dataset, first)), cells.get((dataset, second))
            gap = paired(a.test, b.test) if a is not None and b is not None else None
            if gap is not None:
                found.append(Pair(dataset, first, second, gap))
    return found


def ranks(values: Mapping[str, float | None]) -> dict[str, float]:
    """The rank of each method, 1 for the largest value; equal ones share the mean of their ranks.

    Methods without a value have no rank.

    >>> ranks({"a": 79.0, "b": 79.3, "c": 79.0, "d": None})
    {'a': 2.5, 'b': 1.0, 'c': 2.5}
    """
    known = {name: round(value, _DIGITS) for name, value in values.items() if value is not None}
    return {
        name: 1 + sum(v > value for v in known.values()) + (sum(v == value for v in known.values()) - 1) / 2
        for name, value in known.items()
    }


def average_ranks(columns: Sequence[Mapping[str, float | None]]) -> dict[str, float]:
    """The mean of each method's ranks over the data sets on which it has a value.

    >>> average_ranks([{"a": 2.0, "b": 1.0}, {"a": None, "b": 1.0}])
    {'a': 1.0, 'b': 1.5}
    """
    found: dict[str, list[float]] = {}
    for column in columns:
        for name, rank in ranks(column).items():
            found.setdefault(name, []).append(rank)
    return {name: sum(own) / len(own) for name, own in found.items()}
