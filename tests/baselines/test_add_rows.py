"""Sums of rows that stay in registers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mcn.baselines._add_rows import ROWS, add_rows
from numba.core.errors import TypingError

from mcn._jit import kernel


@kernel
def _sum(values: Any, rows: Any, first: int, last: int, table: Any, at: int, out: Any, to: int) -> None:
    add_rows(values, rows, first, last, table, at, table.shape[1], out, to)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_part_of_the_rows_is_added_to_a_part_of_the_result(index: Any, kind: Any) -> None:
    rng = np.random.default_rng(4)
    table = rng.standard_normal((9, ROWS + 5)).astype(kind)
    values, rows = rng.standard_normal(12).astype(kind), rng.integers(9, size=12).astype(index)
    out = rng.standard_normal(ROWS + 10).astype(kind)
    for first, last, at, to in ((0, 12, 0, 0), (3, 11, 5, 7), (4, 4, 1, 2)):
        expected = out.astype(np.float64)
        expected[to : to + ROWS] += values[first:last] @ table[rows[first:last], at : at + ROWS]
        got = out.copy()
        _sum(values, rows, first, last, table, at, got, to)
        np.testing.assert_allclose(got, expected, rtol=1e-5 if kind == np.float32 else 1e-13, atol=1e-6)
        got[to : to + ROWS] = out[to : to + ROWS]
        np.testing.assert_array_equal(got, out)


def test_arrays_with_gaps_are_refused() -> None:
    table = np.zeros((2 * ROWS, 9), np.float32).T
    with pytest.raises(TypingError, match="contiguous"):
        _sum(np.ones(1, np.float32), np.zeros(1, np.int32), 0, 1, table, 0, np.zeros(ROWS, np.float32), 0)
