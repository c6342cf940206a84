"""Sorting by compiled kernels is NumPy's sorting."""

import numpy as np
import pytest

from graphmotifs._sort import sort_part


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("length", [0, 1, 2, 24, 25, 26, 60, 1000, 20_000])
def test_a_part_is_sorted_and_the_rest_left_alone(dtype: type, length: int) -> None:
    rng = np.random.default_rng(length)
    most = np.iinfo(dtype).max
    for keys in (
        rng.integers(0, most, length + 7, dtype, endpoint=True),
        rng.integers(0, 3, length + 7, dtype),  # many alike
        np.arange(length + 7, dtype=dtype),
        np.arange(length + 7, dtype=dtype)[::-1].copy(),
        np.full(length + 7, most, dtype),
    ):
        expected = keys.copy()
        expected[3 : 3 + length] = np.sort(expected[3 : 3 + length])
        sort_part(keys, 3, 3 + length)
        np.testing.assert_array_equal(keys, expected)


def test_an_organ_pipe_ends_soon() -> None:
    """Up and down again, where a pivot from the middle alone is the worst there is."""
    keys = np.concatenate([np.arange(50_000), np.arange(50_000)[::-1]]).astype(np.uint64)
    expected = np.sort(keys)
    sort_part(keys, 0, len(keys))
    np.testing.assert_array_equal(keys, expected)
