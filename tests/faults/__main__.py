"""Make every write of the commands fail in turn, kill them at every one, and look at what is left.

    python -m tests.faults [--only NAME ...] [--every N] [--kinds KIND ...]

Prints the points and faults per command, and whatever was wrong. After each fault every output is whole or
absent, and going on ends with the same bytes as a run without it.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.faults.harness import prepare, try_faults, warm_up
from tests.faults.interpose import KINDS
from tests.faults.scenarios import SCENARIOS


def main() -> int:
    """Run, print, and return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(SCENARIOS), default=list(SCENARIOS), metavar="NAME")
    parser.add_argument("--every", type=int, default=1, help="make every n-th fault only")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    shared = Path("/dev/shm")  # files that need no disk, where there are such
    base = shared if shared.is_dir() and os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="mcn-faults-", dir=base))
    wrong = 0
    print(f"{'command':<20}{'points':>8}{'faults':>8}{'wrong':>8}{'seconds':>9}")
    try:
        needs = prepare(folder)
        warm_up(options.only, folder, needs)
        for name in options.only:
            began = time.monotonic()
            tally = try_faults(name, folder, needs, options.every, tuple(options.kinds))
            seconds = time.monotonic() - began
            print(
                f"{name:<20}{len(tally.points):>8}{tally.faults:>8}{len(tally.problems):>8}{seconds:>9.1f}",
                flush=True,
            )
            for problem in tally.problems:
                print(f"    {problem}")
            wrong += len(tally.problems)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
