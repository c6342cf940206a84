"""Suggestions for mistyped names."""

from __future__ import annotations

import pytest

from mcn._names import did_you_mean, one_of

KNOWN = ("unweighted", "row-max", "transition")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("transitoin", "; did you mean 'transition'?"),
        ("rowmax", "; did you mean 'row-max'?"),
        ("zebra", ""),
        (7, ""),
        (None, ""),
    ],
)
def test_the_nearest_name_is_suggested(name: object, hint: str) -> None:
    assert did_you_mean(name, KNOWN) == hint
    several = did_you_mean("4-cycl", ["4-cycle", "4-cycles"], most=2)
    assert several == "; did you mean '4-cycle' or '4-cycles'?"


def test_a_value_must_be_one_of_those_allowed() -> None:
    one_of("psi", "row-max", KNOWN)
    with pytest.raises(
        ValueError, match="psi must be one of unweighted, row-max, transition, got 'rowmax'; "
    ):
        one_of("psi", "rowmax", KNOWN)
    with pytest.raises(ValueError, match=r"got 3$"):
        one_of("psi", 3, KNOWN)
