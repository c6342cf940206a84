"""Reproducing table 2 or 3: run what is missing, then write the report."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mcn._files import write_text
from mcn._threads import available_threads
from mcn.baselines.registry import find_method
from mcn.experiments.engine.cells import Cell, cell
from mcn.experiments.engine.ledger import Ledger
from mcn.experiments.engine.runner import run_units
from mcn.experiments.engine.source import load
from mcn.experiments.paper.compared import Cells, Line, average_ranks, lines, pairs, ranked_means
from mcn.experiments.paper.document import Block
from mcn.experiments.paper.evidence import (
    Checked,
    check,
    kept_cells,
    known_runs,
    path_of,
    read_kept,
    short,
    write_kept,
)
from mcn.experiments.paper.plan import TABLES, Entry, Table, by_metric, plan
from mcn.experiments.paper.report import table_report
from mcn.experiments.paper.report_html import html
from mcn.experiments.paper.report_markdown import markdown
from mcn.experiments.paper.report_words import Circumstances
from mcn.train.run import versions

LEDGER, MARKDOWN, HTML, RESULTS = "ledger.sqlite", "report.md", "report.html", "results.json"


def reproduce_table(
    name: str,
    out: str | os.PathLike[str],
    *,
    seeds: Sequence[int] | None = None,
    methods: Iterable[str] | None = None,
    datasets: Iterable[str] | None = None,
    quick: bool = False,
    metric: str = "accuracy",
    jobs: int | None = None,
    data_root: str | os.PathLike[str] | None = None,
    resume: bool = False,
    command: str = "",
    keep: str | os.PathLike[str] | None = None,
    progress: Callable[[float], Any] | None = None,
    finished: Callable[[Entry, Cell], Any] | None = None,
) -> dict[str, Any]:
    """Fill table 2 (tab:acc), 3 (tab:DD), that of docs/beyond.md or that of the controls.

    Writes report.md, report.html and results.json to `out`.

    Every run goes into `out`/ledger.sqlite as soon as it is finished; with `resume` a second call runs what
    is missing, also for further seeds, methods or data sets.

    Args:
        name: "table2", "table3", "beyond" or "controls".
        out: folder for the ledger and the report; one that holds a ledger is refused unless `resume`.
        seeds: one run per method and data set for each; by default those of `TABLES`: 0 … 14 for
            table 2 and the controls, 0 … 9 for table 3, 200 … 229 for "beyond".
        methods, datasets: those to run; all by default.
        quick: few seeds, and the slow methods fewer or none; the report says which.
        metric: the figure to show, one of `mcn.train.metrics.METRICS`. The runs are the same for all of them:
            a second call with `resume` shows another figure of them without running any.
        jobs: runs at a time; as many as there are cores by default.
        data_root: folder to look for data sets in first.
        command: what the report says to repeat it with.
        keep: folder for a file of every run of the table; see `write_kept`. Runs that its files have already,
            whatever the table, are not run again (they have accuracies only: with another metric they are).
        progress: told how far it is, between 0 and 1.
        finished: told of every cell that is filled.

    Returns:
        The content of results.json.

    Raises:
        ValueError: an unknown name, a method whose packages are missing, or a folder with results in it.
    """
    began = time.perf_counter()
    table, folder = TABLES[name], Path(out)
    shown = by_metric(table, metric)
    usual = range(table.first_seed, table.first_seed + table.seeds)
    chosen = tuple(usual if seeds is None else seeds)
    entries = plan(table, chosen, methods=methods, datasets=datasets, quick=quick, data_root=_text(data_root))
    for method in {unit.method for entry in entries for unit in entry.units}:
        find_method(method).check_installed()
    check_out(folder, resume)
    protocols = {entry.dataset: _sizes(entry) for entry in entries if entry.units}
    ledger = Ledger(folder / LEDGER)
    known = known_runs(keep) if keep is not None and metric == "accuracy" else {}
    done = {
        key: vars(known[short(key)]) | {"key": key}
        for entry in entries
        for key in (unit.key() for unit in entry.units)
        if short(key) in known
    }
    cells = _run(entries, done, ledger, metric, jobs, progress, finished)
    entries = [
        replace(entry, note=f"some of its runs have no {metric}")
        if entry.units and cells[entry.dataset, entry.method] is None
        else entry
        for entry in entries
    ]
    if keep is not None:
        own = {entry.dataset for entry in entries} | {row["dataset"] for row in ledger.rows(test=True)}
        write_kept(keep, name, _everything(table, own, _text(data_root)), ledger)
    how = Circumstances(
        *(command, chosen, protocols, versions(), available_threads(), time.perf_counter() - began, metric),
        taken=len(done),
    )
    return _report(folder, shown, entries, cells, how)


def render_table(
    name: str,
    kept: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    command: str = "",
) -> dict[str, Any]:
    """Write the report on a table from the runs that a folder keeps (see `write_kept`); nothing is run.

    Returns:
        The content of results.json.

    Raises:
        ValueError: an unknown name, a file that is not one of runs, or a folder with results in it.
        OSError: there is no such file.
    """
    table, folder = TABLES[name], Path(out)
    runs = read_kept(path_of(kept, name))
    check_out(folder, resume)
    seeds = tuple(range(table.first_seed, table.first_seed + table.seeds))
    entries, cells = kept_cells(plan(table, seeds, methods=table.methods), runs)
    ran = {"mcn": ", ".join(sorted({run.version for run in runs}))}
    return _report(folder, table, entries, cells, Circumstances(command, seeds, {}, ran, None, None))


def check_table(
    name: str,
    kept: str | os.PathLike[str],
    number: int,
    *,
    methods: Iterable[str] | None = None,
    datasets: Iterable[str] | None = None,
    jobs: int | None = None,
    data_root: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> list[Checked]:
    """Run `number` of a table's kept runs again, drawn at random; see `mcn.experiments.paper.evidence`."""
    table = TABLES[name]
    seeds = range(table.first_seed, table.first_seed + table.seeds)
    entries = plan(table, seeds, methods=methods, datasets=datasets, data_root=_text(data_root))
    return check(entries, read_kept(path_of(kept, name)), number, jobs=jobs, progress=progress)


def _everything(table: Table, known: set[str], data_root: str | None) -> list[Entry]:
    """The plan of all methods and seeds of a table, for some data sets."""
    datasets = [name for name in table.paper.datasets if name in known]
    seeds = range(table.first_seed, table.first_seed + table.seeds)
    return plan(table, seeds, methods=table.methods, datasets=datasets, data_root=data_root)


def _report(
    folder: Path, table: Table, entries: Sequence[Entry], cells: Cells, how: Circumstances
) -> dict[str, Any]:
    write_report(folder, table_report(table, entries, cells, how))
    numbers = results(table, entries, cells, how)
    write_text(folder / RESULTS, json.dumps(numbers, indent=2, ensure_ascii=False) + "\n")
    return numbers


def check_out(folder: Path, resume: bool) -> None:
    """Refuse a folder that holds results already, unless they are to be gone on with."""
    there = [name for name in (LEDGER, MARKDOWN) if (folder / name).exists()]
    if there and not resume:
        raise ValueError(f"{folder} already holds results; choose another folder, or resume them")


def write_report(folder: Path, blocks: list[Block]) -> None:
    """Write a document as report.md and report.html."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / MARKDOWN, markdown(blocks))
    write_text(folder / HTML, html(blocks))


def _run(
    entries: list[Entry],
    done: Mapping[str, Mapping[str, Any]],
    ledger: Ledger,
    metric: str,
    jobs: int | None,
    progress: Callable[[float], Any] | None,
    finished: Callable[[Entry, Cell], Any] | None,
) -> dict[tuple[str, str], Cell | None]:
    costs = {unit.key(): entry.cost for entry in entries for unit in entry.units}
    total = sum(costs.values()) or 1.0
    open_ = {(e.dataset, e.method): (e, [unit.key() for unit in e.units]) for e in entries if e.units}

    known: dict[str, Mapping[str, Any]] = {}

    def look(row: Mapping[str, Any]) -> None:
        known[row["key"]] = row
        for place, (entry, keys) in list(open_.items()):
            if all(key in known for key in keys):
                del open_[place]
                filled = cell([known[key] for key in keys], metric)
                if finished is not None and filled is not None:
                    finished(entry, filled)
        if progress is not None:
            progress(sum(costs[key] for key in known) / total)

    for row in done.values():
        look(row)
    missing = [unit for e in entries for unit in e.units if unit.key() not in done]
    run_units(missing, ledger, jobs=jobs, finished=look)
    return {(e.dataset, e.method): cell([known[unit.key()] for unit in e.units], metric) for e in entries}


def _sizes(entry: Entry) -> str:
    data = load(entry.units[0].source, entry.units[0].seed).data
    sizes = [int(data[f"{part}_mask"].sum()) for part in ("train", "val", "test")]
    return f"{sizes[0]} training, {sizes[1]} validation, {sizes[2]} test nodes"


def _text(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


def results(table: Table, entries: Sequence[Entry], cells: Cells, how: Circumstances) -> dict[str, Any]:
    """All that the report says in numbers; 100 times the metric, None where there is none."""
    found = lines(table.paper, entries, cells)
    columns = [
        ranked_means(table.paper, cells, dataset, [line.method for line in own])
        for dataset, own in found.items()
    ]
    return {
        "table": table.name,
        "label": table.paper.label,
        "metric": how.metric,
        "command": how.command,
        "seeds": list(how.seeds),
        "rows": [_result(dataset, line) for dataset, own in found.items() for line in own],
        "average_rank": average_ranks(columns),
        "paired": [
            {"dataset": pair.dataset, "first": pair.first, "second": pair.second, **asdict(pair.gap)}
            for pair in pairs(cells, list(found))
        ],
        "protocols": dict(how.protocols),
        "versions": dict(how.versions),
        "taken": how.taken,
        "cores": how.cores,
        "wall_seconds": how.wall_seconds,
    }


def _result(dataset: str, line: Line) -> dict[str, Any]:
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
