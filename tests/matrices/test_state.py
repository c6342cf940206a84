"""C of eq:state."""

from __future__ import annotations

import numpy as np
import pytest

from mcn.matrices.state import standardise_counts


def test_columns_are_standardised_logs():
    counts = np.zeros((3, 15), np.int64)
    counts[:, 0] = [0, 1, 3]  # log1p: 0, log 2, 2 log 2; mean log 2, deviation log 2 · √(2/3)
    counts[:, 1] = 7
    C = standardise_counts(counts, 3)
    assert C.dtype == np.float32
    np.testing.assert_allclose(C[:, 0], [-np.sqrt(1.5), 0, np.sqrt(1.5)], atol=1e-6)
    assert not C[:, 1:].any()


def test_large_counts_have_mean_0_and_deviation_1():
    counts = np.random.default_rng(0).integers(0, 10**12, (500, 15))
    C = standardise_counts(counts, 500)
    np.testing.assert_allclose(C.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(C.std(axis=0), 1, atol=1e-5)


def test_no_counts_and_no_nodes_are_zeros():
    assert standardise_counts(None, 4).shape == (4, 15)
    assert not standardise_counts(None, 4).any()
    assert standardise_counts(np.zeros((0, 15)), 0).shape == (0, 15)


def test_bad_counts_are_named():
    with pytest.raises(ValueError, match=r"node_counts has shape \(4, 3\); expected \(4, 15\)"):
        standardise_counts(np.zeros((4, 3)), 4)
    counts = np.zeros((4, 15))
    counts[2, 5] = -1
    with pytest.raises(ValueError, match=r"node_counts\[2, 5\] = -1.0"):
        standardise_counts(counts, 4)
