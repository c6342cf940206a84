"""What the studies share: running methods into a CSV file, tables of such a file, and the command line."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcn.experiments import Ledger, Source, Unit, markdown_table, paired, run_units

COLUMNS = ("dataset", "method", "seed", "val_accuracy", "test_accuracy", "epochs", "seconds", "version")
Run = Mapping[str, Any]
"""A run in a file of results, by column."""


@dataclass(frozen=True)
class Study:
    """Rows to run on data sets with seeds, and the differences between them that are worth a line.

    Attributes:
        folder: of the study; the runs of version 0.2.0 are in its results.csv, or in `results`.
        rows: by name, a function that makes the unit of a data set and a seed.
        datasets, seeds: what is run unless told otherwise.
        pairs: rows whose paired difference is shown.
    """

    folder: Path
    rows: Mapping[str, Callable[[Source, int], Unit]]
    datasets: Sequence[str]
    seeds: range
    pairs: Sequence[tuple[str, str]] = ()
    results: Path | None = None

    def kept(self) -> list[Run]:
        """Return the runs that are kept with the study."""
        if self.results is None:
            return read_runs(self.folder / "results.csv")
        runs = read_runs(self.results)
        return [run for run in runs if run["method"] in self.rows and run["dataset"] in self.datasets]

    def run(
        self,
        out: Path,
        rows: Sequence[str],
        datasets: Sequence[str],
        seeds: range,
        data_root: str | None = None,
        jobs: int | None = None,
    ) -> list[Run]:
        """Run rows into `out`/results.csv; what the ledger beside it has is not run again."""
        places = [(dataset, row) for dataset in datasets for row in rows for _ in seeds]
        units = [
            self.rows[row](Source(dataset, data_root=data_root), seed)
            for dataset in datasets
            for row in rows
            for seed in seeds
        ]
        out.mkdir(parents=True, exist_ok=True)
        finished = run_units(units, Ledger(out / "ledger.sqlite"), jobs=jobs)
        runs: list[Run] = [
            {**row, "dataset": dataset, "method": name}
            for (dataset, name), row in zip(places, finished, strict=True)
        ]
        write_runs(out / "results.csv", COLUMNS, runs)
        return runs


def plain(method: str, **settings: Any) -> Callable[[Source, int], Unit]:
    """Return what makes the units of a method: its preset for the data set, with these settings changed."""
    return lambda source, seed: Unit(source, method, settings, seed)


def read_runs(path: Path) -> list[Run]:
    """Read a file of results; none if there is none."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_runs(path: Path, columns: Sequence[str], runs: Sequence[Run]) -> None:
    """Write a file of results."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        for run in runs:
            rounded = {key: f"{run[key]:.6g}" for key in columns if isinstance(run.get(key), float)}
            table.writerow({**run, **rounded})


def accuracies(runs: Sequence[Run]) -> dict[str, dict[str, dict[int, float]]]:
    """Return test accuracies in percent by data set, row and seed."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for run in runs:
        row = found.setdefault(run["dataset"], {}).setdefault(run["method"], {})
        row[int(run["seed"])] = 100 * float(run["test_accuracy"])
    return found


def gap(first: Mapping[int, float], second: Mapping[int, float]) -> str:
    """Return the mean paired difference with its standard error.

    >>> gap({0: 80.0, 1: 82.0}, {0: 79.0, 1: 79.0})
    '+2.0 ± 1.0'
    """
    found = paired(first, second)
    if found is None:
        return "–"
    return f"{found.mean:+.1f}" + ("" if found.error is None else f" ± {found.error:.1f}")


def mean(values: Mapping[int, float]) -> str:
    """Return the mean of some runs ± their sample standard deviation, and how many they are."""
    if not values:
        return "–"
    spread = f" ± {np.std(list(values.values()), ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(list(values.values())):.1f}{spread} ({len(values)})"


def tables(runs: Sequence[Run], pairs: Sequence[tuple[str, str]]) -> str:
    """Return what runs amount to as tables in Markdown, with the version that made them."""
    found = accuracies(runs)
    rows = list(dict.fromkeys(run["method"] for run in runs))
    shown = [(a, b) for a, b in pairs if a in rows and b in rows]
    means = [[dataset, *(mean(own.get(row, {})) for row in rows)] for dataset, own in found.items()]
    gaps = [
        [dataset, *(gap(own.get(a, {}), own.get(b, {})) for a, b in shown)] for dataset, own in found.items()
    ]
    versions = ", ".join(sorted({run["version"] for run in runs}))
    parts = [
        f"Test accuracy in percent, mean ± standard deviation (runs), by version {versions} of mcn.",
        markdown_table(["data set", *rows], means),
    ]
    if shown:
        parts += [
            "Differences of runs with the same seed, mean ± standard error:",
            markdown_table(["data set", *(f"{a} − {b}" for a, b in shown)], gaps),
        ]
    return "\n\n".join(parts)


def command_line(study: Study, description: str, arguments: Sequence[str] | None = None) -> None:
    """Run a study from the command line, or print the tables of the runs that are kept (`--report`)."""
    parser = argparse.ArgumentParser(prog=f"python -m studies.{study.folder.name}", description=description)
    parser.add_argument("--report", action="store_true", help="print tables of the kept runs; run nothing")
    parser.add_argument("--rows", default=",".join(study.rows), help="what to run, separated by commas")
    parser.add_argument("--datasets", default=",".join(study.datasets))
    parser.add_argument("--seeds", type=int, default=len(study.seeds), help="runs of a row on a data set")
    parser.add_argument("--data-root", help="folder to look for data sets in first")
    parser.add_argument("--jobs", type=int, help="runs at a time; as many as cores if not given")
    parser.add_argument("--out", type=Path, default=Path("runs") / study.folder.name)
    given = parser.parse_args(arguments)
    if given.report:
        print(tables(study.kept(), study.pairs))
        return
    rows, datasets = given.rows.split(","), given.datasets.split(",")
    for row in rows:
        if row not in study.rows:
            parser.error(f"--rows: there are {', '.join(study.rows)}, got {row!r}")
    seeds = range(study.seeds.start, study.seeds.start + given.seeds)
    runs = study.run(given.out, rows, datasets, seeds, given.data_root, given.jobs)
    print(tables(runs, study.pairs))
