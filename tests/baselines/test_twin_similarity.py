from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from mcn.baselines._twin_similarity import HOPS, NEAR, profiles, similarity
from mcn.motifs import count_motifs
from tests.baselines.copies import contacts, matrix


@pytest.mark.parametrize("seed", [0, 1])
def test_the_distance_is_that_of_mahalanobis(seed: int) -> None:
    """Brute force: log counts and their means over walks, distances by the inverse covariance."""
    a = matrix(contacts(70, seed), 70)
    dense = a.toarray()
    walk = dense / np.maximum(dense.sum(1, keepdims=True), 1)
    logs = np.log1p(count_motifs(np.stack(a.nonzero()), 70).per_node)
    raw = np.concatenate([np.linalg.matrix_power(walk, k) @ logs for k in range(HOPS + 1)], axis=1)
    unit = (raw - raw.mean(0)) / np.maximum(raw.std(0), 1e-12)
    covariance = np.cov(unit[:, raw.std(0) > 1e-9].T, bias=True)
    inverse = np.linalg.pinv(covariance, rcond=1e-6, hermitian=True)  # variances: the square of 1e-3
    rank = np.linalg.matrix_rank(covariance, tol=1e-6 * np.linalg.norm(covariance, 2), hermitian=True)
    apart = unit[:, None, raw.std(0) > 1e-9] - unit[None, :, raw.std(0) > 1e-9]
    expected = -np.einsum("ijk,kl,ijl->ij", apart, inverse, apart) / rank
    found = similarity(a)
    allowed = np.isfinite(found)
    assert 0.2 < allowed.mean() < 0.95
    np.testing.assert_allclose(found[allowed], expected[allowed], rtol=1e-3, atol=1e-3)


def test_profiles_are_white() -> None:
    columns = profiles(matrix(contacts(90, 3), 90)).astype(np.float64)
    np.testing.assert_allclose(columns.T @ columns / 90, np.eye(columns.shape[1]), atol=1e-5)


def test_who_is_near_and_who_is_alone() -> None:
    pairs = contacts(60, 4)
    pairs = pairs[(pairs != 7).all(1)]  # node 7 has no neighbours
    graph = nx.Graph(pairs.tolist())
    found = similarity(matrix(pairs, 60))
    for i in range(60):
        near = nx.single_source_shortest_path_length(graph, i, NEAR) if i in graph else {}
        never = {j for j in range(60) if j in near or i not in graph or j not in graph}
        assert set(np.flatnonzero(found[i] == -np.inf)) == never
    assert (found[7] == -np.inf).all()


def test_nodes_that_cannot_be_told_apart() -> None:
    """All nodes of a cycle are alike: no column varies by more than rounding."""
    ring = np.stack([np.arange(13), np.roll(np.arange(13), -1)], axis=1)
    assert profiles(matrix(ring, 13)).tolist() == [[0.0]] * 13
    found = similarity(matrix(ring, 13))
    assert found[0].tolist() == [-np.inf] * 5 + [0.0] * 4 + [-np.inf] * 4
