"""Tables of results, as every verb prints them."""

from __future__ import annotations

from typing import Any


def print_methods(title: str, rows: list[dict[str, Any]]) -> None:
    """One line per method: test accuracy as mean ± standard deviation over the seeds."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left")
    table.add_column("method")
    table.add_column("test accuracy", justify="right")
    table.add_column("validation", justify="right")
    table.add_column("seeds", justify="right")
    table.add_column("s per run", justify="right")
    for row in rows:
        test = (
            "no test nodes"
            if row["test_mean"] is None
            else f"{row['test_mean']:.1f} ± {row['test_std']:.1f} %"
        )
        if row["test_mean"] is not None and len(row["seeds"]) == 1:
            test = f"{row['test_mean']:.1f} %"
        table.add_row(
            row["method"].upper(),
            test,
            f"{row['val_mean']:.1f} %",
            str(len(row["seeds"])),
            f"{row['seconds_per_run']:.1f}",
        )
    console = Console()
    console.print(table) if console.is_terminal else Console(width=100).print(table)
