"""How much work there is, and how many threads it gets."""

from __future__ import annotations

import numpy as np
import pytest

from mcn._threads import available_threads
from mcn.matrices.adjacencies import adjacencies_from_mapping
from mcn.matrices.compute import compute_lengths, row_work, thread_count
from tests.matrices.dense import random_adjacency


def test_small_work_stays_on_one_thread():
    assert thread_count(8, 1000) == 1
    assert thread_count(8, 1e9) == 8
    assert thread_count(None, 1e9) == available_threads()
    with pytest.raises(ValueError, match="threads must be a positive integer up to 1024, got -1"):
        thread_count(-1, 1000)


def test_work_grows_with_degree_and_step():
    star = np.zeros((9, 9))
    star[0, 1:] = star[1:, 0] = 1
    adj = adjacencies_from_mapping({"edge": star})
    first = row_work(adj, 2, np.array([0, 1]), np.array([0, 0]))
    second = row_work(adj, 2, np.array([0, 1]), np.array([1, 1]))
    assert first.tolist() == [9, 2]
    assert (second > first).all()


def test_counting_stops_where_it_is_told_whatever_the_threads():
    adj = adjacencies_from_mapping({"edge": random_adjacency(3000, 0.005, seed=0)})
    everything, complete = compute_lengths(adj, 3, None)
    assert complete
    stopped = [compute_lengths(adj, 3, threads, most=100) for threads in (1, 2)]
    for lengths, complete in stopped:
        assert not complete
        done = lengths[0, 0] > 0
        assert 0 < done.sum() < 3000
        assert np.array_equal(lengths[:, :, done], everything[:, :, done])
    assert np.array_equal(stopped[0][0], stopped[1][0])
