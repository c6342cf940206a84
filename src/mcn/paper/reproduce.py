"""Reproducing table 2 or 3: run what is missing, write every run to a small file, write the report.

The file, `table2.csv` or `table3.csv`, is what a project keeps: `read_table` makes the report from it, and
`check_table` runs some of its runs again.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from graphmotifs._files import write_text
from graphmotifs._messages import one_of
from mcn.experiments.engine.ledger import Ledger
from mcn.experiments.engine.runner import run_units
from mcn.paper.report import table_report, table_results
from mcn.paper.tables import TABLES, PlannedRow, Table, plan

LEDGER, REPORT, RESULTS = "ledger.sqlite", "report.md", "results.json"


@dataclass(frozen=True)
class RunRecord:
    """A run as a file keeps it: what was run, both accuracies (fractions), the version of mcn, its key."""

    dataset: str
    method: str
    seed: int
    val_accuracy: float
    test_accuracy: float
    epochs: int | None
    seconds: float
    version: str
    key: str

    @classmethod
    def of(cls, planned: PlannedRow, row: Mapping[str, Any]) -> RunRecord:
        """The record of a row of `run_units`; six digits: a share of a thousand nodes has three."""
        val, test = (round(float(row[name]), 6) for name in ("val_accuracy", "test_accuracy"))
        return cls(
            *(planned.dataset, planned.row, int(row["seed"]), val, test, row["epochs"]),
            *(round(float(row["seconds"]), 2), row["version"], row["key"][:16]),
        )


class CheckedRun(NamedTuple):
    """A recorded run and what running it again gave."""

    record: RunRecord
    again: RunRecord

    @property
    def same(self) -> bool:
        """Whether both accuracies are the same."""
        before, after = ((run.val_accuracy, run.test_accuracy) for run in self)
        return before == after


def reproduce_table(
    name: str,
    out: str | os.PathLike[str],
    *,
    seeds: Sequence[int] | None = None,
    methods: Iterable[str] | None = None,
    datasets: Iterable[str] | None = None,
    jobs: int | None = None,
    data_root: str | os.PathLike[str] | None = None,
    resume: bool = False,
    command: str = "",
    progress: Callable[[int, int], Any] | None = None,
) -> dict[str, Any]:
    """Fill table 2 (tab:acc) or 3 (tab:DD).

    Writes report.md, results.json and a file of every run (`name`.csv) to `out`. Every run goes into
    `out`/ledger.sqlite as soon as it is finished; with `resume` a second call runs what is missing, also for
    further seeds, methods or data sets.

    Args:
        out: folder for the ledger and the report; one that holds a ledger is refused unless `resume`.
        seeds: one run per row and data set for each; 0 … 14 for table 2, 0 … 9 for table 3 by default.
        methods, datasets: those to run; all by default.
        jobs, progress: see `run_units`.
        data_root: folder to look for data sets in first.
        command: what the report says to repeat it with.

    Returns:
        The content of results.json.
    """
    one_of("table", name, TABLES)
    table, folder = TABLES[name], Path(out)
    planned = plan(table, seeds, rows=methods, datasets=datasets, data_root=data_root)
    check_out(folder, resume)
    units = [(one, unit) for one in planned for unit in one.units]
    rows = run_units([unit for _, unit in units], Ledger(folder / LEDGER), jobs=jobs, progress=progress)
    records = [RunRecord.of(one, row) for (one, _), row in zip(units, rows, strict=True)]
    write_runs(folder / f"{name}.csv", records)
    return write_table(folder, _results(table, planned, records), command)


def read_table(name: str, folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return a table (see `table_results`) from the runs that a folder keeps in `name`.csv; run nothing."""
    one_of("table", name, TABLES)
    table = TABLES[name]
    return _results(table, plan(table), read_runs(Path(folder) / f"{name}.csv"))


def _results(table: Table, planned: Sequence[PlannedRow], records: Iterable[RunRecord]) -> dict[str, Any]:
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        runs.setdefault((record.dataset, record.method), []).append(asdict(record))
    versions = {run["version"] for own in runs.values() for run in own}
    return table_results(table, planned, runs, ", ".join(sorted(versions)) or "none")


def check_table(
    name: str,
    folder: str | os.PathLike[str],
    number: int,
    *,
    methods: Iterable[str] | None = None,
    datasets: Iterable[str] | None = None,
    jobs: int | None = None,
    data_root: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> list[CheckedRun]:
    """Run `number` of the runs that a folder keeps again, drawn at random, and put both side by side."""
    planned = plan(TABLES[name], rows=methods, datasets=datasets, data_root=data_root)
    units = {(one.dataset, one.row, unit.seed): (one, unit) for one in planned for unit in one.units}
    kept = read_runs(Path(folder) / f"{name}.csv")
    known = [run for run in kept if (run.dataset, run.method, run.seed) in units]
    if not known:
        raise ValueError("no kept run belongs to what was asked for; choose other methods or data sets")
    drawn = random.sample(known, min(number, len(known)))
    chosen = [units[run.dataset, run.method, run.seed] for run in drawn]
    rows = run_units([unit for _, unit in chosen], None, jobs=jobs, progress=progress)
    again = [RunRecord.of(one, row) for (one, _), row in zip(chosen, rows, strict=True)]
    return [CheckedRun(*pair) for pair in zip(drawn, again, strict=True)]


def write_runs(path: Path, records: Iterable[RunRecord]) -> None:
    """Write a file of runs."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    table.writerows(["" if value is None else value for value in asdict(one).values()] for one in records)
    write_text(path, text.getvalue())


def read_runs(path: Path) -> list[RunRecord]:
    """Read what `write_runs` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        if header != _COLUMNS:
            raise ValueError(f"{path}: line 1 is {','.join(header)}; expected {','.join(_COLUMNS)}")
        return [_parsed(path, reader.line_num, line) for line in reader]


_COLUMNS = [field.name for field in fields(RunRecord)]


def _parsed(path: Path, number: int, line: list[str]) -> RunRecord:
    try:
        dataset, method, seed, val, test, epochs, seconds, version, key = line
        steps = int(epochs) if epochs else None
        run = RunRecord(
            dataset, method, int(seed), float(val), float(test), steps, float(seconds), version, key
        )
        if not (0 <= run.val_accuracy <= 1 and 0 <= run.test_accuracy <= 1):
            raise ValueError
    except ValueError:
        raise ValueError(f"{path}: line {number} is {','.join(line)}; expected a run") from None
    return run


def check_out(folder: Path, resume: bool) -> None:
    """Refuse a folder that holds results already, unless they are to be gone on with."""
    there = [name for name in (LEDGER, REPORT) if (folder / name).exists()]
    if there and not resume:
        raise ValueError(f"{folder} already holds results; choose another folder, or resume them")


def write_table(folder: Path, results: dict[str, Any], command: str) -> dict[str, Any]:
    """Write what `read_table` or `reproduce_table` gave as report.md and results.json; and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / REPORT, table_report(results, command))
    write_text(folder / RESULTS, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    return results
