"""The paper's searches on validation nodes: the winners, what mattered, and what each value amounted to.

results.jsonl has a search a line: data set, space, protocol, importances, version, trials, winner's runs.
A trial has a rung: in searches by 0.2.0 most settings ran for some epochs only (0), the best for more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcn.experiments import markdown_table
from mcn.paper import TABLES
from studies.search.effects import effects

RESULTS = Path(__file__).parent / "results.jsonl"
ANSWERS = {
    "citation-screen": ("table2", "mcn"),
    "dd-gcn": ("table3", "gcn"),
    "dd-gat": ("table3", "gat"),
    "dd-best": ("table3", "mcn"),
    "dd-screen": ("table3", "mcn"),
}
"""The table and row of the paper that a space's winner answers to."""


def compact(found: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of a search.json that `mcn search` wrote: accuracies to a thousandth of a point."""
    return {
        **{name: found[name] for name in ("dataset", "space", "protocol", "importances")},
        "version": found["final"][0]["version"],
        "best": found["best"]["number"],
        "trials": [
            [t["number"], t.get("rung", 0), _rounded(t["val_accuracy"]), t["settings"]]
            for t in found["trials"]
        ],
        "final": [
            {"seed": row["seed"], "key": row["key"]}
            | {name: _rounded(row[name]) for name in ("val_accuracy", "test_accuracy")}
            for row in found["final"]
        ],
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 5)


def read_searches(path: Path = RESULTS) -> list[dict[str, Any]]:
    """Return the searches of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_searches(searches: Sequence[dict[str, Any]], path: Path = RESULTS) -> None:
    """Write searches by space and data set; of two for the same, the later one stays."""
    last = {(search["space"], search["dataset"]): search for search in searches}
    lines = [json.dumps(last[key], ensure_ascii=False) + "\n" for key in sorted(last)]
    path.write_text("".join(lines), encoding="utf-8")


def tables(searches: Sequence[dict[str, Any]]) -> str:
    """Return the winners beside the paper's values, what mattered, and the means by value, in Markdown."""
    versions = ", ".join(sorted({search["version"] for search in searches}))
    names = list(dict.fromkeys(name for search in searches for name in search["importances"] or ()))
    shares = [
        [_title(search), *(f"{search['importances'].get(name, 0):.0%}" for name in names)]
        for search in searches
        if search["importances"]
    ]
    header = ["search", "tried", "failed", "the winner", "validation", "test (runs)", "the paper"]
    parts = [
        f"Searches by version {versions} of mcn.",
        markdown_table(header, [_winner(search) for search in searches]),
        "Share of the variation between the trials of the first rung that a setting explains by itself:",
        markdown_table(["importance", *names], shares),
    ]
    for space in dict.fromkeys(search["space"] for search in searches):
        parts += ["Mean validation accuracy ± standard error (trials) on the first rung:"]
        parts += [_values(space, [search for search in searches if search["space"] == space])]
    return "\n\n".join(parts)


def _title(search: dict[str, Any]) -> str:
    return f"{search['dataset']}, {search['space']}"


def _winner(search: dict[str, Any]) -> list[str]:
    *_, score, settings = next(trial for trial in reversed(search["trials"]) if trial[0] == search["best"])
    first = [trial for trial in search["trials"] if trial[1] == 0]
    test = [100 * row["test_accuracy"] for row in search["final"]]
    table, row = ANSWERS[search["space"]]
    paper = TABLES[table].value(search["dataset"], row)
    chosen = (f"{k} {', '.join(v) if isinstance(v, list) else v}" for k, v in settings.items())
    return [
        _title(search),
        str(len(first)),
        str(sum(trial[2] is None for trial in first)),
        "; ".join(chosen),
        f"{100 * score:.1f}",
        f"{np.mean(test):.1f} ± {np.std(test, ddof=1):.1f} ({len(test)})",
        "–" if paper is None else f"{paper:.1f}",
    ]


def _values(space: str, searches: Sequence[dict[str, Any]]) -> str:
    """Means by value, one column for each data set."""
    columns = {}
    for search in searches:
        first = [(settings, score) for _, rung, score, settings in search["trials"] if rung == 0]
        columns[search["dataset"]] = {(one.setting, one.value): one for one in effects(first)}
    labels = sorted({label for values in columns.values() for label in values})
    lines = []
    for label in labels:
        line = [": ".join(label)]
        for values in columns.values():
            one = values.get(label)
            error = "" if one is None or one.error is None else f" ± {100 * one.error:.1f}"
            line.append("–" if one is None else f"{100 * one.mean:.1f}{error} ({one.trials})")
        lines.append(line)
    return markdown_table([space, *columns], lines)
