"""Copying rows, renaming their columns, turning them round, adding them up."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from mcn.matrices import Rows


def as_rows(matrix: sp.csr_array) -> Rows:
    return Rows(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)
    )


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("times", [1, 12])
def test_gathered_rows_are_the_rows(threads, times):
    rng = np.random.default_rng(0)
    matrix = sp.random_array((1000, 500), density=0.4, format="csr", rng=rng, dtype=np.float32)
    matrix.sort_indices()
    numbers = rng.integers(
        0, 1000, 1000 * times
    )  # 12 times: more than 2 million entries, so threads are used
    rows, expected = as_rows(matrix).take(numbers, threads), matrix[numbers]
    assert np.array_equal(rows.indptr, expected.indptr)
    assert np.array_equal(rows.indices, expected.indices)
    assert np.array_equal(rows.values, expected.data)


def test_sums_are_one_per_row_and_zero_for_an_empty_one():
    rows = Rows(np.array([0, 2, 2, 3]), np.array([0, 1, 2], np.int32), np.array([0.5, 2, 4], np.float32))
    assert rows.sums().tolist() == [2.5, 0, 4]
    assert rows.sums().dtype == np.float64


def test_normalised_by_hand():
    rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.array([6, 2, 5], np.float32))
    scaled = rows.normalised(np.array([1.0, 25, 16]), np.array([9.0, 25]))
    np.testing.assert_allclose(scaled.values, [6 / 3, 2 / (3 * 4), 5 / 25])
    with pytest.raises(ValueError, match=r"positive, got 0\.0 at source 1"):
        rows.normalised(np.array([1.0, 0, 16]), np.array([9.0, 25]))


@given(st.integers(0, 8), st.integers(1, 8), st.integers(0, 1000))
def test_entries_land_in_their_column_in_row_order(rows: int, columns: int, seed: int) -> None:
    dense = np.random.default_rng(seed).random((rows, columns)) < 0.4
    r, c = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(dense.sum(1))]).astype(np.int64)
    turned = Rows(indptr, c.astype(np.int32), np.ones(len(c))).transpose(columns)
    assert turned.indptr.tolist() == np.concatenate([[0], np.cumsum(dense.sum(0))]).tolist()
    for column in range(columns):
        part = slice(turned.indptr[column], turned.indptr[column + 1])
        assert turned.indices[part].tolist() == np.flatnonzero(dense[:, column]).tolist()
        assert (c[turned.values[part]] == column).all()
        assert r[turned.values[part]].tolist() == turned.indices[part].tolist()
