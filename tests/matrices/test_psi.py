"""The row kernels of Ψ by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from mcn.matrices.psi import PSI_NAMES, ROW_MAX, degree_of_row, psi_code, weigh_row

COLUMNS = np.array([1, 4, 7], np.uint32)
VALUES = np.array([3.0, 1.0, 2.0])


def weigh(i: int, count: int) -> tuple[list[int], list[float]]:
    columns, values = np.full(6, -1, np.int32), np.full(6, -1.0)
    end = weigh_row(ROW_MAX, i, COLUMNS, VALUES, count, np.empty(0), columns, values, 1)
    assert columns[0] == -1
    assert (columns[end:] == -1).all()
    return columns[1:end].tolist(), values[1:end].tolist()


@pytest.mark.parametrize(
    ("i", "columns", "values"),
    [
        (0, [0, 1, 4, 7], [3, 3, 1, 2]),
        (5, [1, 4, 5, 7], [3, 1, 3, 2]),
        (9, [1, 4, 7, 9], [3, 1, 2, 3]),
        (4, [1, 4, 7], [3, 4, 2]),
    ],
)
def test_the_diagonal_goes_to_its_place(i, columns, values):
    assert weigh(i, 3) == (columns, values)


def test_an_empty_row_is_a_self_loop():
    assert weigh(5, 0) == ([5], [1.0])


def test_degree_is_row_sum_plus_row_maximum():
    assert degree_of_row(VALUES, 3) == 9.0
    assert degree_of_row(VALUES, 0) == 1.0


def test_codes_follow_the_names():
    assert [psi_code(name) for name in PSI_NAMES] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match=r"psi must be one of unweighted, row-max, .*, got 'zzz'$"):
        psi_code("zzz")
