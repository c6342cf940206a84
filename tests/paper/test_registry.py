"""The registry of methods, what a baseline is given, the layers of networks, and their training."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from mcn.experiments import check_methods, find_method, graph_problem, register, val_accuracy
from mcn.experiments.engine.methods import Outcome, ScoredMethod, TrainedMethod
from mcn.paper.baselines import METHODS, FixedProduct, InputLinear, Network
from mcn.paper.baselines.matrices import (
    adjacency,
    one_hot,
    symmetric,
    unit_features,
)
from mcn.paper.baselines.networks import train_scores
from mcn.train import RECIPES, Problem, fit, prepare
from tests.configs import MCNConfig, ViewsConfig
from tests.conftest import refuses
from tests.paper.graphs import baseline, block_problem, blocks, path_problem
from tests.train.graphs import SMALL, new_trainer, predicted, small_config, small_graph

pytestmark = pytest.mark.usefixtures("own_methods")
FIRST = "mcn, paper, views, trees, auto, gat, gcn, mlp"


def run_of(name: str) -> Outcome:
    method = METHODS[name]
    return method.run(method.prepare(blocks(), None, None, None), None, 0)


@pytest.mark.parametrize(
    ("name", "what", "message"),
    [
        ("chebishev", "method", r"got 'chebishev'; did you mean 'chebyshev'\?"),
        ("chebishev", "--method", r"^--method must be one of .* did you mean 'chebyshev'\?"),
        ("12345", "method", rf"^method must be one of {FIRST}, .*got '12345'$"),
    ],
)
def test_names_that_are_not_known(name: str, what: str, message: str) -> None:
    refuses(message, find_method, name, what)


def test_a_method_of_ones_own() -> None:
    @register("mine")
    def mine(problem: object, seed: int) -> np.ndarray:
        """Score by the class's number.

        With more to say.
        """
        return np.eye(3, dtype=np.float32)[block_problem().labels]

    found = find_method("mine")
    assert (found.name, found.title) == ("mine", "Score by the class's number.")
    assert not found.trained
    assert found.can == ("probabilities",)
    own = run_of("mine")
    assert own.val_accuracy == 1.0
    assert (own.val_loss, own.epochs) == (None, None)
    assert own.seconds >= 0
    assert own.scores.argmax(1).tolist() == np.eye(3)[block_problem().labels].argmax(1).tolist()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((2, 3)), r"'mine' returned scores of shape \(2, 3\); expected \(150, 3\)"),
        (np.full((150, 3), np.nan), "'mine' returned scores that are not finite"),
    ],
)
def test_what_are_no_scores(scores: np.ndarray, message: str) -> None:
    register("mine")(lambda problem, seed: scores.astype(np.float32))
    refuses(message, run_of, "mine")


def test_every_method_says_what_it_is_and_every_recipe_is_one() -> None:
    for name, method in METHODS.items():
        assert method.name == name
        assert method.title
        assert isinstance(method, TrainedMethod) is method.trained
        assert isinstance(method, ScoredMethod) is not method.trained
    for name, recipe in RECIPES.items():
        method = METHODS[name]
        assert isinstance(method, TrainedMethod)
        changes = {"cross_fit": False} if name == "auto" else {}  # all learn from the same nodes
        assert (method.recipe, method.title, dict(method.changes)) == (name, recipe.title, changes)
    assert METHODS["views"].configure(None, {"walk_length": 3}, {}) == ViewsConfig(walk_length=3)


def test_what_decides_a_configuration_and_a_baseline_has_none() -> None:
    """The preset, then the settings, then the method's own changes, then those that have the last word."""
    gcn = METHODS["gcn"]
    changes, last = {"weight_decay": 0.1, "hidden": 5}, {"dropout": 0.1, "consistency_ramp": 7}
    found = gcn.configure("pubmed", changes, last)
    assert isinstance(found, MCNConfig)
    assert (found.weight_decay, found.hidden, found.dropout, found.lr) == (0.1, 16, 0.1, 0.01)
    assert (found.output_heads, found.consistency_ramp) == (1, 7)
    refuses("unknown setting 'hiden'; did you mean 'hidden'", gcn.configure, None, {"hiden": 3}, {})
    assert METHODS["lp"].configure("cora", {}, {}) is None
    for given in ([{"lr": 1}, {}], [{}, {"lr": 1}]):
        refuses(r"the baseline 'lp' has no settings, got \{'lr': 1\}", METHODS["lp"].configure, None, *given)


def test_a_trained_method_is_a_plain_training_run() -> None:
    data, method = small_graph(), METHODS["mcn"]
    config = method.configure(None, {**SMALL, "attention": "gated"}, {})
    assert config == small_config()
    own = method.run(method.prepare(data, None, config, None), config, 3)
    trainer = new_trainer(data, small_config(seed=3))
    result = fit(trainer)
    assert np.array_equal(own.scores, predicted(trainer).probabilities)
    expected = result.val_accuracy, result.val_loss, result.epochs
    assert (own.val_accuracy, own.val_loss, own.epochs) == expected


def test_methods_are_named_once_and_known() -> None:
    assert check_methods(["gat", "paper", "gat", "lp"]) == ["gat", "paper", "lp"]
    refuses("--methods names no method; there are mcn, paper, views", check_methods, [], "--methods")
    refuses("got 'gtc'", check_methods, ["mcn", "gtc"])
    before = METHODS["lp"]
    refuses("'lp' is registered already", register("lp"), baseline("lp"))
    refuses("'mcn' is registered already", register("mcn"), baseline("lp"))
    assert find_method("lp") is before


class TestProblem:
    def test_what_a_method_is_given(self) -> None:
        data = blocks()
        problem = graph_problem(data, "mine")
        inputs = problem.inputs
        assert (inputs.num_nodes, inputs.in_channels, inputs.dataset) == (150, 30, "mine")
        assert problem.num_classes == 3
        prepared = prepare(data, small_config())
        assert torch.equal(problem.labels, prepared.labels)
        assert problem.train.tolist() == prepared.train.tolist()
        assert problem.val.tolist() == prepared.val.tolist()
        np.testing.assert_allclose(inputs.x.to_dense().sum(1), 1, rtol=1e-6)
        data.y = None
        refuses("no labels", graph_problem, data)

    def test_matrices_and_accuracy_on_validation_by_hand(self) -> None:
        a = adjacency(path_problem())
        expected = np.zeros((5, 5))
        expected[[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]] = 1
        np.testing.assert_array_equal(a.toarray(), expected)
        degree = np.array([1, 2, 2, 1, 1])
        np.testing.assert_allclose(symmetric(a).toarray(), expected / np.sqrt(np.outer(degree, degree)))
        np.testing.assert_allclose((unit_features(block_problem()).toarray() ** 2).sum(1), 1)
        np.testing.assert_array_equal(one_hot(np.array([1, -1, 0]), 2), [[0, 1], [0, 0], [1, 0]])
        scores = np.array([[0, 1], [0, 1], [0, 1], [0, 1], [1, 0]])
        assert val_accuracy(path_problem(), scores) == 0.5  # nodes 1 (wrong) and 4 (right)


class TestLayers:
    def test_sparse_and_dense_inputs_dropout_in_training_only_and_some_rows(self) -> None:
        inputs = (block_problem(sparse).inputs.x for sparse in (True, False))
        layers = [InputLinear(x, 4, dropout=0.5).eval() for x in inputs]
        layers[1].weight.data = layers[0].weight.data.clone()
        outputs = [layer() for layer in layers]
        torch.testing.assert_close(*outputs)
        for out in outputs:
            (out**2).sum().backward()
        torch.testing.assert_close(*[layer.weight.grad for layer in layers])
        for sparse in (True, False):
            layer = InputLinear(block_problem(sparse).inputs.x, 4, dropout=0.5)
            assert not torch.equal(layer(), layer())
            layer.eval()
            nodes = np.array([5, 2, 5])
            torch.testing.assert_close(layer(layer.rows(nodes)), layer()[nodes])
            assert torch.equal(layer(layer.rows(None)), layer())

    def test_the_product_and_its_gradient(self) -> None:
        rng = np.random.default_rng(0)
        matrix = sp.random_array((4, 6), density=0.5, rng=rng)
        z = torch.from_numpy(rng.random((6, 2)).astype(np.float32)).requires_grad_()
        dense = torch.from_numpy(matrix.toarray().astype(np.float32))
        torch.testing.assert_close(FixedProduct(matrix)(z), dense @ z)
        (own,) = torch.autograd.grad((FixedProduct(matrix)(z) ** 2).sum(), z)
        (expected,) = torch.autograd.grad(((dense @ z) ** 2).sum(), z)
        torch.testing.assert_close(own, expected)


class Regression(Network):
    """Softmax regression on the features."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.first = InputLinear(problem.inputs.x, problem.num_classes)
        torch.nn.init.zeros_(self.first.weight)

    def forward(self) -> torch.Tensor:
        return self.first()


class TestTraining:
    def test_one_epoch_is_one_step_of_the_optimizer_on_the_training_nodes(self) -> None:
        problem = block_problem(sparse=False)
        descent = {"optimizer": lambda network: torch.optim.SGD(network.parameters(), lr=0.5)}
        scores = train_scores(lambda: Regression(problem), problem, 0, **descent, max_epochs=1)
        weight = torch.zeros(30, 3, requires_grad=True)
        x = problem.inputs.x
        torch.nn.functional.cross_entropy((x @ weight)[problem.train], problem.train_labels).backward()
        expected = (x @ (-0.5 * weight.grad)).softmax(1)
        np.testing.assert_allclose(scores, expected.numpy(), rtol=1e-5)

    def test_patience_ends_it(self) -> None:
        problem = block_problem()
        steps: list[int] = []

        class Counting(Regression):
            def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
                steps.append(len(logits))
                return 0 * super().loss(logits, labels)  # nothing is learned: the first epoch stays the best

        train_scores(lambda: Counting(problem), problem, 0, patience=7, stopping="loss")
        assert steps == [len(problem.train)] * 8
