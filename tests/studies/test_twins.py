"""Twins: alignment step by step by brute force, planted copies, and votes by hand."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

import mcn
from mcn.train import Problem
from studies.twins import MOST_NODES, posterior, twins
from studies.twins.extend import PENALTY, WEIGHT, Extensions, candidates, extend
from studies.twins.matrix import believed, best_of_rows, best_of_sparse, twin_matrix, votes
from studies.twins.similarity import HOPS, NEAR, profiles, similarity
from tests.baselines.graphs import made_problem

PATHS = np.array([[0, 1], [1, 2], [3, 4], [4, 5]])
TRIANGLE = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5]])


def contacts(nodes: int, seed: int) -> NDArray[np.int64]:
    """Edges int64 [M, 2] of a random geometric graph: places in a square, joined if close; degree 8 or so."""
    place = np.random.default_rng(seed).random((nodes, 2)) * np.sqrt(nodes)
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    return np.argwhere(np.triu(distance < 1.9, 1))


def copies(nodes: int = 100, number: int = 4, dropped: float = 0.1, seed: int = 0) -> tuple[Any, Any]:
    """A, and the place of each node in its copy: copies with a share of their edges dropped, shuffled."""
    rng = np.random.default_rng(seed)
    edges = contacts(nodes, seed)
    own = [edges[rng.random(len(edges)) >= dropped] + nodes * copy for copy in range(number)]
    order = rng.permutation(nodes * number)
    place = np.empty(nodes * number, np.int64)
    place[order] = np.arange(nodes * number) % nodes
    return matrix(order[np.concatenate(own)], nodes * number), place


def matrix(pairs: NDArray[np.int64], nodes: int) -> Any:
    both = np.concatenate([pairs, pairs[:, ::-1]]).T
    return sp.csr_array((np.ones(both.shape[1]), tuple(both)), shape=(nodes, nodes))


def problem_of(adjacency: Any, classes: NDArray[np.int64], seed: int = 0, share: float = 0.15) -> Problem:
    """A share of the nodes for training, a quarter for validation; no label elsewhere, no features."""
    n = len(classes)
    order = np.random.default_rng(seed).permutation(n)
    train, val = order[: int(share * n)], order[int(share * n) : int((share + 0.25) * n)]
    labels = torch.full((n,), -1)
    for part in (train, val):
        labels[part] = torch.from_numpy(classes[part])
    edges = np.stack(adjacency.nonzero()).astype(np.int64)
    return made_problem(torch.zeros(n, 1), edges, labels, train, val, int(classes.max()) + 1)


def extended(pairs: Any, seed: tuple[int, int], similar: Any = None, most: int = 9) -> Any:
    n = int(pairs.max()) + 1
    similar = np.zeros((n, n), np.float32) if similar is None else similar
    found = extend(matrix(pairs, n), similar, np.array([seed[0]]), np.array([seed[1]]), most)
    return list(zip(found.row.tolist(), found.column.tolist(), strict=True)), found


class TestExtend:
    def test_by_hand_and_similarity_decides_between_equals_and_forbids(self) -> None:
        pairs, found = extended(PATHS, (0, 3))
        assert pairs == [(0, 3), (1, 4), (2, 5)]
        assert (found.score.tolist(), found.local.tolist()) == ([2.0], [1.0, 1.0, 1.0])
        # A triangle on a path, from the middle: 1 for the second pair, 1 - 0.5 for the third.
        pairs, found = extended(TRIANGLE, (1, 4))
        assert pairs == [(1, 4), (0, 3), (2, 5)]
        assert (found.score.tolist(), found.local.tolist()) == ([1.5], [1.0, 0.5, 0.5])
        assert extended(PATHS, (0, 3), most=2)[0] == [(0, 3), (1, 4)]
        similar = np.zeros((6, 6), np.float32)
        similar[0, 5] = 0.1
        assert extended(TRIANGLE, (1, 4), similar)[0] == [(1, 4), (0, 5), (2, 3)]
        similar[1, 4] = -np.inf
        assert extended(PATHS, (0, 3), similar)[0] == [(0, 3)]

    @staticmethod
    def brute(a: Any, similar: Any, seed: tuple[int, int], most: int) -> tuple[list[Any], float, Any]:
        """The same by definition: every pair that is not matched is looked at in every step."""
        pairs, score, n = [seed], 0.0, len(a)
        while len(pairs) < most:
            left, right = np.array(pairs).T
            conserved = a[:, left] @ a[right]
            lost = a[:, left].sum(1)[:, None] + a[:, right].sum(1) - 2 * conserved
            gain = conserved - PENALTY * lost
            value = np.where(conserved > 0, gain + WEIGHT * similar, -np.inf)
            value[left], value[:, right] = -np.inf, -np.inf
            if value.max() == -np.inf:
                break
            best = tuple(int(i) for i in np.unravel_index(value.argmax(), (n, n)))
            score += gain[best]
            pairs.append((best[0], best[1]))
        left, right = np.array(pairs).T
        both = (a[np.ix_(left, left)] * a[np.ix_(right, right)]).sum(1)
        return pairs, score, both / (a.sum(1)[left] + a.sum(1)[right] - both)

    @pytest.mark.parametrize("seed", range(3))
    def test_every_step_is_the_best_one(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        a = matrix(contacts(50, seed), 50)
        similar = rng.standard_normal((50, 50)).astype(np.float32)  # no ties
        similar[rng.random((50, 50)) < 0.2] = -np.inf
        some = np.flatnonzero(a.sum(1))
        left, right = rng.choice(some, 12), rng.choice(some, 12)
        found = extend(a, similar, left, right, 20)
        end = np.cumsum(found.size)
        for s, (u, v) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            pairs, score, local = self.brute(a.toarray(), similar, (u, v), 20)
            part = slice(end[s] - found.size[s], end[s])
            assert list(zip(found.row[part].tolist(), found.column[part].tolist(), strict=True)) == pairs
            assert found.score[s] == pytest.approx(score)
            np.testing.assert_allclose(found.local[part], local, rtol=1e-6)

    def test_hubs_are_refused(self) -> None:
        assert candidates(np.array([1, 3, 2]), 2) == 1 + min(9 + 4, 9)
        star = np.stack([np.zeros(4500, np.int64), np.arange(1, 4501)], axis=1)
        with pytest.raises(ValueError, match=r"up to 4,500 neighbours.*at most 20,000,000.*another baseline"):
            extend(matrix(star, 4501), np.zeros((1, 1), np.float32), np.array([1]), np.array([2]), 40)


class TestSimilarity:
    def test_the_distance_is_that_of_mahalanobis(self) -> None:
        """Brute force: log counts and their means over walks, distances by the inverse covariance."""
        a = matrix(contacts(70, 0), 70)
        dense = a.toarray()
        walk = dense / np.maximum(dense.sum(1, keepdims=True), 1)
        logs = np.log1p(mcn.count_motifs(np.stack(a.nonzero()), 70).per_node)
        raw = np.concatenate([np.linalg.matrix_power(walk, k) @ logs for k in range(HOPS + 1)], axis=1)
        unit = ((raw - raw.mean(0)) / np.maximum(raw.std(0), 1e-12))[:, raw.std(0) > 1e-9]
        covariance = np.cov(unit.T, bias=True)
        inverse = np.linalg.pinv(covariance, rcond=1e-6, hermitian=True)  # variances: the square of 1e-3
        rank = np.linalg.matrix_rank(covariance, tol=1e-6 * np.linalg.norm(covariance, 2), hermitian=True)
        apart = unit[:, None] - unit[None]
        expected = -np.einsum("ijk,kl,ijl->ij", apart, inverse, apart) / rank
        found = similarity(a)
        allowed = np.isfinite(found)
        assert 0.2 < allowed.mean() < 0.95
        np.testing.assert_allclose(found[allowed], expected[allowed], rtol=1e-3, atol=1e-3)

    def test_who_is_near_who_is_alone_and_who_cannot_be_told_apart(self) -> None:
        pairs = contacts(60, 4)
        pairs = pairs[(pairs != 7).all(1)]  # node 7 has no neighbours
        graph = nx.Graph(pairs.tolist())
        found = similarity(matrix(pairs, 60))
        for i in range(60):
            near = nx.single_source_shortest_path_length(graph, i, NEAR) if i in graph else {}
            never = {j for j in range(60) if j in near or i not in graph or j not in graph}
            assert set(np.flatnonzero(found[i] == -np.inf)) == never
        # All nodes of a cycle are alike: no column varies by more than rounding.
        ring = np.stack([np.arange(13), np.roll(np.arange(13), -1)], axis=1)
        assert profiles(matrix(ring, 13)).tolist() == [[0.0]] * 13


class TestMatrix:
    def test_planted_twins_are_found(self) -> None:
        a, place = copies(seed=1)
        alike = (place[similarity(a).argmax(1)] == place).mean()
        found = twin_matrix(a)
        assert (place[found.toarray().argmax(1)] == place).mean() > max(0.7, alike + 0.25)
        np.testing.assert_allclose(found.toarray(), found.T.toarray(), rtol=1e-5)
        np.testing.assert_array_equal(found.toarray(), twin_matrix(a).toarray())

    @pytest.mark.parametrize("pairs", [np.empty((0, 2), np.int64), np.array([[0, 1], [1, 2], [0, 2]])])
    def test_no_pair_can_be_twins(self, pairs: np.ndarray) -> None:
        assert twin_matrix(matrix(pairs, 3)).nnz == 0

    def test_two_edges_apart_are_twins(self) -> None:
        """0 - 1 and 2 - 3: rows of N are (1/2, 1/2) over the two of the other edge."""
        found = twin_matrix(matrix(np.array([[0, 1], [2, 3]]), 4)).toarray()
        np.testing.assert_allclose(found[:2, :2], 0)
        np.testing.assert_allclose(found[:2, 2:], 0.5, rtol=1e-6)

    def test_votes_what_is_believed_next_and_the_best_of_each_row_by_hand(self) -> None:
        """Extensions of scores 0 and 2 and size 10: weights e^-1 and 1. M is that of the path 0 - 1 - 2."""
        pairs = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
        found = Extensions(np.array([0.0, 2.0]), np.array([1, 1]), *pairs, np.array([1.0, 0.5], np.float32))
        e = np.exp(-1)
        m = np.array([[0, e, 0], [e, 0, 0.5], [0, 0.5, 0]])
        n = m / np.sqrt(m.sum(0) * m.sum(0)[:, None])
        base = np.zeros((3, 3), np.float32)
        np.testing.assert_allclose(votes(found, 10, base).toarray(), n + n @ n, rtol=1e-6)
        base = np.array([[-np.inf, -2.0], [-2.0, -np.inf]], np.float32)
        twin = sp.csr_array(np.array([[0, 0.2], [0, 0]], np.float32))
        expected = [[-np.inf, -0.6 + np.log(0.201) - np.log(0.001)], [-0.6, -np.inf]]
        np.testing.assert_allclose(believed(base, twin), expected, rtol=1e-6)
        never = -np.inf
        rows = np.array([[never, 1, 3, 2], [never, never, never, 5], [never] * 4, [4, 3, 2, 1]], np.float32)
        expected_pairs = [(0, 2), (0, 3), (1, 3), (3, 0), (3, 1)]
        assert {*zip(*(part.tolist() for part in best_of_rows(rows, 2)), strict=True)} == {*expected_pairs}
        stored = best_of_sparse(sp.csr_array(np.where(np.isfinite(rows), rows, 0)), 2)
        assert list(zip(*(part.tolist() for part in stored), strict=True)) == expected_pairs


class TestMethod:
    def test_posterior_by_hand(self) -> None:
        """Node 2 has twins of strength 0.1 and 0.5: 0.4 votes for class 0, 2 cut to 0.95 for class 1."""
        twin = np.zeros((4, 4), np.float32)
        twin[2, :2] = 0.1, 0.5
        twin[2, 3] = 0.7  # a validation node: it has no vote
        none = np.empty((2, 0), np.int64)
        problem = made_problem(torch.zeros(4, 1), none, torch.tensor([0, 1, -1, 0]), [0, 1], [3], 2)
        prior, rest = np.array([0.75, 0.25]), np.exp(-1.35)
        expected = np.tile(prior, (4, 1))
        expected[2] = (1 - rest) * np.array([0.4, 0.95]) / 1.35 + rest * prior
        np.testing.assert_allclose(posterior(sp.csr_array(twin), problem, prior), expected, rtol=1e-6)

    def test_planted_copies_are_classified_and_large_graphs_refused(self) -> None:
        """10 classes by place: no neighbour helps, a twin does. Three nodes in ten have a label."""
        a, place = copies(seed=1)
        classes = np.random.default_rng(5).permutation(100)[place] % 10
        problem = problem_of(a, classes, share=0.3)
        found = twins(problem, 0)
        np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)
        rest = np.setdiff1d(np.arange(400), np.concatenate([problem.train, problem.val]))
        assert (found.argmax(1) == classes)[rest].mean() > 0.45
        assert (classes[rest] == np.bincount(classes[problem.val]).argmax()).mean() < 0.2
        problem = problem_of(matrix(np.array([[0, 1]]), MOST_NODES + 1), np.arange(MOST_NODES + 1) % 2)
        with pytest.raises(ValueError, match=r"10,001 nodes need more than 1\.2 GB; expected at most 10,000"):
            twins(problem, 0)
