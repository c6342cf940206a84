"""A search in a process of its own: LEDGER SAMPLER; prints the number of runs done so far."""

import sys
from typing import Any

from mcn.experiments import Ledger
from mcn.experiments.search import SearchResult, Space, search
from tests.experiments.engine.units import KARATE

SPACE = Space(
    "small",
    "",
    {"motifs": (["edge"], ["edge", "triangle"]), "lr": (0.01, 0.05, 1e30), "dropout": (0.0, 0.3, 0.6)},
    {"max_epochs": 20, "hidden": 2, "heads": 2, "attention": "gated"},
    {},
)
"""A learning rate of 1e30 fails."""


def small_search(path: str, sampler: str, **changes: Any) -> SearchResult:
    options = {"trials": 8, "seeds": 2, "final_seeds": 2, "batch": 3, "jobs": 1, **changes}
    return search(KARATE, SPACE, sampler=sampler, ledger=Ledger(path), **options)


if __name__ == "__main__":
    small_search(*sys.argv[1:], progress=lambda done, total, best: print(done, flush=True))
