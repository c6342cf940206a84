"""The tables of `mcn reproduce` on a terminal; the report has more."""

from __future__ import annotations

from typing import Any

from mcn.train.metrics import LESS_IS_BETTER


def print_reproduced(result: dict[str, Any]) -> None:
    """One line per method and data set."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    header, lines = _special(result) if result["table"] == "table1" else _measured(result)
    name, label = result["table"], result["label"]
    table = Table(title=Text(name if name == label else f"{name} ({label})"), title_justify="left")
    for place, name in enumerate(header):
        table.add_column(name, justify="left" if place < 2 else "right")
    last = lines[0][0] if lines else ""
    for line in lines:
        if line[0] != last:
            table.add_section()
            last = line[0]
        table.add_row(*line)
    console = Console()
    console.print(table) if console.is_terminal else Console(width=110).print(table)


def _special(result: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    header = ["data set", "method", "beside", "layer 1", "network", "equal"]
    lines = [
        [
            row["dataset"],
            row["method"],
            row["against"],
            "–" if row["layer"] is None else f"{row['layer']:.1e}",
            f"{row['network']:.1e}",
            "yes" if row["holds"] else "no",
        ]
        for row in result["rows"]
    ]
    return header, lines


def _measured(result: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    if all(row["paper"] is None for row in result["rows"]):
        return _without_paper(result)
    header = ["data set", "method", "paper", "ours", "runs", "rank", "difference", "within noise"]
    lines = [
        [
            row["dataset"],
            row["method"],
            _score(row["paper"], row["paper_std"]),
            _score(row["mean"], row["std"]),
            str(row["runs"]),
            "–" if row["rank"] is None else f"{row['rank']:g}",
            "–" if row["difference"] is None else f"{row['difference']:+.1f}",
            {True: "yes", False: "no", None: "–"}[row["within_noise"]],
        ]
        for row in result["rows"]
    ]
    return header, lines


def _without_paper(result: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """A table, or a figure of its runs, that the paper does not have."""
    metric = result["metric"]
    header = ["data set", "method", f"{metric} × 100" if metric in LESS_IS_BETTER else f"{metric}, %", "runs"]
    lines = [
        [row["dataset"], row["method"], _score(row["mean"], row["std"]), str(row["runs"])]
        for row in result["rows"]
    ]
    return header, lines


def _score(mean: float | None, std: float | None) -> str:
    if mean is None:
        return "–"
    return f"{mean:.1f}" if std is None else f"{mean:.1f} ± {std:.1f}"
