"""Ranks of methods, as in the last column of tab:acc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_DIGITS = 9  # means of equal results may differ in their last bits


def ranks(values: Mapping[str, float | None]) -> dict[str, float]:
    """The rank of each method, 1 for the largest value; equal ones share the mean of their ranks.

    Methods without a value have no rank.

    >>> ranks({"a": 79.0, "b": 79.3, "c": 79.0, "d": None})
    {'a': 2.5, 'b': 1.0, 'c': 2.5}
    """
    known = {name: round(value, _DIGITS) for name, value in values.items() if value is not None}
    return {
        name: 1 + sum(v > value for v in known.values()) + (sum(v == value for v in known.values()) - 1) / 2
        for name, value in known.items()
    }


def average_ranks(columns: Sequence[Mapping[str, float | None]]) -> dict[str, float]:
    """The mean of each method's ranks over the data sets on which it has a value.

    >>> average_ranks([{"a": 2.0, "b": 1.0}, {"a": None, "b": 1.0}])
    {'a': 1.0, 'b': 1.5}
    """
    found: dict[str, list[float]] = {}
    for column in columns:
        for name, rank in ranks(column).items():
            found.setdefault(name, []).append(rank)
    return {name: sum(own) / len(own) for name, own in found.items()}
