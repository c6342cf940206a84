"""Searches that are kept with the project: trials, the winner's runs, and the tables made from them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcn.experiments.paper.document import Block, Grid, Text
from mcn.experiments.paper.report import DASH
from mcn.experiments.paper.reported import TABLE2, TABLE3, PaperTable
from mcn.experiments.search.run import Trial
from mcn.experiments.search.summary import effects, points, value_text

FILE = "search.jsonl"
"""One search a line: data set, space, protocol, importances, version, trials and the winner's runs."""
_ANSWERS: dict[str, tuple[PaperTable, str]] = {
    "citation-screen": (TABLE2, "mcn"),
    "dd-gcn": (TABLE3, "gcn"),
    "dd-gat": (TABLE3, "gat"),
    "dd-best": (TABLE3, "mcn"),
    "dd-screen": (TABLE3, "mcn"),
}
"""The row of the paper that a space's winner answers to."""


def compact(found: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of a `search.json`: no configurations, accuracies to a thousandth of a point."""
    return {
        **{name: found[name] for name in ("dataset", "space", "protocol", "importances")},
        "version": found["final"][0]["version"],
        "best": found["best"]["number"],
        "trials": [
            [t["number"], t["rung"], _rounded(t["val_accuracy"]), t["settings"]] for t in found["trials"]
        ],
        "final": [
            {
                **{name: row[name] for name in ("seed", "key")},
                **{name: _rounded(row[name]) for name in ("val_accuracy", "test_accuracy")},
            }
            for row in found["final"]
        ],
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 5)


def read_searches(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the searches of a file that `write_searches` wrote."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def write_searches(path: str | os.PathLike[str], searches: Sequence[dict[str, Any]]) -> None:
    """Write searches by space and data set; of two for the same, the later one stays."""
    last = {(each["space"], each["dataset"]): each for each in searches}
    lines = [json.dumps(last[key], ensure_ascii=False) + "\n" for key in sorted(last)]
    Path(path).write_text("".join(lines), encoding="utf-8")


def search_blocks(searches: Sequence[dict[str, Any]]) -> list[Block]:
    """Return the winners beside the paper's values, what mattered, and what each value amounted to."""
    blocks: list[Block] = [
        Grid(
            ("search", "tried", "failed", "the winner", "validation", "test (runs)", "the paper"),
            [_winner(each) for each in searches],
        ),
        Text(
            "Validation is the winner's mean over the seeds that chose it, the best of many and so too high. "
            "Test is mean ± standard deviation over seeds that chose nothing."
        ),
    ]
    names = list(dict.fromkeys(name for each in searches for name in each["importances"] or ()))
    blocks.append(
        Grid(
            ("importance", *names),
            [
                (_title(each), *(_share(each["importances"], name) for name in names))
                for each in searches
                if each["importances"]
            ],
            "Share of the variation between the trials of the first rung that a setting explains by itself.",
        )
    )
    spaces = dict.fromkeys(each["space"] for each in searches)
    return [
        *blocks,
        *(_values(space, [each for each in searches if each["space"] == space]) for space in spaces),
    ]


def _title(each: dict[str, Any]) -> str:
    return f"{each['dataset']}, {each['space']}"


def _winner(each: dict[str, Any]) -> tuple[str, ...]:
    *_, score, settings = next(trial for trial in reversed(each["trials"]) if trial[0] == each["best"])
    first = [trial for trial in each["trials"] if trial[1] == 0]
    test = [100 * row["test_accuracy"] for row in each["final"]]
    table, row = _ANSWERS[each["space"]]
    paper = table.value(each["dataset"], row)
    return (
        _title(each),
        str(len(first)),
        str(sum(trial[2] is None for trial in first)),
        "; ".join(f"{name} {value_text(value)}" for name, value in settings.items()),
        points(score),
        f"{np.mean(test):.1f} ± {np.std(test, ddof=1):.1f} ({len(test)})",
        f"{paper:.1f}" if paper is not None else DASH,
    )


def _share(importances: dict[str, float], name: str) -> str:
    return f"{importances[name]:.0%}" if name in importances else DASH


def _values(space: str, searches: Sequence[dict[str, Any]]) -> Grid:
    """Means by value, one column for each data set."""
    columns = {}
    for each in searches:
        trials = [
            Trial(number, settings, score, None, None if score is not None else "failed", score, rung)
            for number, rung, score, settings in each["trials"]
        ]
        columns[each["dataset"]] = {(one.setting, one.value): one for one in effects(trials)}
    labels = sorted({key for own in columns.values() for key in own}, key=_order)
    rows = []
    for key in labels:
        cells = [f"{key[0]}: {key[1]}"]
        for own in columns.values():
            one = own.get(key)
            cells.append(DASH if one is None else f"{points(one.mean, one.error)} ({one.trials})")
        rows.append(cells)
    caption = "Mean validation accuracy ± standard error (trials) on the first rung."
    return Grid((space, *columns), rows, caption)


def _order(label: tuple[str, str]) -> tuple[str, float, str]:
    """By setting, numbers by their size."""
    setting, value = label
    try:
        return setting, float(value), ""
    except ValueError:
        return setting, 0.0, value
