"""Copying rows, renaming their columns, turning them round, adding them up."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from mcn.matrices import Rows
from mcn.matrices.rows import gather_rows, rename_columns, transpose


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
    rows, expected = gather_rows(as_rows(matrix), numbers, threads), matrix[numbers]
    assert np.array_equal(rows.indptr, expected.indptr)
    assert np.array_equal(rows.indices, expected.indices)
    assert np.array_equal(rows.values, expected.data)


def test_sums_are_one_per_row_and_zero_for_an_empty_one():
    rows = Rows(np.array([0, 2, 2, 3]), np.array([0, 1, 2], np.int32), np.array([0.5, 2, 4], np.float32))
    assert rows.sums().tolist() == [2.5, 0, 4]
    assert rows.sums().dtype == np.float64


def test_renamed_columns_ascend_targets_first():
    # Sources of a block with the targets 5, 1, 3: these, then 0, 2, 4.
    position = np.array([3, 1, 4, 2, 5, 0], np.int32)
    rows = Rows(
        np.array([0, 4, 4, 6]),
        np.array([1, 2, 4, 5, 0, 3], np.int32),
        np.array([10, 20, 40, 50, 0.5, 30], np.float32),
    )
    renamed = rename_columns(rows, position, 3)
    assert renamed.indices.tolist() == [0, 1, 4, 5, 2, 3]
    assert renamed.values.tolist() == [50, 10, 20, 40, 30, 0.5]


@given(st.integers(0, 8), st.integers(1, 8), st.integers(0, 1000))
def test_entries_land_in_their_column_in_row_order(rows: int, columns: int, seed: int) -> None:
    dense = np.random.default_rng(seed).random((rows, columns)) < 0.4
    r, c = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(dense.sum(1))]).astype(np.int64)
    turned = transpose(indptr, c.astype(np.int32), columns)
    assert turned.indptr.tolist() == np.concatenate([[0], np.cumsum(dense.sum(0))]).tolist()
    for column in range(columns):
        part = slice(turned.indptr[column], turned.indptr[column + 1])
        assert turned.rows[part].tolist() == np.flatnonzero(dense[:, column]).tolist()
        assert (c[turned.entries[part]] == column).all()
        assert r[turned.entries[part]].tolist() == turned.rows[part].tolist()
