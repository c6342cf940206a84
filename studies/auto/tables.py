"""What the runs of the study amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mcn.experiments import markdown_table
from studies.rows import Run, gap, mean, read_runs

BEFORE = Path(__file__).parents[1] / "choice" / "results.csv"
Values = Mapping[str, Mapping[int, float]]


def results(runs: Sequence[Run]) -> dict[str, dict[str, dict[int, float]]]:
    """Return percents by data set, method and split; `0.2.0` is the rule of that version, by accuracy."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for run in runs:
        row = found.setdefault(run["dataset"], {}).setdefault(run["method"], {})
        row[int(run["seed"])] = 100 * float(run["test"])
    for run in read_runs(BEFORE):
        if run["method"] == "rule" and run["dataset"] in found and run["dataset"] != "minesweeper":
            row = found[run["dataset"]].setdefault("0.2.0", {})
            row[int(run["seed"])] = 100 * float(run["test_accuracy"])
    return found


def best_other(own: Values) -> str:
    """Return the method beside `auto` with the best mean over the splits of `auto`, all of which it has."""
    splits = own["auto"].keys()
    shared = {name: [row[s] for s in splits] for name, row in own.items() if splits <= row.keys()}
    others = [name for name in shared if name not in ("auto", "auto-train")]
    return max(others, key=lambda name: float(np.mean(shared[name])))


def report(runs: Sequence[Run]) -> str:
    """Return the tables in Markdown."""
    found = {dataset: own for dataset, own in results(runs).items() if "auto" in own}
    names = list(dict.fromkeys(name for own in found.values() for name in own))
    lines = [
        [
            dataset,
            mean(own["auto"]),
            gap(own["auto"], own.get("0.2.0", {})),
            gap(own["auto"], own.get("auto-train", {})),
            gap(own["auto"], own.get("sklearn-x", {})),
            gap(own["auto"], own.get("sklearn-means", {})),
            best_other(own),
            gap(own["auto"], own[best_other(own)]),
            gap(own.get("motif-trees", {}), own.get("trees", {})),
        ]
        for dataset, own in found.items()
    ]
    heads = ["data set", "auto", "− 0.2.0", "− auto-train", "− sklearn-x", "− sklearn-means", "best other"]
    every = [[name, *(mean(own.get(name, {})) for own in found.values())] for name in names]
    return "\n\n".join(
        [
            "Accuracy in percent on test nodes, ROC-AUC on minesweeper: mean ± standard deviation (splits); "
            "differences of the same splits, mean ± standard error.",
            markdown_table([*heads, "auto − it", "motif-trees − trees"], lines),
            markdown_table(["method", *found], every),
        ]
    )
