"""What must hold for every method, and the numbers of single ones."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from torch_geometric.data import Data
from torch_geometric.nn import ChebConv, GMMConv

from mcn.experiments import val_accuracy
from mcn.paper.baselines import METHODS, FixedProduct, adjacency, symmetric
from mcn.paper.baselines.chebyshev import chebyshev_sum
from mcn.paper.baselines.deepwalk import negative_slots, read_walks, skip_gram, step, walks
from mcn.paper.baselines.ica import neighbour_counts, relabel
from mcn.paper.baselines.lp import propagated
from mcn.paper.baselines.manireg import laplacian_least_squares
from mcn.paper.baselines.matrices import best_scores, logistic
from mcn.paper.baselines.monet import KERNELS, Gaussians, Neighbourhoods, pseudo_coordinates
from mcn.paper.baselines.planetoid import MOST_WALKS, context_loss, draw_contexts
from mcn.paper.baselines.semiemb import embedding_loss
from mcn.train import accuracy_on_test
from tests.paper.graphs import baseline, block_problem, blocks, made_problem, path_problem

NAMES = sorted(METHODS)
SHORT = {"lr": 0.02, "max_epochs": 200}
RECIPES = {"mcn": {"lr": 0.02, "max_epochs": 40}, "paper": SHORT, "views": {"max_epochs": 40}, "trees": {}}
RECIPES |= {"auto": {"max_epochs": 40, "repeats": 1, "candidates": ("mlp", "gat")}}
"""Learning fast, for few epochs: how recipes are trained to the end is not the matter here."""
SETTINGS = {**RECIPES, **dict.fromkeys(("gat", "gcn", "mlp", "gat-paper", "gcn-paper"), SHORT)}


def scores_of(name: str, data: Data, seed: int = 0) -> Any:
    method = METHODS[name]
    config = method.configure(None, SETTINGS.get(name, {}), {})
    return method.run(method.prepare(data, None, config, None), config, seed).scores


@cache
def own_scores(name: str) -> Any:
    """The scores that several tests compare others with."""
    return scores_of(name, blocks())


def test_every_row_of_the_table_is_there() -> None:
    rows = "majority deepwalk mlp lp manireg semiemb ica planetoid chebyshev monet gcn gat"
    more = {"planetoid-t", "planetoid-i", "gat-paper", "gcn-paper", "gat-consistency", "gcn-consistency"}
    assert set(rows.split()) | more | set(RECIPES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_better_than_the_majority_and_blind_to_test_labels(name: str) -> None:
    data = blocks()
    scores = own_scores(name)
    assert (scores.dtype, scores.shape) == (np.float32, (150, 3))
    assert np.isfinite(scores).all()
    probable = bool(scores.min() >= 0 and np.allclose(scores.sum(1), 1, atol=1e-4))
    assert probable == ("probabilities" in METHODS[name].can)
    if name != "majority":
        assert accuracy_on_test(data, scores.argmax(1)) > 0.55  # a third of the nodes are in each class
    other = data.clone()
    test = other.test_mask.nonzero().squeeze(1)
    other.y[test] = other.y[test[torch.randperm(len(test), generator=torch.Generator().manual_seed(0))]]
    assert not torch.equal(other.y, data.y)
    torch.manual_seed(17)  # what was drawn elsewhere does not matter
    np.testing.assert_array_equal(scores_of(name, other), scores)


@pytest.mark.parametrize("name", ["deepwalk", "planetoid-t", "monet"])
def test_another_seed_is_another_run(name: str) -> None:
    assert not np.array_equal(own_scores(name), scores_of(name, blocks(), seed=1))


@pytest.mark.parametrize("name", ["manireg", "ica", "semiemb", "mlp"])
def test_dense_features(name: str) -> None:
    scores = scores_of(name, blocks(sparse=False))
    assert val_accuracy(block_problem(), scores) > 0.55


def test_random_numbers_of_the_caller_are_left_alone_and_majority_by_hand() -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    baseline("chebyshev")(block_problem(), 0)
    assert torch.equal(torch.rand(4), expected)
    # Of the four known labels 0, 0, 1, 0.
    scores = baseline("majority")(path_problem(), 0)
    np.testing.assert_array_equal(scores, np.tile(np.float32([0.75, 0.25]), (5, 1)))


class TestLogistic:
    @pytest.mark.parametrize("present", [[0, 2], [0, 1, 2], [1, 3, 2, 0]])
    def test_the_same_decisions_as_scikit_learn(self, present: list[int]) -> None:
        rng = np.random.default_rng(0)
        x, y, train = rng.random((40, 3)), rng.choice(present, 40), np.arange(40)
        none = np.empty((2, 0), np.int64)
        problem = made_problem(torch.zeros(40, 3), none, torch.from_numpy(y), train, train[:1], 4)
        weights, intercepts = logistic(x, problem, 10.0)
        model = LogisticRegression(C=10.0, max_iter=2000).fit(x, y)
        np.testing.assert_array_equal((x @ weights + intercepts).argmax(1), model.predict(x))

    def test_one_class_only_and_the_first_of_equals(self) -> None:
        path = path_problem()
        problem = made_problem(path.inputs.x, path.inputs.edge_index, path.labels, [3], path.val, 3)
        weights, intercepts = logistic(np.ones((5, 2)), problem, 1.0)
        assert not weights.any()
        assert intercepts.argmax() == 1
        right, wrong = np.tile([1.0, 0.0], (5, 1)), np.tile([0.0, 1.0], (5, 1))
        np.testing.assert_array_equal(best_scores([wrong, right, 2 * right], path_problem()), right)


class TestLabelPropagation:
    def test_one_step_and_the_fixed_point_by_hand(self) -> None:
        """On the path 0-1-2-3, S_01 = S_23 = 1/√2 and S_12 = 1/2; node 4 is reached by nobody."""
        scores = propagated(path_problem(), 1, 0.5)
        half = 0.5 / np.sqrt(2)
        expected = [[0.5, 0], [half, 0], [0, half], [0, 0.5], [0.75e-12, 0.25e-12]]
        np.testing.assert_allclose(scores, expected, rtol=1e-6)
        # Many steps give (1 - α)(I - αS)^-1 Y.
        root = np.sqrt(0.5)
        s = np.array([[0, root, 0, 0], [root, 0, 0.5, 0], [0, 0.5, 0, root], [0, 0, root, 0]])
        y = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
        expected = 0.3 * np.linalg.solve(np.eye(4) - 0.7 * s, y)
        np.testing.assert_allclose(propagated(path_problem(), 100, 0.7)[:4], expected, rtol=1e-6)

    def test_the_nearest_label_wins_and_what_is_best_on_validation_nodes(self) -> None:
        np.testing.assert_array_equal(baseline("lp")(path_problem(), 0).argmax(1), [0, 0, 1, 1, 0])
        problem = block_problem()
        best = val_accuracy(problem, baseline("lp")(problem, 0))
        assert best >= val_accuracy(problem, propagated(problem, 10, 0.9))
        assert best == val_accuracy(problem, baseline("lp")(problem, 1))  # nothing random in it


class TestManifoldRegularisation:
    def test_by_hand(self) -> None:
        """Two joined nodes, the first labelled 1: (1+r+s) a - s b = 1, -s a + (r+s) b = 0."""
        laplacian = sp.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
        x, rows, targets = sp.eye_array(2, format="csr"), np.array([0]), np.array([[1.0]])
        w = laplacian_least_squares(x, laplacian, rows, targets, 1.0, 2.0)
        np.testing.assert_allclose(w, [[3 / 8], [2 / 8]], rtol=1e-5)  # 4a - 2b = 1, 3b = 2a

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 10**6), st.sampled_from([0.01, 1.0]), st.sampled_from([0.0, 0.1, 10.0]))
    def test_the_closed_form(self, seed: int, ridge: float, smooth: float) -> None:
        rng = np.random.default_rng(seed)
        x, rows, targets = rng.random((12, 5)), rng.permutation(12)[:6], rng.random((6, 3))
        a = np.triu(rng.random((12, 12)) < 0.4, 1).astype(float)
        a += a.T
        laplacian = np.diag(a.sum(1)) - a
        left = x[rows].T @ x[rows] + ridge * np.eye(5) + smooth * x.T @ laplacian @ x
        expected = np.linalg.solve(left, x[rows].T @ targets)
        matrices = sp.csr_array(x), sp.csr_array(laplacian)
        own = laplacian_least_squares(*matrices, rows, targets, ridge=ridge, smooth=smooth)
        np.testing.assert_allclose(own, expected, atol=1e-3 * abs(expected).max())


class TestIterativeClassification:
    def test_counts_and_relabelling_by_hand(self) -> None:
        counts = neighbour_counts(adjacency(path_problem()), np.array([0, 1, -1, 1, 0]), 2)
        np.testing.assert_array_equal(counts, [[0, 1], [1, 0], [0, 2], [0, 0], [0, 0]])
        # Each node takes the class of most neighbours; node 2, asked first, turns to class 1 like node 3.
        a = adjacency(path_problem())
        labels = np.array([0, 1, 0, 1, 0])
        counts = neighbour_counts(a, labels, 2)
        own = np.zeros((5, 2))
        own[4] = [0, 1]
        relabel(np.array([2, 1, 4]), a.indptr, a.indices, own, np.eye(2), labels, counts)
        np.testing.assert_array_equal(labels, [0, 0, 1, 1, 1])  # node 1: one of each, the first class

    def test_counts_stay_true(self) -> None:
        a, rng = adjacency(block_problem()), np.random.default_rng(0)
        labels = rng.integers(3, size=150)
        counts = neighbour_counts(a, labels, 3)
        before, order = labels.copy(), rng.permutation(150)
        relabel(order, a.indptr, a.indices, rng.random((150, 3)), rng.random((3, 3)), labels, counts)
        assert (labels != before).any()
        np.testing.assert_array_equal(counts, neighbour_counts(a, labels, 3))


class TestWalksAndSkipGram:
    def test_every_step_is_an_edge_all_are_equally_likely_and_a_node_alone_stays(self) -> None:
        a = adjacency(block_problem())
        start = np.flatnonzero(a.sum(1))
        paths = walks(a, start, 9, np.random.default_rng(0))
        assert paths.shape == (len(start), 10)
        assert (a.toarray()[paths[:, :-1], paths[:, 1:]] == 1).all()
        path = adjacency(path_problem())
        assert walks(path, np.array([4]), 3, np.random.default_rng(0)).tolist() == [[4] * 4]
        none = sp.csr_array((3, 3))
        assert step(none, np.arange(3), np.random.default_rng(0)).tolist() == [0, 1, 2]
        ends = step(path, np.full(20_000, 1), np.random.default_rng(0))
        assert set(ends) == {0, 2}
        assert abs((ends == 0).mean() - 0.5) < 0.02

    def test_a_seed_is_a_run_nodes_that_meet_are_alike_and_slots_follow_the_counts(self) -> None:
        problem = block_problem()
        vectors, contexts = skip_gram(problem, 0, 16, 5)
        assert vectors.shape == contexts.shape == (150, 16)
        np.testing.assert_array_equal(vectors, skip_gram(problem, 0, 16, 5)[0])
        assert not np.array_equal(vectors, skip_gram(problem, 1, 16, 5)[0])
        score = vectors @ contexts.T
        a, b = problem.inputs.edge_index
        assert score[a, b].mean() > score.mean() + 1.5 * score.std()
        slots = negative_slots(np.repeat([0, 1, 3], [1, 16, 81])[None])
        share = np.bincount(slots, minlength=4) / len(slots)
        np.testing.assert_allclose(share, np.array([1, 8, 0, 27]) / 36, atol=1e-5)

    def test_one_walk_by_hand(self) -> None:
        """Two nodes: each predicts the other, against negatives that all are node 2."""
        rng = np.random.default_rng(0)
        vectors, contexts = (rng.normal(size=(3, 5)).astype(np.float32) * 0.3 for _ in range(2))
        v, c = vectors.astype(float), contexts.astype(float)
        sigma = (1 / (1 + np.exp(-((np.arange(1024) + 0.5) * 12 / 1024 - 6)))).astype(np.float32)
        slots, change = np.full(1 << 20, 2), np.empty((1, 5), np.float32)
        read_walks(np.array([[0, 1]]), 1, slots, sigma, np.uint64(5), vectors, contexts, change)
        for place, (centre, near) in enumerate([(0, 1), (1, 0)]):
            rate, moved = 0.025 * (1 - place / 2), 0.0
            for target, label in [(centre, 1), *[(2, 0)] * 5]:
                slope = (label - 1 / (1 + np.exp(-(v[near] @ c[target])))) * rate
                moved = moved + slope * c[target]
                c[target] += slope * v[near]
            v[near] += moved
        # The table has σ to three digits.
        np.testing.assert_allclose(vectors, v, atol=2e-4)
        np.testing.assert_allclose(contexts, c, atol=5e-4)


class TestPlanetoid:
    def test_contexts_of_a_node_and_of_a_node_alone(self) -> None:
        problem = block_problem()
        reach = adjacency(problem)
        node, context = draw_contexts(problem, reach, np.random.default_rng(0))
        within = (reach + reach @ reach + reach @ reach @ reach).toarray() > 0
        walked, labelled = slice(0, len(node) - 30), slice(len(node) - 30, None)
        assert within[node[walked], context[walked]].all()
        labels = problem.labels.numpy()
        np.testing.assert_array_equal(np.sort(node[labelled]), np.sort(problem.train))
        np.testing.assert_array_equal(labels[node[labelled]], labels[context[labelled]])
        problem = path_problem()
        assert 4 not in draw_contexts(problem, adjacency(problem), np.random.default_rng(0))[0]

    def test_a_large_graph_has_some_of_its_nodes_in_a_step(self) -> None:
        nodes = MOST_WALKS + 100
        ring = np.stack([np.arange(nodes), np.roll(np.arange(nodes), -1)])
        edges = np.concatenate([ring, ring[::-1]], axis=1)
        problem = made_problem(torch.zeros(nodes, 1), edges, torch.zeros(nodes).long(), [0], [1], 1)
        rng, graph = np.random.default_rng(0), adjacency(problem)
        first, second = (draw_contexts(problem, graph, rng)[0][:-1] for _ in range(2))
        assert len(first) == len(set(first)) == len(second) == MOST_WALKS
        assert not np.array_equal(first, second)

    def test_the_better_variant_on_validation_and_the_loss_of_contexts_by_hand(self) -> None:
        problem = block_problem()
        both = [baseline(f"planetoid-{variant}")(problem, 0) for variant in "ti"]
        best = max(both, key=lambda scores: val_accuracy(problem, scores))
        np.testing.assert_array_equal(own_scores("planetoid"), best)
        e, c = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0], [0.5, 1.0]])
        loss = context_loss(e, c, torch.tensor([0]), torch.tensor([0]), torch.tensor([[1, 1]]))
        assert float(loss) == pytest.approx(-np.log(expit(1.0)) - 2 * np.log(expit(-2.5)), rel=1e-5)

    @pytest.mark.parametrize("scale", [0.5, 40.0])
    def test_loss_of_contexts_beside_autograd(self, scale: float) -> None:
        """With a large scale most pairs lie where a plain exponential would overflow."""
        generator = torch.Generator().manual_seed(0)
        e = torch.randn(6, 11, generator=generator).mul_(scale).requires_grad_()
        c = torch.randn(9, 11, generator=generator).requires_grad_()
        node, near, far = torch.randint(6, (25,)), torch.randint(9, (25,)), torch.randint(9, (25, 5))
        ours = context_loss(e, c, node, near, far)
        positive = torch.nn.functional.logsigmoid((e[node] * c[near]).sum(1))
        negative = torch.nn.functional.logsigmoid(-(e[node][:, None] * c[far]).sum(2)).sum(1)
        expected = -(positive + negative).mean()
        torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)
        for own, other in zip(*(torch.autograd.grad(loss, (e, c)) for loss in (ours, expected)), strict=True):
            torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-5)


class TestSemiSupervisedEmbedding:
    def test_by_hand(self) -> None:
        hidden = torch.tensor([[0.0, 0.0], [0.6, 0.0], [0.0, 3.0]], requires_grad=True)
        near, far = torch.tensor([[0, 0], [1, 2]]), torch.tensor([[0, 0, 2], [1, 2, 2]])
        loss = embedding_loss(hidden, near, far)
        # near: (0.36 + 9) / 2; far: distances 0.6, 3, 0 are 0.4, 0, 1 short of the margin 1
        assert loss.item() == pytest.approx(4.68 + (0.16 + 0 + 1) / 3, rel=1e-5)
        loss.backward()
        assert torch.isfinite(hidden.grad).all()
        none = torch.empty(2, 0, dtype=torch.int64)
        assert float(embedding_loss(torch.ones(3, 2), none, none)) == 0

    @pytest.mark.parametrize("width", [2, 8, 13])
    def test_beside_autograd(self, width: int) -> None:
        h = torch.randn(20, width, generator=torch.Generator().manual_seed(width)).mul_(0.4).requires_grad_()
        near, far = torch.randint(20, (2, 30)), torch.randint(20, (2, 50))
        far[:, 0] = 3  # a node with itself
        ours = embedding_loss(h, near, far)
        together = (h[near[0]] - h[near[1]]).square().sum(1).mean()
        apart = ((h[far[0]] - h[far[1]]).square().sum(1) + 1e-12).sqrt()
        expected = together + (1.0 - apart).clamp_min(0).square().mean()
        torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)
        (own,), (other,) = (torch.autograd.grad(3 * loss, h) for loss in (ours, expected))
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-6)


class TestChebyshev:
    @pytest.mark.parametrize("order", [1, 2, 3, 5])
    def test_the_same_as_pyg(self, order: int) -> None:
        problem = block_problem(sparse=False)
        x, edges = problem.inputs.x, torch.from_numpy(problem.inputs.edge_index)
        conv = ChebConv(30, 4, order + 1, bias=False)
        weights = torch.cat([lin.weight.T for lin in conv.lins], dim=1)
        own = chebyshev_sum(x @ weights, FixedProduct(-symmetric(adjacency(problem))), order)
        torch.testing.assert_close(own, conv(x, edges), rtol=1e-5, atol=1e-6)

    def test_cora_has_an_order_of_its_own(self) -> None:
        own, other = (baseline("chebyshev")(block_problem(dataset=name), 0) for name in ("cora", "mine"))
        assert not np.array_equal(own, other)
        np.testing.assert_array_equal(other, own_scores("chebyshev"))


class TestMonet:
    def test_coordinates_by_hand(self) -> None:
        """With self-loops the degrees on 0-1-2-3 and 4 are 2, 3, 3, 2, 1."""
        edges, u = pseudo_coordinates(path_problem())
        root = 1 / np.sqrt([2, 3, 3, 2, 1])
        expected = {(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), *((i, i) for i in range(5))}
        assert set(map(tuple, edges.T.tolist())) == expected
        np.testing.assert_allclose(u, [[root[i], root[j]] for i, j in edges.T.tolist()], rtol=1e-6)

    def test_the_same_as_pyg_in_values_and_gradients(self) -> None:
        problem = block_problem(sparse=False)
        edges, coordinates = (torch.from_numpy(part) for part in pseudo_coordinates(problem))
        theirs = GMMConv(30, 4, 2, KERNELS, root_weight=False, aggr="mean")
        torch.nn.init.uniform_(theirs.sigma, 0.5, 1.5)
        graph = Neighbourhoods(problem)
        ours = Gaussians(graph.pairs, 4)
        with torch.no_grad():
            for name in ("mu", "sigma", "bias"):
                getattr(theirs, name).uniform_(0.3, 0.9, generator=torch.Generator().manual_seed(len(name)))
                getattr(ours, name).copy_(getattr(theirs, name))
        g = theirs.g.detach().clone().requires_grad_()
        expected = theirs((problem.inputs.x, None), edges, coordinates)
        found = ours(problem.inputs.x @ g, graph.reaching(None)[0])
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
        for out in (found, expected):
            (out.sin()).sum().backward()
        torch.testing.assert_close(g.grad, theirs.g.grad, rtol=1e-4, atol=1e-6)
        for name in ("mu", "sigma", "bias"):
            own, other = getattr(ours, name).grad, getattr(theirs, name).grad
            torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-6)

    def test_some_rows_need_no_more_than_they_reach(self) -> None:
        graph, rows = Neighbourhoods(block_problem()), np.array([7, 3, 140])
        mix = Gaussians(graph.pairs, 4)
        z = torch.randn(150, 4 * KERNELS)
        pattern, columns = graph.reaching(rows)
        assert len(columns) < 150
        some, every = mix(z[torch.from_numpy(columns)], pattern), mix(z, graph.reaching(None)[0])
        torch.testing.assert_close(some, every[rows])
