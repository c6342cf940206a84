"""Sorting by digits is NumPy's sorting."""

import numpy as np
import pytest

from mcn.store.radix_sort import sort_numbers


@pytest.mark.parametrize("length", [0, 1, 2, 5000])
@pytest.mark.parametrize("shift", [0, 1, 9, 32, 50, 63])
def test_numbers_are_sorted_by_their_digits(length: int, shift: int) -> None:
    rng = np.random.default_rng(length)
    drawn = rng.integers(0, 2**64 - 1, (2, length), np.uint64, endpoint=True)
    for numbers in (drawn[0], drawn[0] >> np.uint64(shift), drawn[0] & drawn[1] << np.uint64(shift)):
        expected, scratch = np.sort(numbers), np.empty_like(numbers)
        np.testing.assert_array_equal(sort_numbers(numbers.copy(), scratch), expected)
