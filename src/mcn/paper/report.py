"""A reproduced table: our runs beside the paper's numbers, what may be said of the difference, the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from scipy.stats import rankdata

from mcn.experiments.engine.results import markdown_table, paired, result_row
from mcn.paper.tables import LARGEST_CLASS, TABLES, PlannedRow, Table

DASH = "–"
ROUNDING = 0.05
"""Half a unit of the last digit that the paper prints, in percent."""
PAIRS = (
    *(("mcn", "gat"), ("mcn", "gat-consistency"), ("gat-consistency", "gat"), ("mcn-paper", "gat")),
    *(("mcn-paper", "gat-paper"), ("mcn", "gcn"), ("mcn", "majority"), ("mlp", "majority")),
)
"""Differences that are worth a line."""
_DIGITS = 9  # means of equal results may differ in their last bits


def noise(std: float | None, runs: int, paper: tuple[float, int] | None) -> float | None:
    """How far the mean of our runs may be from the paper's value and still be explained by chance, in points.

    With the paper's deviation s' over n' runs: 2·sqrt(s²/n + s'²/n'). Without it the paper's value counts
    as a single run with our spread: 2·sqrt(s²/n + s²). Never less than the paper's rounding. None for a
    single run of ours, whose spread is unknown.
    """
    if std is None:
        return None
    theirs = std**2 if paper is None else paper[0] ** 2 / paper[1]
    return max(2 * math.sqrt(std**2 / runs + theirs), ROUNDING)


def table_results(
    table: Table,
    planned: Sequence[PlannedRow],
    runs: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
    version: str,
) -> dict[str, Any]:
    """Return what was measured of a table in plain values, the content of results.json.

    Accuracies are in percent; None where there is none. Ranks are among the methods that the paper has.
    `planned` are the rows that were asked for; `runs` has those of a file by data set and row, and `version`
    is that of the mcn that ran them.
    """
    for place, own in runs.items():
        seeds = sorted(int(run["seed"]) for run in own)
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"{', '.join(place)}: every seed may be there once, got {seeds}")
    measured = {place: result_row(place[1], own) for place, own in runs.items() if own}
    rows, columns = [], []
    datasets = list(dict.fromkeys(one.dataset for one in planned))
    for dataset in datasets:
        here = [
            _result(table, one, measured.get((dataset, one.row))) for one in planned if one.dataset == dataset
        ]
        columns.append({row["method"]: row["mean"] for row in here if row["method"] in table.paper})
        ours, theirs = ranks(columns[-1]), ranks({row: table.value(dataset, row) for row in table.paper})
        for row in here:
            row |= {"rank": ours.get(row["method"]), "paper_rank": theirs.get(row["method"])}
        rows += here
    tests = {place: dict(zip(one["seeds"], one["test"], strict=True)) for place, one in measured.items()}
    gaps = [
        {"dataset": dataset, "first": first, "second": second, **asdict(gap)}
        for first, second in PAIRS
        for dataset in datasets
        if (gap := paired(tests.get((dataset, first), {}), tests.get((dataset, second), {}))) is not None
    ]
    said = {"table": table.name, "label": table.label, "version": version}
    return said | {"rows": rows, "average_rank": average_ranks(columns), "paired": gaps}


def _result(table: Table, planned: PlannedRow, ours: Mapping[str, Any] | None) -> dict[str, Any]:
    dataset, row = planned.dataset, planned.row
    value, spread = table.value(dataset, row), table.spread(dataset, row)
    result = {"dataset": dataset, "method": row, "paper": value, "paper_std": spread and spread[0]}
    if ours is None:
        missing = ("mean", "std", "difference", "within_noise", "val_mean", "seconds_per_run")
        return result | dict.fromkeys(missing) | {"runs": 0, "test": {}}
    difference = None if value is None else ours["test_mean"] - value
    reach = noise(ours["test_std"], len(ours["test"]), spread)
    return result | {
        "mean": ours["test_mean"],
        "std": ours["test_std"],
        "runs": len(ours["test"]),
        "difference": difference,
        "within_noise": None if difference is None or reach is None else abs(difference) <= reach + 1e-9,
        "val_mean": ours["val_mean"],
        "seconds_per_run": ours["seconds_per_run"],
        "test": dict(zip(map(str, ours["seeds"]), ours["test"], strict=True)),
    }


def ranks(values: Mapping[str, float | None]) -> dict[str, float]:
    """The rank of each method, 1 for the largest value; equal ones share the mean of their ranks.

    Methods without a value have no rank, and neither has one that is alone.

    >>> ranks({"a": 79.0, "b": 79.3, "c": 79.0, "d": None})
    {'a': 2.5, 'b': 1.0, 'c': 2.5}
    """
    known = {name: round(value, _DIGITS) for name, value in values.items() if value is not None}
    if len(known) < 2:
        return {}
    return dict(zip(known, rankdata([-value for value in known.values()]).tolist(), strict=True))


def average_ranks(columns: Iterable[Mapping[str, float | None]]) -> dict[str, float]:
    """The mean of each method's ranks over the data sets on which it has a value.

    >>> average_ranks([{"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}, {"a": None, "b": 1.0}])
    {'a': 1.5, 'b': 1.5}
    """
    collected: dict[str, list[float]] = {}
    for column in columns:
        for name, rank in ranks(column).items():
            collected.setdefault(name, []).append(rank)
    return {name: sum(own) / len(own) for name, own in collected.items()}


def table_report(results: Mapping[str, Any], command: str) -> str:
    """The report on a table, from its `table_results`, as a page of Markdown."""
    table = TABLES[results["table"]]
    parts = [f"# {table.title} ({table.label})", _opening(table), summary_table(results)]
    for dataset in dict.fromkeys(row["dataset"] for row in results["rows"]):
        parts += [f"## {dataset}", _dataset_table([r for r in results["rows"] if r["dataset"] == dataset])]
    if results["paired"]:
        lines = [
            [
                f"{gap['first']} − {gap['second']}, {gap['dataset']}",
                f"{gap['mean']:+.2f}" + ("" if gap["error"] is None else f" ± {gap['error']:.2f}"),
                str(gap["pairs"]),
            ]
            for gap in results["paired"]
        ]
        parts += [
            "## Paired differences",
            "Mean over the seeds of the difference of two methods with the same seed, ± its standard error.",
            markdown_table(["methods", "points", "pairs"], lines),
        ]
    parts += ["## How to read this", _READING, "## Protocol", _PROTOCOL[table.name], _SELECTION]
    parts += ["## To repeat it", f"```\n{command}\n```", f"Version of mcn: {results['version']}."]
    return "\n\n".join(parts) + "\n"


def summary_table(results: Mapping[str, Any]) -> str:
    """The table as the paper prints it, with our numbers: mean ± deviation (rank), average rank."""
    paper = TABLES[results["table"]].paper
    lines = {row["method"]: [row["method"]] for row in results["rows"]}
    for row in results["rows"]:
        rank = "" if row["rank"] is None else f" ({row['rank']:g})"
        lines[row["method"]].append(_marked(f"{score(row['mean'], row['std'])}{rank}", row, results["rows"]))
    for method, line in lines.items():
        printed = paper[method].avg_rank if method in paper else None
        line += [number(results["average_rank"].get(method)), number(printed)]
    datasets = dict.fromkeys(row["dataset"] for row in results["rows"])
    return markdown_table(["method", *datasets, "avg. rank", "paper's avg. rank"], list(lines.values()))


def _dataset_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One data set: the paper's value and ours, ranks, the difference and whether it is noise, time."""
    header = ["method", "paper", "paper's rank", "ours", "n", "our rank", "difference", "within noise"]
    lines = []
    for row in rows:
        paper, ours, *rest = figures(row)
        rank, ours = number(row["paper_rank"], "g"), _marked(ours, row, rows)
        times = [number(row["val_mean"]), number(row["seconds_per_run"])]
        lines.append([row["method"], paper, rank, ours, *rest, *times])
    return markdown_table([*header, "validation", "s per run"], lines)


def figures(row: Mapping[str, Any]) -> list[str]:
    """A row as text: the paper's value, ours, number of runs, rank, difference, whether that is noise."""
    return [
        score(row["paper"], row["paper_std"]),
        score(row["mean"], row["std"]),
        str(row["runs"]),
        number(row["rank"], "g"),
        number(row["difference"], "+.1f"),
        {True: "yes", False: "no", None: DASH}[row["within_noise"]],
    ]


def score(mean: float | None, std: float | None) -> str:
    """A mean with its deviation, as far as there are any."""
    return number(mean) if std is None else f"{number(mean)} ± {std:.1f}"


def number(value: float | None, form: str = ".1f") -> str:
    """A number as text; a dash where there is none."""
    return DASH if value is None else format(value, form)


def _marked(text: str, row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """The text, in bold if the row has the best mean of its data set."""
    means = [other["mean"] for other in rows if other["dataset"] == row["dataset"] and other["mean"]]
    return f"**{text}**" if means and row["mean"] == max(means) else text


def _opening(table: Table) -> str:
    """Say what the numbers are; for table 3 also how close the paper's best are to guessing one class."""
    text = f"{table.score[0].upper()}{table.score[1:]} in percent; mean ± sample standard deviation."
    if table.name != "table3":
        return text
    gaps = [
        f"{best:.1f} on {name} is {best - share:.1f} points above {share:.1f}"
        for name, share in LARGEST_CLASS.items()
        if (best := max(table.value(name, row) or 0.0 for row in table.paper))
    ]
    return (
        f"{text} The first row always predicts the most frequent class. The paper's best are not far above "
        f"the share of the largest class among validation and test nodes together: {'; '.join(gaps)}."
    )


_READING = """\
- ours: mean over n runs ± sample standard deviation (n − 1 in the denominator); a single run has none. The
  best mean of a column is in bold.
- within noise: |ours − paper| ≤ 2·sqrt(s²/n + s'²/n') where the paper states a deviation s' over n' runs (s
  and n are ours). Where it states none, its value counts as one run with our spread: 2·sqrt(s²/n + s²). The
  limit is never below 0.05, the paper's rounding. A dash: a single run, or no value in the paper.
- rank: 1 is best, among the paper's methods that were run. Ties share the mean of their ranks (the paper
  gives them the better one). The average is over the data sets on which a method has a value.
- mcn-paper, gcn-paper and gat-paper have the paper's settings and rule; the others have ours. Rows that are
  not in the paper have no rank."""
_PROTOCOL = {
    "table2": "Split: the public one of each data set (20 training nodes per class, 500 validation and 1,000 "
    "test nodes).",
    "table3": "Split: 15 training nodes per class, the others halved into validation and test; drawn anew "
    "for each seed. Rows that end in -paper have Weisfeiler-Lehman colours as features, as the paper; mlp, "
    "gcn, gat and mcn have motif counts instead, and correct for the classes' shares among validation nodes.",
}
_SELECTION = (
    "Networks keep the weights of the epoch that GAT's rule chooses (validation accuracy and loss; with "
    "stopping = gat-accuracy, as on Citeseer, accuracy alone). Other methods choose on validation nodes too. "
    "Test labels are read once per run, after training."
)
