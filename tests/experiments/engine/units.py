"""Small units to run, and rows without what differs from run to run.

As a process of its own, LEDGER JOBS EPOCHS SEEDS: run quick units and print the number done so far.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mcn.paper.baselines  # noqa: F401 - registers the methods that the units name
from mcn.experiments import Ledger, Source, Unit, run_units

KARATE = Source("karate")
QUICK: dict[str, Any] = {"max_epochs": 5, "hidden": 2, "heads": 2}


def quick(method: str = "paper", seed: int = 0, **changes: Any) -> Unit:
    """A run of five epochs on karate."""
    test = changes.pop("test", True)
    return Unit(KARATE, method, {**QUICK, **changes}, seed, test)


def timeless(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows without their seconds."""
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in rows]


def write_graph(folder: Path, swap_test: bool = False) -> Source:
    """A ring of 24 nodes in two classes with a split, as files; `swap_test` exchanges the test labels."""
    folder.mkdir(parents=True, exist_ok=True)
    edges, nodes = ["source,target"], ["id,label,split,left,right"]
    for i in range(24):
        edges += [f"{i},{(i + 1) % 24}", f"{i},{(i + 2) % 24}"]
        split = ("train", "val", "test")[i % 3]
        red = (i < 12) != (swap_test and split == "test")
        nodes.append(f"{i},{'red' if red else 'blue'},{split},{i < 14:d},{i % 5}")
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")
    (folder / "nodes.csv").write_text("\n".join(nodes) + "\n")
    return Source(graph=str(folder / "edges.csv"), nodes=str(folder / "nodes.csv"))


if __name__ == "__main__":
    path, jobs, epochs, seeds = sys.argv[1], *map(int, sys.argv[2:])
    units = [quick(method, seed, max_epochs=epochs) for seed in range(seeds) for method in ("paper", "gat")]
    run_units(units, Ledger(path), jobs=jobs, progress=lambda done, total: print(done, flush=True))
