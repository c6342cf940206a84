"""A search in words and tables: what mattered, what each value amounted to, the best settings, the winner."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcn.experiments.engine.results import escape_markdown, markdown_table
from mcn.experiments.search.run import SearchResult, Trial


@dataclass(frozen=True)
class Effect:
    """What the trials with one value of a setting amounted to: their number, mean and best score."""

    setting: str
    value: str
    trials: int
    mean: float
    error: float | None
    best: float


def effects(trials: Sequence[Trial]) -> list[Effect]:
    """Return the mean validation score by setting and value, over all trials of the first rung.

    Of a setting that is a list, such as motifs, every member is taken as there or not: "with triangle" and
    "without triangle". Repeated settings count once, failed ones not at all. A setting with one value has no
    effect to speak of and is left out.
    """
    scores: dict[str, tuple[dict[str, Any], float]] = {}
    for trial in trials:
        if trial.rung == 0 and trial.error is None and trial.val_score is not None:
            scores[json.dumps(trial.settings, sort_keys=True)] = (trial.settings, trial.val_score)
    groups: dict[str, dict[str, list[float]]] = {}
    members = _members([settings for settings, _ in scores.values()])
    for settings, score in scores.values():
        for name, value in settings.items():
            for label in _labels(value, members.get(name, [])):
                groups.setdefault(name, {}).setdefault(label, []).append(score)
    return [
        _effect(name, label, values)
        for name, by_label in groups.items()
        for label, values in by_label.items()
        if len(by_label) > 1
    ]


def _members(tried: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Members of list-valued settings that some trials have and some have not, in the order they came up."""
    counts: dict[str, Counter[Any]] = {}
    for settings in tried:
        for name, value in settings.items():
            if isinstance(value, list | tuple):
                counts.setdefault(name, Counter()).update(value)
    return {name: [m for m, n in counted.items() if n < len(tried)] for name, counted in counts.items()}


def _labels(value: Any, members: Sequence[Any]) -> list[str]:
    if isinstance(value, list | tuple):
        return [f"{'with' if member in value else 'without'} {member}" for member in members]
    return [value_text(value)]


def _effect(setting: str, value: str, scores: list[float]) -> Effect:
    error = float(np.std(scores, ddof=1) / math.sqrt(len(scores))) if len(scores) > 1 else None
    return Effect(setting, value, len(scores), float(np.mean(scores)), error, max(scores))


def summary(result: SearchResult, best: int = 10) -> str:
    """Return the search as a page of Markdown."""
    shown = f"validation {result.metric}"
    parts = [
        f"# {escape_markdown(f'{result.dataset}, space {result.space}')}",
        escape_markdown(f"{result.protocol}."),
        "## What mattered",
        escape_markdown(_importances(result)),
    ]
    rows = [
        [
            escape_markdown(f"{effect.setting}: {effect.value}"),
            points(effect.mean, effect.error),
            points(effect.best),
            str(effect.trials),
        ]
        for effect in effects(result.trials)
    ]
    if rows:
        parts += [
            f"Mean {shown} ± standard error, over all other settings.",
            markdown_table(["setting", "mean", "best", "trials"], rows),
        ]
    names = [escape_markdown(name) for name in result.best.settings]
    top = [
        [
            str(trial.number),
            points(trial.val_score or 0.0),
            str(trial.rung),
            *(escape_markdown(value_text(value)) for value in trial.settings.values()),
        ]
        for trial in result.ranking[:best]
    ]
    parts += ["## The best settings", markdown_table(["trial", shown, "rung", *names], top)]
    parts += ["## The winner", escape_markdown(_winner(result))]
    return "\n\n".join(parts) + "\n"


def _importances(result: SearchResult) -> str:
    if result.importances is None:
        return f"Importance of the settings: {result.note}."
    shares = ", ".join(f"{name} {share:.0%}" for name, share in result.importances.items())
    return f"Share of the variation between trials that each setting explains by itself (fANOVA): {shares}."


def _winner(result: SearchResult) -> str:
    test = [100 * row["test_accuracy"] for row in result.final if row["test_accuracy"] is not None]
    if not test:
        return "There are no test nodes."
    spread = f" ± {np.std(test, ddof=1):.1f}" if len(test) > 1 else ""
    return (
        f"Test accuracy of trial {result.best.number}: {np.mean(test):.1f}{spread} % over {len(test)} runs."
    )


def points(score: float, error: float | None = None) -> str:
    """Return a share in points, with its error if there is one."""
    return f"{100 * score:.1f}" if error is None else f"{100 * score:.1f} ± {100 * error:.1f}"


def value_text(value: Any) -> str:
    """Return a setting as it stands in a table."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
