"""Run quick units in a process of its own: LEDGER JOBS EPOCHS SEEDS; prints the number done so far."""

from __future__ import annotations

import sys

from mcn.experiments import Ledger, run_units
from tests.experiments.engine.units import quick


def main() -> None:
    path, jobs, epochs, seeds = sys.argv[1], *map(int, sys.argv[2:])
    units = [quick(method, seed, max_epochs=epochs) for seed in range(seeds) for method in ("paper", "gat")]
    run_units(units, Ledger(path), jobs=jobs, progress=lambda done, total: print(done, flush=True))


if __name__ == "__main__":
    main()
