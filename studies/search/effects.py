"""What the trials of a search with each value of a setting amounted to."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Effect:
    """What the trials with one value of a setting amounted to: their number, mean and best score."""

    setting: str
    value: str
    trials: int
    mean: float
    error: float | None
    best: float


def effects(tried: Sequence[tuple[dict[str, Any], float | None]]) -> list[Effect]:
    """Return the mean score by setting and value, over settings that were tried and their scores.

    Of a setting that is a list, such as motifs, every member is taken as there or not: "with triangle" and
    "without triangle". Of repeated settings the last counts, failed ones (None) do not at all. A setting
    with one value has no effect to speak of and is left out.
    """
    scores: dict[str, tuple[dict[str, Any], float]] = {}
    for settings, score in tried:
        if score is not None:
            scores[json.dumps(settings, sort_keys=True)] = (settings, score)
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
    return [f"{value:.4g}" if isinstance(value, float) else str(value)]


def _effect(setting: str, value: str, scores: list[float]) -> Effect:
    error = float(np.std(scores, ddof=1) / math.sqrt(len(scores))) if len(scores) > 1 else None
    return Effect(setting, value, len(scores), float(np.mean(scores)), error, max(scores))
