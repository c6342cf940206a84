"""Rows of powers: sums, order, and scratch memory that is left clean."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from mcn.matrices.powers import first_step, new_scratch, next_step, order_touched
from tests.matrices.dense import adjacencies, dense_power, random_adjacency


def power_row(A: np.ndarray, i: int, k: int, scratch) -> np.ndarray:
    csr = sp.csr_array(A.astype(float))
    source = (csr.indptr.astype(np.int64), csr.indices.astype(np.uint32), csr.data)
    count = first_step(source, i, scratch)
    for _ in range(k - 1):
        count = next_step(source, 0, count, scratch)
    columns = scratch.columns[:count].astype(int)
    assert (np.diff(columns) > 0).all()
    row = np.zeros(len(A))
    row[columns] = scratch.values[:count]
    assert (row[columns] > 0).all()
    return row


@settings(max_examples=40, deadline=None)
@given(A=adjacencies())
def test_rows_equal_the_dense_power(A):
    scratch = new_scratch(len(A))
    for k in range(1, 5):
        for i in range(len(A)):
            assert np.array_equal(power_row(A, i, k, scratch), dense_power(A, k)[i])
            assert not scratch.total.any()
            assert not scratch.bits.any()


def test_rows_of_many_words_equal_the_dense_power():
    A = random_adjacency(700, 0.004, seed=1)
    scratch = new_scratch(700)
    for i in (0, 63, 64, 699):
        assert np.array_equal(power_row(A, i, 4, scratch), dense_power(A, 4)[i])


@pytest.mark.parametrize("found", [0, 1, 3, 40, 5000])
def test_both_ways_of_ordering_agree_with_sort(found):
    n = 20_000
    columns = np.random.default_rng(found).permutation(n)[:found].astype(np.uint32)
    bits = np.zeros((n + 63) // 64, np.uint64)
    np.bitwise_or.at(
        bits, columns >> np.uint32(6), np.uint64(1) << (columns.astype(np.uint64) & np.uint64(63))
    )
    expected = np.sort(columns)
    order_touched(columns, found, bits)
    assert np.array_equal(columns, expected)
    assert not bits.any()
