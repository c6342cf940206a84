"""The numbers of a reproduced table as plain values, for results.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mcn.experiments.compared import Cells, Line, lines, pairs, ranked_means
from mcn.experiments.plan import Entry, Table
from mcn.experiments.ranks import average_ranks
from mcn.experiments.report_words import Circumstances


def results(table: Table, entries: Sequence[Entry], cells: Cells, how: Circumstances) -> dict[str, Any]:
    """All that the report says in numbers; accuracies in percent, None where there is none."""
    found = lines(table.paper, entries, cells)
    columns = [
        ranked_means(table.paper, cells, dataset, [line.method for line in own])
        for dataset, own in found.items()
    ]
    return {
        "table": table.name,
        "label": table.paper.label,
        "command": how.command,
        "seeds": list(how.seeds),
        "rows": [_row(dataset, line) for dataset, own in found.items() for line in own],
        "average_rank": average_ranks(columns),
        "paired": [
            {"dataset": pair.dataset, "first": pair.first, "second": pair.second, **asdict(pair.gap)}
            for pair in pairs(cells, list(found))
        ],
        "protocols": dict(how.protocols),
        "versions": dict(how.versions),
        "cores": how.cores,
        "wall_seconds": how.wall_seconds,
    }


def _row(dataset: str, line: Line) -> dict[str, Any]:
    cell = line.cell
    return {
        "dataset": dataset,
        "method": line.method,
        "paper": line.value,
        "paper_std": None if line.spread is None else line.spread[0],
        "paper_rank": line.paper_rank,
        "mean": None if cell is None else cell.mean,
        "std": None if cell is None else cell.std,
        "runs": 0 if cell is None else cell.runs,
        "rank": line.rank,
        "difference": line.difference,
        "within_noise": line.within_noise,
        "val_mean": None if cell is None else cell.val_mean,
        "seconds_per_run": None if cell is None else cell.seconds,
        "test": {} if cell is None else {str(seed): value for seed, value in cell.test.items()},
        "note": line.note,
    }
