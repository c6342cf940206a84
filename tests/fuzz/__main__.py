"""Fuzz every reader and every function of arrays.

    python -m tests.fuzz [--minutes M | --inputs N] [--seed S] [--jobs J] [--only NAME ...] [--found FOLDER]

Prints the inputs tried per target and what was found. A finding is made small and written to the folder
`found`; move it to `regressions` once it is mended, where every test run tries it. Same seed, same inputs.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.fuzz.runner import Tally, fuzz, warm_up
from tests.fuzz.target import TARGETS

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run, print, and return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, help="how long to go on (1 if --inputs is not given)")
    parser.add_argument("--inputs", type=int, help="inputs per target, instead of a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--only", nargs="+", choices=list(TARGETS), default=list(TARGETS), metavar="NAME")
    parser.add_argument("--found", type=Path, default=HERE / "found", help="where findings are written")
    options = parser.parse_args()
    minutes = options.minutes if options.minutes is not None else None if options.inputs else 1.0
    shared = Path("/dev/shm")  # files that need no disk, where there are such
    base = shared if shared.is_dir() and os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="mcn-fuzz-", dir=base))
    try:
        targets = [TARGETS[name] for name in options.only]
        warm_up(targets, folder)
        began = time.monotonic()
        tallies = fuzz(targets, folder, options.seed, minutes, options.inputs, options.jobs, options.found)
        report(tallies, time.monotonic() - began, options.jobs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return int(any(tally.kept for tally in tallies))


def report(tallies: list[Tally], seconds: float, jobs: int) -> None:
    """Print a line per target, and every finding."""
    print(f"{'target':<18}{'inputs':>10}{'accepted':>10}{'refused':>10}{'findings':>10}")
    for tally in tallies:
        print(
            f"{tally.target:<18}{tally.tried:>10,}{tally.taken:>10,}{tally.refused:>10,}{len(tally.kept):>10}"
        )
    tried = sum(tally.tried for tally in tallies)
    print(
        f"{'together':<18}{tried:>10,}   {seconds:.0f} s, {tried / seconds / jobs:.0f} inputs/s per process"
    )
    for tally in tallies:
        for problem, path in tally.kept:
            print(f"{tally.target}: {problem}\n    {path}")


if __name__ == "__main__":
    sys.exit(main())
