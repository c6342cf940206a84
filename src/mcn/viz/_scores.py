"""A results table as marks to draw: scores with their errors, the part of the axis to show, the caption."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# A gap this wide (points), and wider than this share of all that lies above it, ends the axis.
_GAP, _SHARE = 10.0, 0.5


@dataclass(frozen=True)
class Score:
    """A method on a data set, in percent; `reach` is two standard errors, None for fewer than two runs."""

    dataset: str
    method: str
    mean: float | None
    reach: float | None
    runs: int
    single: tuple[float, ...]
    paper: float | None

    @property
    def points(self) -> list[float]:
        """All that is drawn: the mean, the ends of its bar, the single runs, the paper's value."""
        ends = (
            []
            if self.mean is None or self.reach is None
            else [self.mean - self.reach, self.mean + self.reach]
        )
        return [*(value for value in (self.mean, self.paper) if value is not None), *ends, *self.single]


def scores(results: Mapping[str, Any]) -> list[Score]:
    """The rows of `mcn.experiments.reproduce_table`'s results.

    Raises:
        ValueError: no rows, rows of something else, or nothing in them to draw.
    """
    rows = results.get("rows")
    if not isinstance(rows, list) or not rows:
        raise ValueError(
            "results: the table has no rows; give what reproduce_table returns, with a run in it"
        )
    found = [_score(row) for row in rows]
    if not any(score.points for score in found):
        raise ValueError(f"results: none of the {len(rows)} rows has a run or a value of the paper to draw")
    return found


def _score(row: Mapping[str, Any]) -> Score:
    missing = [key for key in ("dataset", "method", "mean", "std", "runs", "paper") if key not in row]
    if missing:
        raise ValueError(f"results: a row of table 2, 3 or beyond has {missing[0]!r}, got {dict(row)}")
    mean, std, runs = row["mean"], row["std"], row["runs"]
    reach = 2 * std / math.sqrt(runs) if mean is not None and std is not None and runs > 1 else None
    single = () if mean is None else tuple(row.get("test", {}).values())
    score = Score(row["dataset"], row["method"], mean, reach, runs, single, row["paper"])
    if not all(map(math.isfinite, score.points)):
        raise ValueError(f"results: {score.method} on {score.dataset} has a score that is no number: {score}")
    return score


def lowest(own: Sequence[Score]) -> float:
    """Where the axis of a data set may begin: at the lowest point that is not far below the others.

    From the median of the methods (their means, or the paper's values where there are no runs) downwards,
    the first gap that is wider than 10 points and than half of the range above it leaves out what lies
    below; so at least half of the methods are always shown.
    """
    centres = (score.paper if score.mean is None else score.mean for score in own)
    middles = sorted(centre for centre in centres if centre is not None)
    points = sorted((point for score in own for point in score.points), reverse=True)
    middle, low = middles[(len(middles) - 1) // 2], points[0]
    for point in points:
        if point < middle and low - point > max(_GAP, _SHARE * (points[0] - low)):
            break
        low = point
    return low


def usual_runs(found: Iterable[Score]) -> int:
    """Return the most frequent number of runs among cells that have runs (the larger of equals), else 0."""
    often = Counter(score.runs for score in found if score.runs)
    return max(often, key=lambda runs: (often[runs], runs), default=0)


def row_labels(found: Sequence[Score]) -> dict[str, str]:
    """The methods in the table's order, each with its numbers of runs if they are not the usual one."""
    usual = usual_runs(found)
    labels = {}
    for method in dict.fromkeys(score.method for score in found):
        runs = [score.runs for score in found if score.method == method]
        shown = runs[:1] if len(set(runs)) == 1 else runs
        labels[method] = method if shown == [usual] else f"{method} ({', '.join(map(str, shown))})"
    return labels


def caption(results: Mapping[str, Any], found: Sequence[Score]) -> str:
    """The protocol in a few words."""
    usual = usual_runs(found)
    words = [f"Seeds {_span(results['seeds'])}."] if results.get("seeds") else []
    mean = (
        f"Mean ± 2 standard errors of {usual} runs"
        if usual > 1
        else "A single run each"
        if usual
        else "No runs"
    )
    if any(score.runs != usual for score in found):
        mean += "; in brackets, other numbers of runs, per data set where they differ"
    words += [
        f"{mean}.",
        "Runs select on validation nodes; test labels are read once per run, after training.",
    ]
    return " ".join(words)


def _span(seeds: Sequence[int]) -> str:
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
