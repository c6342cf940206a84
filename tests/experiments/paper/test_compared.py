from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from mcn.experiments.paper.compared import average_ranks, ranks


def test_by_hand() -> None:
    assert ranks({"a": 1.0, "b": 3.0, "c": 2.0}) == {"a": 3, "b": 1, "c": 2}
    assert ranks({"a": 1.0, "b": 1.0, "c": 1.0}) == {"a": 2, "b": 2, "c": 2}
    assert ranks({"a": None, "b": 5.0}) == {"b": 1}
    assert ranks({}) == {}


def test_means_that_differ_in_their_last_bits_are_equal() -> None:
    assert ranks({"a": 0.1 + 0.2, "b": 0.3}) == {"a": 1.5, "b": 1.5}


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_against_scipy(values: list[int]) -> None:
    found = ranks({str(i): float(v) for i, v in enumerate(values)})
    assert list(found.values()) == rankdata(-np.array(values), method="average").tolist()


def test_average_over_the_data_sets_with_a_value() -> None:
    columns = [{"a": 1.0, "b": 2.0, "c": None}, {"a": 3.0, "b": 2.0, "c": 1.0}]
    assert average_ranks(columns) == {"a": 1.5, "b": 1.5, "c": 3.0}
    assert average_ranks([]) == {}
    assert average_ranks([{"a": 1.0, "b": 1.0}])["a"] == pytest.approx(1.5)
