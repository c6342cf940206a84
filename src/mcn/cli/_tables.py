"""Tables of results, as every verb prints them."""

from __future__ import annotations

from typing import Any

from mcn.train.metrics import shown


def print_methods(title: str, rows: list[dict[str, Any]], metric: str | None = None) -> None:
    """One line per method: test accuracy as mean ± standard deviation over the seeds, and so for `metric`."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left")
    table.add_column("method")
    table.add_column("test accuracy", justify="right")
    if metric is not None:
        table.add_column(f"test {metric}", justify="right")
    table.add_column("validation", justify="right")
    table.add_column("seeds", justify="right")
    table.add_column("s per run", justify="right")
    compared = any(row.get("difference") is not None for row in rows)
    if compared:
        table.add_column(f"− {rows[0]['method'].upper()}, paired", justify="right")
    for row in rows:
        spread = "" if row["test_std"] is None else f" ± {row['test_std']:.1f}"
        test = "no test nodes" if row["test_mean"] is None else f"{row['test_mean']:.1f}{spread} %"
        table.add_row(
            row["method"].upper(),
            test,
            *([] if metric is None else [mean_and_spread(metric, row["metrics"][metric])]),
            f"{row['val_mean']:.1f} %",
            str(len(row["seeds"])),
            f"{row['seconds_per_run']:.1f}",
            *([_difference(row)] if compared else []),
        )
    console = Console()
    console.print(table) if console.is_terminal else Console(width=100).print(table)


def print_choosing(rows: list[dict[str, Any]]) -> None:
    """Print what choosing per node is worth by the methods that looked into it, mean over the seeds."""
    from mcn.train.probes.words import room_words

    for row in rows:
        found = row["choosing"]
        if found is not None:
            print(
                f"{row['method']}: choosing per node is worth {100 * found['gain']:+.1f} ± "
                f"{100 * found['gain_error']:.1f} points on held-out nodes, and was used in "
                f"{100 * found['used']:.0f} % of the runs ({room_words(found)})"
            )


def mean_and_spread(metric: str, found: dict[str, float | None]) -> str:
    """The mean of a metric over the seeds ± its standard deviation, as `figure` would print the mean."""
    mean, deviation = found["test_mean"], found["test_std"]
    if mean is None:
        return "–"
    scale, digits, unit = (1, 3, "") if metric == "log-loss" else (100, 1, " %")
    spread = "" if deviation is None else f" ± {scale * deviation:.{digits}f}"
    return f"{scale * mean:.{digits}f}{spread}{unit}"


def _difference(row: dict[str, Any]) -> str:
    """The mean of the paired differences to the first method ± its standard error."""
    if row["difference"] is None:
        return ""
    return f"{row['difference']:+.2f} ± {row['difference_error']:.2f}"


def print_scores(result: dict[str, Any]) -> None:
    """Print every metric, what simpler things reach, and the remarks; of the first seed."""
    scores, metric = result["scores"], result["config"]["metric"]
    for part in ("val", "test"):
        if scores[part] is not None:
            listed = ", ".join(f"{name} {shown(name, value)}" for name, value in scores[part].items())
            print(f"{'validation' if part == 'val' else part}: {listed}")
    print(f"beside it ({metric} on validation nodes): {simpler(result['alone'], metric)}")
    for remark in result["remarks"]:
        print(f"remark: {remark}")


def print_candidates(result: dict[str, Any]) -> None:
    """Print what each candidate of the recipe auto reached on validation nodes, the winner first."""
    metric, rows = result["config"]["metric"], result["candidates"]
    for row in rows:
        runs = f"{row['runs']} run{'s' if row['runs'] > 1 else ''}"
        behind = ""
        if row is not rows[0]:
            scale, unit = (1, "") if metric == "log-loss" else (100, " points")
            digits = 3 if metric == "log-loss" else 1
            error = "" if row["behind_error"] is None else f" ± {scale * row['behind_error']:.{digits}f}"
            behind = f", {scale * row['behind']:.{digits}f}{error}{unit} behind"
        score = shown(metric, abs(row["score"]))
        print(f"candidate {row['candidate']}: {metric} {score} on validation nodes, {runs}{behind}")
    if deals := result.get("deals"):
        times = "once" if deals == 1 else f"{deals} times"
        print(f"candidates were also judged with training and validation nodes dealt out anew, {times}")


def simpler(alone: dict[str, float | None], metric: str) -> str:
    """What the largest class, the features and the graph reach by themselves."""
    words = {"guess": "the largest class", "features": "features alone", "graph": "the graph alone"}
    return ", ".join(f"{words[key]} {shown(metric, value)}" for key, value in alone.items())
