"""Drawn rows: their mean is the row, they hold the node itself, and each node draws for itself."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mcn.matrices import PSI_NAMES, MotifStack
from mcn.nn.graph_rows import StackRows
from tests.nn.graphs import dense_rows, random_stack

N, STEPS = 16, 3


def draws(graph: StackRows, option: int, fan: int, times: int) -> NDArray[Any]:
    nodes, choice = np.arange(N), np.full(N, option, np.int64)
    return np.stack([dense_rows(graph.draw(nodes, choice, fan, 7 * s + 1), N) for s in range(times)])


@pytest.mark.parametrize("psi", PSI_NAMES)
def test_the_mean_of_drawn_rows_is_the_row(psi: str) -> None:
    stack = random_stack(N, seed=1, motifs=3, steps=STEPS, psi=psi)
    graph = StackRows(stack)
    for option in range(3 * STEPS):
        full = stack.matrix(stack.motifs[option // STEPS], option % STEPS + 1).toarray()
        found = draws(graph, option, fan=2, times=200)
        error = found.std(0) / np.sqrt(len(found))
        # Five standard errors; where nothing varies, and where chance never came by, the full value counts.
        assert (np.abs(found.mean(0) - full) <= 5 * error + 0.02 * full.max()).all(), option
        assert (found[:, np.arange(N), np.arange(N)] > 0).all()


@pytest.mark.parametrize("psi", PSI_NAMES)
def test_a_row_that_is_short_enough_is_taken_as_it_is(psi: str) -> None:
    stack = random_stack(N, seed=2, motifs=3, psi=psi)
    graph = StackRows(stack)
    for option, motif in enumerate(stack.motifs):
        np.testing.assert_allclose(draws(graph, option, N, 1)[0], stack.matrix(motif).toarray(), rtol=1e-12)


def test_at_most_so_many_neighbours_and_none_twice() -> None:
    graph = StackRows(random_stack(N, seed=3, motifs=3, steps=2, psi="transition"))
    for option in range(6):
        for fan in (1, 2, 5):
            drawn = graph.draw(np.arange(N), np.full(N, option, np.int64), fan, 5)
            assert drawn.lengths.max() <= fan + 1
            for start, stop in pairwise(drawn.indptr):
                assert (np.diff(drawn.indices[start:stop]) > 0).all()


def test_heavy_neighbours_are_drawn_surely() -> None:
    """A weight above a share of the total of 1/fan leaves no chance; the others share what is left."""
    a = np.zeros((6, 6))
    a[0, 1:] = a[1:, 0] = [100, 50, 1, 1, 1]
    graph = StackRows(MotifStack.from_adjacencies({"edge": a}, psi="row-max"))
    drawn = [graph.draw(np.array([0]), np.zeros(1, np.int64), 3, seed) for seed in range(99)]
    found = np.stack([dense_rows(rows, 6)[0] for rows in drawn])
    assert (found[:, :3] == [100, 100, 50]).all()
    assert ((found[:, 3:] > 0).sum(1) == 1).all()
    assert np.unique(found[:, 3:]).tolist() == [0, 3]


def test_arrays_on_disk_are_drawn_from_alike_and_row_sums_are_those_of_the_matrices(tmp_path: Any) -> None:
    graph = StackRows(random_stack(N, seed=5, motifs=2, steps=2, psi="transition"))
    choice = np.arange(N) % 4
    expected = dense_rows(graph.draw(np.arange(N), choice, 2, 3), N)
    mapped = []
    for t, matrix in enumerate(graph.matrices):
        for name, values in matrix._asdict().items():
            np.save(tmp_path / f"{name}{t}.npy", values)
        files = [tmp_path / f"{name}{t}.npy" for name in matrix._fields]
        mapped.append(type(matrix)(*(np.load(file, mmap_mode="r") for file in files)))
    graph.matrices = tuple(mapped)
    np.testing.assert_array_equal(dense_rows(graph.draw(np.arange(N), choice, 2, 3), N), expected)
    stack = random_stack(N, seed=6, motifs=2, steps=2, psi="laplacian")
    graph = StackRows(stack)
    for option in range(4):
        full = stack.matrix(stack.motifs[option // 2], option % 2 + 1)
        np.testing.assert_allclose(graph.row_sums(option), full.sum(1), rtol=1e-6)
