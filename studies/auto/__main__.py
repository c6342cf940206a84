"""Run the study: ``python -m studies.auto``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from mcn import __version__
from studies.auto import CITATION, FIRST, PEERS, SETS, rows_of
from studies.auto.tables import report
from studies.rows import read_runs, write_runs

COLUMNS = ("dataset", "method", "seed", "test", "seconds", "version")
RESULTS = Path(__file__).parent / "results.csv"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is not in the file of results yet, split by split; or print tables of what is kept."""
    parser = argparse.ArgumentParser(prog="python -m studies.auto", description=__doc__)
    parser.add_argument("--report", action="store_true", help="print tables of the kept runs; run nothing")
    parser.add_argument("--datasets", default=",".join((*SETS, *CITATION)))
    parser.add_argument("--splits", default="0-9", help="first and last, counted from 0")
    parser.add_argument(
        "--methods", default=",".join(("auto", "auto-train", *PEERS)), help="of auto, its peers"
    )
    parser.add_argument("--out", type=Path, default=Path("runs") / "auto")
    given = parser.parse_args(arguments)
    if given.report:
        print(report(read_runs(RESULTS)))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "results.csv"
    runs = [dict(run) for run in read_runs(path)]
    first, last = map(int, given.splits.split("-"))
    for dataset in given.datasets.split(","):
        for number in range(first, last + 1):
            split = FIRST.get(dataset, 0) + number
            done = {run["method"] for run in runs if (run["dataset"], int(run["seed"])) == (dataset, split)}
            methods = [method for method in given.methods.split(",") if method not in done]
            for row in rows_of(dataset, split, methods):
                print(f"{dataset} {split} {row['method']}: {row['test']:.4f}", flush=True)
                runs.append({**row, "version": __version__})
            write_runs(path, COLUMNS, runs)
    print(report(read_runs(path)))


if __name__ == "__main__":
    main()
