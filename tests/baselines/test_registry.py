from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mcn.baselines import METHODS, check_methods, find_method, register
from mcn.baselines.registry import Outcome, ScoredMethod, TrainedMethod
from mcn.train import RECIPES, fit
from tests.baselines.graphs import baseline, block_problem, blocks
from tests.configs import MCNConfig, ViewsConfig
from tests.train.graphs import SMALL, new_trainer, predicted, small_config, small_graph


@pytest.fixture(autouse=True)
def own_entries() -> Iterator[None]:
    """Take out again what a test registers."""
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


def run_of(name: str) -> Outcome:
    method = METHODS[name]
    return method.run(method.prepare(blocks(), None, None, None), None, 0)


@pytest.mark.parametrize(
    ("name", "what", "message"),
    [
        ("chebishev", "method", r"got 'chebishev'; did you mean 'chebyshev'\?"),
        ("chebishev", "--method", r"^--method must be one of .* did you mean 'chebyshev'\?"),
        ("12345", "method", r"^method must be one of mcn, paper, views, auto, gat, gcn, mlp, .*got '12345'$"),
    ],
)
def test_names_that_are_not_known(name: str, what: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_method(name, what)


def test_a_name_that_is_taken() -> None:
    before = METHODS["lp"]
    with pytest.raises(ValueError, match="'lp' is registered already"):
        register("lp")(baseline("lp"))
    with pytest.raises(ValueError, match="'mcn' is registered already"):
        register("mcn")(baseline("lp"))
    assert find_method("lp") is before


def test_a_method_of_ones_own() -> None:
    @register("mine", needs=("numpy",))
    def mine(problem: object, seed: int) -> np.ndarray:
        """Score by the class's number.

        With more to say.
        """
        return np.eye(3, dtype=np.float32)[block_problem().labels]

    found = find_method("mine")
    assert (found.name, found.title, found.needs) == ("mine", "Score by the class's number.", ("numpy",))
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
    with pytest.raises(ValueError, match=message):
        run_of("mine")


def test_every_method_says_what_it_is() -> None:
    for name, method in METHODS.items():
        assert method.name == name
        assert method.title
        assert isinstance(method, TrainedMethod) is method.trained
        assert isinstance(method, ScoredMethod) is not method.trained


def test_every_recipe_is_a_method() -> None:
    for name, recipe in RECIPES.items():
        method = METHODS[name]
        assert isinstance(method, TrainedMethod)
        assert (method.recipe, method.title, dict(method.changes)) == (name, recipe.title, {})
    assert METHODS["views"].configure(None, {"walk_length": 3}, {}) == ViewsConfig(walk_length=3)


def test_what_decides_a_configuration() -> None:
    """The preset, then the settings, then the method's own changes, then those that have the last word."""
    gcn = METHODS["gcn"]
    changes, last = {"weight_decay": 0.1, "hidden": 5}, {"dropout": 0.1, "consistency_ramp": 7}
    found = gcn.configure("pubmed", changes, last)
    assert isinstance(found, MCNConfig)
    assert (found.weight_decay, found.hidden, found.dropout, found.lr) == (0.1, 16, 0.1, 0.01)
    assert (found.output_heads, found.consistency_ramp) == (1, 7)
    with pytest.raises(ValueError, match="unknown setting 'hiden'; did you mean 'hidden'"):
        gcn.configure(None, {"hiden": 3}, {})


def test_a_baseline_has_no_settings() -> None:
    assert METHODS["lp"].configure("cora", {}, {}) is None
    for given in ([{"lr": 1}, {}], [{}, {"lr": 1}]):
        with pytest.raises(ValueError, match=r"the baseline 'lp' has no settings, got \{'lr': 1\}"):
            METHODS["lp"].configure(None, *given)


def test_a_trained_method_is_a_plain_training_run() -> None:
    data, method = small_graph(), METHODS["mcn"]
    config = method.configure(None, {**SMALL, "attention": "gated"}, {})
    assert config == small_config()
    own = method.run(method.prepare(data, None, config, None), config, 3)
    trainer = new_trainer(data, small_config(seed=3))
    result = fit(trainer)
    assert np.array_equal(own.scores, predicted(trainer).probabilities)
    assert (own.val_accuracy, own.val_loss, own.epochs) == (
        result.val_accuracy,
        result.val_loss,
        result.epochs,
    )


def test_missing_packages_are_named() -> None:
    register("mine", needs=("numpy", "no_such_package"))(baseline("lp"))
    with pytest.raises(ValueError, match=r"^mine needs no_such_package: pip install no_such_package$"):
        check_methods(["mcn", "mine"])


def test_methods_are_named_once_and_known() -> None:
    assert check_methods(["gat", "paper", "gat", "lp"]) == ["gat", "paper", "lp"]
    with pytest.raises(ValueError, match="--methods names no method; there are mcn, paper, views"):
        check_methods([], "--methods")
    with pytest.raises(ValueError, match="got 'gtc'"):
        check_methods(["mcn", "gtc"])


def test_a_plain_installation_has_every_method_without_needs() -> None:
    assert not [name for name, method in METHODS.items() if method.needs]
