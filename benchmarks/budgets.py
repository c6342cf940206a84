"""Whether `--minutes` holds: processor seconds of training against what was asked, on graphs of many shapes.

    python benchmarks/budgets.py [--minutes 5] [--graphs karate,wiki] [--data-root DIR]

Every graph is trained by `mcn train` in a process of its own, with its report. Graphs of data sets that are
not there are left out. What else runs on the machine does not count towards processor seconds, but by the
clock training ends after 1.5 times the minutes: then it says "clock", and the ratio may be low.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

DATASETS = ("karate", "texas", "cora", "minesweeper", "amazon-photo")


def _write(folder: Path, edges: np.ndarray, columns: dict[str, np.ndarray]) -> list[str]:
    """Write two CSV files; return the options of `mcn train` that name them."""
    np.savetxt(folder / "edges.csv", edges, "%d", ",", header="source,target", comments="")
    ids = np.arange(len(columns["label"]))
    table = [
        ",".join(["id", *columns]),
        *(",".join(map(str, row)) for row in zip(ids, *columns.values(), strict=True)),
    ]
    (folder / "nodes.csv").write_text("\n".join(table) + "\n")
    return ["--graph", str(folder / "edges.csv"), "--nodes", str(folder / "nodes.csv")]


def _random_edges(draw: np.random.Generator, nodes: int, count: int, label: np.ndarray) -> np.ndarray:
    """Draw edges, of which half join nodes with neighbouring labels."""
    ends = draw.integers(0, nodes, (count, 2))
    order, place = np.argsort(label, kind="stable"), np.argsort(np.argsort(label, kind="stable"))
    near = np.clip(place[ends[:, 0]] + draw.integers(-20, 21, count), 0, nodes - 1)
    return np.column_stack([ends[:, 0], np.where(draw.random(count) < 0.5, order[near], ends[:, 1])])


def airports(folder: Path) -> list[str]:
    """131 nodes in four classes that go with degree, no columns."""
    draw = np.random.default_rng(1)
    weight = draw.pareto(1.5, 131) + 0.2
    ends = draw.choice(131, (1100, 2), p=weight / weight.sum())
    label = np.argsort(np.argsort(weight)) * 4 // 131
    return _write(folder, ends, {"label": np.array(list("abcd"))[label]})


def wiki(folder: Path) -> list[str]:
    """5,000 nodes with 2,000 columns of words and a numeric target."""
    draw = np.random.default_rng(2)
    words = draw.random((5000, 2000)) < 0.01 * draw.random(2000)
    target = words[:, :50] @ draw.normal(size=50) + 0.5 * draw.normal(size=5000)
    columns = {f"word{i}": words[:, i].astype(int) for i in range(2000)}
    edges = _random_edges(draw, 5000, 60_000, target)
    return [*_write(folder, edges, {"label": target.round(4), **columns}), "--task", "regression"]


def dense(folder: Path) -> list[str]:
    """12,000 nodes with 519,000 edges and ten numeric columns."""
    draw = np.random.default_rng(3)
    values = draw.normal(size=(12_000, 10)).round(3)
    label = values[:, 0] + values[:, 1] * values[:, 2] + draw.normal(size=12_000) > 0.5
    edges = _random_edges(draw, 12_000, 519_000, values[:, 0])
    return _write(
        folder, edges, {"label": np.where(label, "yes", "no")} | {f"x{i}": values[:, i] for i in range(10)}
    )


def many_classes(folder: Path) -> list[str]:
    """4,000 nodes in 2,000 classes."""
    draw = np.random.default_rng(4)
    label = draw.permutation(np.arange(4000) // 2)
    columns = {f"x{i}": (label * (i + 1) % 97 + draw.normal(size=4000)).round(3) for i in range(10)}
    names = np.array([f"c{i}" for i in range(2000)])[label]
    return _write(folder, _random_edges(draw, 4000, 20_000, label), {"label": names, **columns})


GENERATED: dict[str, Callable[[Path], list[str]]] = {
    "airports": airports,
    "wiki": wiki,
    "dense": dense,
    "many-classes": many_classes,
}


def measure(name: str, minutes: float, data_root: str | None) -> str:
    """Train on a graph; return its row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        if name in GENERATED:
            graph = GENERATED[name](Path(folder))
        else:
            graph = ["--dataset", name, *([] if data_root is None else ["--data-root", data_root])]
        words = ["train", *graph, "--recipe", "auto", "--minutes", str(minutes), "--beside", "none", "--json"]
        command = [sys.executable, "-m", "mcn", *words, "--out", f"{folder}/run"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"| {name} | {done.stderr.strip().splitlines()[-1]} |"
        summary = json.loads(Path(folder, "run", "summary.json").read_text())
        size = sum(path.stat().st_size for path in Path(folder, "run").iterdir()) / 1e6
    phases, schedule = summary["phase_seconds"], summary["schedule"]
    spent = [phases[phase]["processor"] for phase in ("start and reading", "counting and preparation")]
    asked, training = schedule["asked_seconds"], schedule["processor_seconds"]
    cells = [
        *(name, f"{asked:.0f}", f"{training:.1f}", f"{training / asked:.2f}"),
        *(f"{schedule['wall_seconds']:.0f}", *(f"{seconds:.1f}" for seconds in spent)),
        *(f"{phases['results and report']['processor']:.1f}", schedule["ended_by"]),
        *(str(len(summary["candidate_runs"])), ", ".join(schedule["left_out"]) or "–", f"{size:.1f}"),
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--graphs", default=",".join([*GENERATED, *DATASETS]))
    parser.add_argument("--data-root")
    given = parser.parse_args()
    columns = ["graph", "asked, s", "training, processor s", "ratio", "by the clock, s", "start, s"]
    columns += ["counting, s", "report, s", "ended by", "runs", "left out", "folder, MB"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in given.graphs.split(","):
        print(measure(name, given.minutes, given.data_root), flush=True)


if __name__ == "__main__":
    main()
