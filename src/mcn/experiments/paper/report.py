"""The report of a reproduced table: the paper's numbers, ours, and what may be said of the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcn.experiments.engine.cells import Cell, Difference
from mcn.experiments.paper.compared import Cells, Line, average_ranks, lines, pairs, ranked_means
from mcn.experiments.paper.document import Block, Bullets, Grid, Heading, Strong, Text
from mcn.experiments.paper.plan import Entry, Table
from mcn.experiments.paper.report_words import (
    Circumstances,
    notes,
    opening,
    protocol,
    reading,
    repeat,
    settings,
)
from mcn.experiments.paper.reported import PaperTable

DASH = "–"
_HEADER = [
    *("method", "paper", "paper's rank", "ours", "n", "our rank"),
    *("difference", "within noise", "validation", "s per run"),
]
_PAPERS = ("paper", "paper's rank", "our rank", "difference", "within noise")
"""Columns that need a value of the paper."""


def table_report(table: Table, entries: Sequence[Entry], cells: Cells, how: Circumstances) -> list[Block]:
    """The blocks of the report on table 2 or 3."""
    found = lines(table.paper, entries, cells)
    blocks: list[Block] = [
        Heading(f"{table.paper.title} ({table.paper.label})"),
        Text(opening(table, how)),
        summary_grid(table.paper, found, cells),
    ]
    for dataset, own in found.items():
        blocks += [Heading(dataset), dataset_grid(own, bool(table.paper.rows))]
    blocks += paired_section(cells, list(found))
    blocks += [Heading("How to read this"), Bullets(reading(table.paper))]
    blocks += [Heading("Protocol"), Bullets([*protocol(table, entries, cells), *settings(entries)])]
    if said := notes(table.paper, entries, cells):
        blocks += [Heading("Notes"), Bullets(said)]
    return [*blocks, *repeat(cells, how)]


def summary_grid(paper: PaperTable, found: Mapping[str, Sequence[Line]], cells: Cells) -> Grid:
    """The table as the paper prints it, with our numbers: mean ± deviation (rank), average rank."""
    methods = list(dict.fromkeys(line.method for own in found.values() for line in own))
    average = average_ranks([ranked_means(paper, cells, dataset, methods) for dataset in found])
    printed = {name: row.avg_rank for name, row in paper.rows.items() if row.avg_rank is not None}
    rows = []
    for method in methods:
        row = [method]
        for own in found.values():
            line = next(line for line in own if line.method == method)
            rank = "" if line.rank is None else f" ({line.rank:g})"
            row.append(_marked(_ours(line) + rank, line, own))
        row.append(_rounded(average.get(method)))
        if printed:
            row.append(_rounded(printed.get(method)))
        rows.append(row)
    if not paper.rows:
        return Grid(["method", *found], [row[:-1] for row in rows], "Our runs")
    header = ["method", *found, "avg. rank", *(["paper's avg. rank"] if printed else [])]
    return Grid(header, rows, "Our runs (rank in brackets)")


def dataset_grid(own: Sequence[Line], in_paper: bool = True) -> Grid:
    """One data set: the paper's value and ours, ranks, the difference and whether it is noise, time.

    Args:
        in_paper: whether the table is one of the paper's; otherwise there is nothing to compare with.
    """
    rows = []
    for line in own:
        cell = line.cell
        spread = None if line.spread is None else line.spread[0]
        rows.append(
            [
                line.method,
                DASH if line.value is None else _with_spread(line.value, spread),
                _rank(line.paper_rank),
                _marked(_ours(line), line, own),
                DASH if cell is None else str(cell.runs),
                _rank(line.rank),
                DASH if line.difference is None else f"{line.difference:+.1f}",
                {True: "yes", False: "no", None: DASH}[line.within_noise],
                DASH if cell is None else f"{cell.val_mean:.1f}",
                DASH if cell is None else f"{cell.seconds:.1f}",
            ]
        )
    kept = [i for i, name in enumerate(_HEADER) if in_paper or name not in _PAPERS]
    return Grid([_HEADER[i] for i in kept], [[row[i] for i in kept] for row in rows])


def paired_section(cells: Cells, datasets: Sequence[str]) -> list[Block]:
    """The paired differences, under a heading; nothing where there are none."""
    rows = [
        [f"{pair.first} − {pair.second}, {pair.dataset}", show_difference(pair.gap), str(pair.gap.pairs)]
        for pair in pairs(cells, datasets)
    ]
    if not rows:
        return []
    text = "Mean over the seeds of the difference of two methods with the same seed, ± its standard error."
    return [Heading("Paired differences"), Text(text), Grid(["methods", "points", "pairs"], rows)]


def show_difference(gap: Difference) -> str:
    """A paired difference in points, with its standard error where there is one."""
    return f"{gap.mean:+.2f}" if gap.error is None else f"{gap.mean:+.2f} ± {gap.error:.2f}"


def _ours(line: Line) -> str:
    """Our score; a star leads to the notes."""
    star = "*" if line.note else ""
    return (DASH if line.cell is None else _with_spread(line.cell.mean, line.cell.std)) + star


def _marked(text: str, line: Line, own: Sequence[Line]) -> str:
    """The text, strong if the line has the best mean of its data set."""
    return Strong(text) if line.cell is not None and line.cell == _best(own) else text


def _best(own: Sequence[Line]) -> Cell:
    return max((line.cell for line in own if line.cell is not None), key=lambda cell: cell.merit)


def _with_spread(mean: float, std: float | None) -> str:
    return f"{mean:.1f}" if std is None else f"{mean:.1f} ± {std:.1f}"


def _rank(value: float | None) -> str:
    return DASH if value is None else f"{value:g}"


def _rounded(value: float | None) -> str:
    return DASH if value is None else f"{value:.1f}"
