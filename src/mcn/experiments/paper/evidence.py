"""The runs behind a table as a small text file, to be kept with the project: written, read, run again."""

from __future__ import annotations

import csv
import io
import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcn._files import atomic_write
from mcn.experiments.engine.cells import Cell, cell
from mcn.experiments.engine.ledger import Ledger
from mcn.experiments.engine.runner import run_units
from mcn.experiments.engine.unit import Unit
from mcn.experiments.paper.plan import TABLES, Entry

COLUMNS = (
    "dataset",
    "method",
    "seed",
    "val_accuracy",
    "test_accuracy",
    "epochs",
    "seconds",
    "version",
    "key",
)
_KEY = 16  # characters of a key: enough to tell any two runs apart


@dataclass(frozen=True)
class Kept:
    """A run as it is kept: what was run, both accuracies (fractions), the version that ran it, its key."""

    dataset: str
    method: str
    seed: int
    val_accuracy: float
    test_accuracy: float
    epochs: int | None
    seconds: float
    version: str
    key: str


@dataclass(frozen=True)
class Checked:
    """A kept run and what running it again gave."""

    kept: Kept
    again: Mapping[str, Any]

    @property
    def same(self) -> bool:
        """Whether both accuracies are the same."""
        return all(self.again[name] == getattr(self.kept, name) for name in ("val_accuracy", "test_accuracy"))


def path_of(folder: str | os.PathLike[str], table: str) -> Path:
    """Where a folder keeps the runs of a table."""
    return Path(folder) / f"{table}.csv"


def write_kept(folder: str | os.PathLike[str], table: str, entries: Iterable[Entry], ledger: Ledger) -> Path:
    """Write the runs of a table that a ledger has, and those that the folder has already, in order.

    A run in the file whose key is not one of the table's any more (other settings, other data) is dropped;
    runs on data sets that `entries` leaves out stay as they are, before the others. A run that stands in the
    file of another table is the same run here.
    """
    path, planned = path_of(folder, table), list(entries)
    before = known_runs(folder)
    datasets = {entry.dataset for entry in planned}
    there = read_kept(path) if path.exists() else []
    found = [run for run in there if run.dataset not in datasets]
    for entry in planned:
        for unit in entry.units:
            key = unit.key()
            row = ledger.get(key)
            if row is not None and row["error"] is None:
                found.append(_kept(entry, row))
            elif (run := before.get(short(key))) is not None:
                found.append(replace(run, method=entry.method))
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(["" if (v := getattr(run, name)) is None else v for name in COLUMNS] for run in found)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
    return path


def _kept(entry: Entry, row: Mapping[str, Any]) -> Kept:
    # Six digits: a share of a thousand nodes has three.
    return Kept(
        entry.dataset,
        entry.method,
        int(row["seed"]),
        round(float(row["val_accuracy"]), 6),
        round(float(row["test_accuracy"]), 6),
        row["epochs"],
        round(float(row["seconds"]), 2),
        row["version"],
        short(row["key"]),
    )


def short(key: str) -> str:
    """Return a key as it is kept."""
    return key[:_KEY]


def known_runs(folder: str | os.PathLike[str]) -> dict[str, Kept]:
    """Return the runs of all tables that a folder keeps, by key.

    Raises:
        ValueError: a table's file is not one of runs.
    """
    files = (path_of(folder, table) for table in TABLES)
    return {run.key: run for path in files if path.exists() for run in read_kept(path)}


def read_kept(path: str | os.PathLike[str]) -> list[Kept]:
    """Read what `write_kept` wrote.

    Raises:
        ValueError: names the file, the line and what is wrong there.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        if tuple(header) != COLUMNS:
            raise ValueError(f"{path}: line 1 is {','.join(header)}; expected {','.join(COLUMNS)}")
        return [_parsed(path, reader.line_num, line) for line in reader]


def _parsed(path: str | os.PathLike[str], number: int, line: list[str]) -> Kept:
    try:
        dataset, method, seed, val, test, epochs, seconds, version, key = line
        steps = int(epochs) if epochs else None
        run = Kept(dataset, method, int(seed), float(val), float(test), steps, float(seconds), version, key)
        if not (0 <= run.val_accuracy <= 1 and 0 <= run.test_accuracy <= 1):
            raise ValueError
    except ValueError:
        raise ValueError(f"{path}: line {number} is {','.join(line)}; expected a run") from None
    return run


def kept_cells(
    entries: Sequence[Entry], kept: Sequence[Kept]
) -> tuple[list[Entry], dict[tuple[str, str], Cell | None]]:
    """The cells that kept runs fill; entries with fewer runs than were planned say so in their note."""
    by_cell: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for run in kept:
        by_cell.setdefault((run.dataset, run.method), []).append(vars(run))
    said, cells = [], {}
    for entry in entries:
        rows = by_cell.get((entry.dataset, entry.method), [])
        planned = len(entry.units)
        note = "" if len(rows) >= planned else f"{len(rows)} of {planned} runs" if rows else "not run yet"
        said.append(replace(entry, note=note))
        cells[entry.dataset, entry.method] = cell(rows)
    return said, cells


def check(
    entries: Sequence[Entry],
    kept: Sequence[Kept],
    number: int,
    *,
    jobs: int | None = None,
    chance: random.Random | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> list[Checked]:
    """Run some of the kept runs again, drawn at random, and put both results side by side.

    Raises:
        ValueError: there is nothing to run again.
    """
    units = {(e.dataset, e.method, unit.seed): unit for e in entries for unit in e.units}
    known = [run for run in kept if (run.dataset, run.method, run.seed) in units]
    if not known:
        raise ValueError("no kept run belongs to what was asked for; choose other methods or data sets")
    drawn = (chance or random.Random()).sample(known, min(number, len(known)))  # noqa: S311 - no secret
    chosen: list[Unit] = [units[run.dataset, run.method, run.seed] for run in drawn]
    rows = run_units(chosen, None, jobs=jobs, progress=progress)
    return [
        Checked(run, row | {name: round(row[name], 6) for name in ("val_accuracy", "test_accuracy")})
        for run, row in zip(drawn, rows, strict=True)
    ]
