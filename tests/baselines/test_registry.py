from __future__ import annotations

import pytest

from mcn.baselines import BASELINES, baseline, register


def test_the_nearest_name() -> None:
    with pytest.raises(ValueError, match=r"got 'chebishev'; did you mean 'chebyshev'\?"):
        baseline("chebishev")


def test_a_name_like_no_other() -> None:
    with pytest.raises(ValueError, match=r"must be one of chebyshev, deepwalk, .*got '12345'$"):
        baseline("12345")


def test_a_name_that_is_taken() -> None:
    before = BASELINES["lp"]
    with pytest.raises(ValueError, match="'lp' is registered already"):
        register("lp")(before)
    assert baseline("lp") is before
