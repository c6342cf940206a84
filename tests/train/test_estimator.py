"""The estimators: scikit-learn's manners, new nodes and graphs, input that cannot be trained on."""

import ast
import dataclasses
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.validation import check_is_fitted
from torch_geometric.data import Data

import mcn
from mcn import (
    AutoClassifier,
    AutoRegressor,
    MCNClassifier,
    MCNRegressor,
    PaperClassifier,
    PaperRegressor,
    TreesClassifier,
    TreesRegressor,
    ViewsClassifier,
    ViewsRegressor,
)
from mcn.data import random_split
from mcn.train import RECIPES, Run, accuracy_on_test, load_run, train
from mcn.train.metrics import TASK_METRICS, score
from mcn.train.settings import declared
from tests.conftest import refuses
from tests.train.graphs import SMALL, settings, small_graph

ESTIMATORS = [MCNClassifier, PaperClassifier, ViewsClassifier, TreesClassifier, AutoClassifier]
REGRESSORS = [MCNRegressor, PaperRegressor, ViewsRegressor, TreesRegressor, AutoRegressor]
_QUICK: dict[str, dict[str, Any]] = {
    "mcn": {**SMALL, "max_epochs": 3},
    "paper": {**SMALL, "max_epochs": 3},
    "views": {"walk_length": 3, "max_neighbours": 6, "hidden": 8, "max_epochs": 3},
    "trees": {"max_epochs": 3},
    "auto": {"candidates": ("mlp", "gcn"), "repeats": 1, "max_epochs": 3},
}
QUICK: dict[type, dict[str, Any]] = {each: _QUICK[each.recipe.name] for each in ESTIMATORS + REGRESSORS}


@pytest.fixture(scope="module")
def data() -> Data:
    return small_graph()


@pytest.fixture(scope="module")
def fitted(data: Data) -> MCNClassifier:
    return MCNClassifier(**SMALL, steps=2, attention="paper", random_state=3).fit(data)


def changed(data: Data, **attributes: Any) -> Data:
    other = data.clone()
    for name, value in attributes.items():
        other[name] = value
    return other


@pytest.mark.parametrize("estimator", ESTIMATORS + REGRESSORS)
def test_parameters_and_documentation_are_those_of_the_settings(estimator: Any) -> None:
    config, params = estimator.recipe.config, estimator().get_params()
    assert params.keys() - {"random_state"} == {f.name for f in dataclasses.fields(config)} - {"seed"}
    assert config(seed=params.pop("random_state"), **params) == config()
    for name, one in declared(config).items():
        shown = "random_state" if name == "seed" else name
        assert f"{shown}: {one.sentence} Default: {one.default!r}." in estimator.__doc__
    for title in ("Parameters", "Attributes", "Example"):
        assert f"\n\n{title}:\n    " in estimator.__doc__


def test_every_recipe_has_a_classifier_and_a_regressor() -> None:
    kinds = {"Classifier": ESTIMATORS, "Regressor": REGRESSORS}
    for kind, estimators in kinds.items():
        assert {each.recipe.name: each.__name__ for each in estimators} == {
            name: {"mcn": "MCN"}.get(name, name.title()) + kind for name in RECIPES
        }


def test_type_checkers_read_what_the_settings_declare(repository: Path) -> None:
    """`mypy` refuses `MCNClassifier(lrr=0.1)` since its stub has these keywords and no others."""
    stubs = runpy.run_path(str(repository / "docs" / "make_stubs.py"))["stubs"]()
    assert {path.name for path in stubs} == {"signatures.pyi", "__init__.pyi"}
    for path, text in stubs.items():
        assert path.read_text() == text, f"{path}: run python docs/make_stubs.py"
    tree = ast.parse((Path(mcn.__file__).parent / "train" / "signatures.pyi").read_text())
    stated = {each.name: each.body[0].args for each in tree.body if isinstance(each, ast.ClassDef)}
    for estimator in ESTIMATORS + REGRESSORS:
        (args,) = (stated[base.__name__] for base in estimator.__mro__ if base.__name__ in stated)
        assert (len(args.args), args.vararg, args.kwarg) == (1, None, None)
        defaults = [ast.literal_eval(default) for default in args.kw_defaults]
        assert (
            dict(zip([arg.arg for arg in args.kwonlyargs], defaults, strict=True)) == estimator().get_params()
        )
        types = {arg.arg: ast.unparse(arg.annotation) for arg in args.kwonlyargs}
        assert types["random_state"] == "int | RandomState | Generator | None"
        assert types["motifs"].startswith("Sequence[str]")
        assert types["lr"].startswith("float")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_what_is_there_after_fit_is_documented(estimator: Any, data: Data) -> None:
    clf = estimator(**QUICK[estimator]).fit(data)
    for name in vars(clf):
        if name.endswith("_"):
            assert name in estimator.__doc__, name
    chooses = estimator in (MCNClassifier, PaperClassifier)
    assert isinstance(clf.model_, mcn.MCN if chooses else torch.nn.Module)
    assert hasattr(clf, "motif_choice_") == chooses
    assert clf.predict_proba(data).shape == (90, 3)
    assert len(clf.history_) >= 3
    assert is_classifier(clf)
    refuses(f"this {estimator.__name__} is not fitted yet; call fit", estimator().predict, data)


def test_the_names_of_parameters() -> None:
    with pytest.raises(TypeError):
        MCNClassifier(("edge",))  # type: ignore[misc]
    refuses("stpes", MCNClassifier, error=TypeError, stpes=2)
    first = MCNClassifier(motifs=["edge", "2-star"], lr=0.1)
    assert first.get_params()["motifs"] == ["edge", "2-star"]
    assert first.set_params(steps=3, random_state=9) is first
    assert (first.get_params()["steps"], first.get_params()["random_state"]) == (3, 9)
    second = clone(first)
    assert second is not first
    assert second.get_params() == first.get_params()
    refuses(r"MCNClassifier has no parameter 'stpes'; did you mean 'steps'\?", first.set_params, stpes=2)
    assert repr(MCNClassifier()) == "MCNClassifier()"
    shown = repr(MCNClassifier(motifs=("edge",), steps=2, lr=0.1))
    assert shown == "MCNClassifier(motifs=('edge',), lr=0.1, steps=2)"


def test_scikit_learn_knows_whether_it_is_fitted(fitted: MCNClassifier, data: Data) -> None:
    check_is_fitted(fitted)
    for use in (check_is_fitted, lambda clf: clf.predict(data), lambda clf: clf.score(data)):
        for unfitted in (MCNClassifier(), clone(fitted)):
            with pytest.raises(NotFittedError):
                use(unfitted)


def test_what_it_learned_and_auto_says_of_its_candidates(fitted: MCNClassifier, data: Data) -> None:
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.n_features_in_ == 60
    assert len(fitted.history_) == 12
    assert fitted.val_accuracy_ == fitted.history_[fitted.best_epoch_ - 1].val_accuracy
    own = fitted.predictions(data)
    assert fitted.motif_choice_.shape == fitted.step_choice_.shape == (90, 2)
    assert np.array_equal(fitted.motif_choice_, np.array(["edge", "triangle"])[own.motif])
    assert np.array_equal(fitted.step_choice_, own.step)
    assert fitted.stack_.motifs == ("edge", "triangle")
    assert np.array_equal(fitted.predict(data), fitted.predict_proba(data).argmax(1))
    val = data.val_mask.numpy()
    right = (fitted.predict(data)[val] == data.y.numpy()[val]).mean()
    assert right == pytest.approx(fitted.val_accuracy_)
    clf = AutoClassifier(**QUICK[AutoClassifier]).fit(data)
    assert {row["candidate"] for row in clf.candidates_} == {"mlp", "gcn"}
    assert clf.winner_ == clf.candidates_[0]["candidate"]
    assert clf.candidates_[0]["score"] >= clf.candidates_[1]["score"]
    assert {epoch.candidate for epoch in clf.history_} == {"mlp", "gcn"}
    assert all(isinstance(remark, str) for remark in clf.remarks_)


@pytest.mark.parametrize("metric", TASK_METRICS["classes"])
def test_score_by_any_metric(fitted: MCNClassifier, data: Data, metric: str) -> None:
    mask, p = data.test_mask.numpy(), fitted.predict_proba(data)
    assert fitted.score(data, metric=metric) == score(metric, p[mask], data.y.numpy()[mask])
    assert fitted.score(data) == accuracy_on_test(data, fitted.predict(data))


def test_what_cannot_be_scored(fitted: MCNClassifier, data: Data) -> None:
    empty = changed(data, test_mask=torch.zeros(90, dtype=torch.bool))
    refuses(r"data.test_mask is empty: there is nothing to score", fitted.score, empty)
    refuses(r"data.y or data.test_mask is missing", fitted.score, changed(data, y=None))
    refuses(r"metric must be one of accuracy, .*, got 'rocauc'", fitted.score, data, metric="rocauc")
    with pytest.raises(ValueError, match="roc-auc is not defined on the test nodes: all of them have one"):
        fitted.score(changed(data, test_mask=data.test_mask & (data.y == 1)), metric="roc-auc")


def test_classes_are_compared_by_name_and_unknown_ones_are_wrong(data: Data) -> None:
    named = changed(data, classes=["x", "y", "z"])
    clf = MCNClassifier(**SMALL).fit(named)
    assert clf.classes_.tolist() == ["x", "y", "z"]
    turned = changed(data, classes=["y", "z", "x"], y=(data.y + 2) % 3)
    assert clf.score(turned) == clf.score(named)
    other, test, y = changed(data, classes=["x", "y", "w"]), data.test_mask.numpy(), data.y.numpy()
    assert clf.score(other) == (clf.predict(named) == clf.classes_[y])[test & (y < 2)].sum() / test.sum()
    assert clf.score(other, metric="log-loss") > clf.score(named, metric="log-loss")


def grown(data: Data, copies: int) -> Data:
    """The graph with new nodes, each tied to the two ends of an edge and with the features of one."""
    x, edges = data.x.to_dense(), [data.edge_index]
    for new in range(90, 90 + copies):
        u, v = data.edge_index[:, 5 * (new - 90)].tolist()
        edges.append(torch.tensor([[new, new, u, v], [u, v, new, new]]))
        x = torch.cat([x, x[u : u + 1]])
    return Data(x=x, edge_index=torch.cat(edges, 1), num_nodes=90 + copies)


def test_new_nodes_and_another_graph(fitted: MCNClassifier, data: Data) -> None:
    """A grown graph, without labels or masks: all its nodes get predictions and choices."""
    own, old = fitted.predictions(grown(data, copies=3)), fitted.predict_proba(data)
    assert own.probabilities.shape == (93, 3)
    assert own.motif.shape == (93, 2)
    assert np.isfinite(own.probabilities).all()
    far = np.abs(own.probabilities[:90] - old).max(1) < 1e-6
    assert far.sum() > 15  # nodes out of reach of the new ones are predicted as before
    same = Data(x=data.x, edge_index=data.edge_index, num_nodes=90)
    assert np.array_equal(fitted.predict_proba(same), old)
    other = small_graph(seed=5, num_nodes=120)
    assert fitted.predict(other).shape == (120,)
    assert fitted.score(other) > 0.2


@pytest.mark.parametrize(
    ("graph", "params", "message"),
    [
        ({"y": None}, {}, "the graph has no labels (data.y is missing)"),
        ({"y": torch.zeros(80, dtype=torch.int64)}, {}, "of shape [90]"),
        ({"val_mask": torch.zeros(90, dtype=torch.bool)}, {}, "data.val_mask is empty"),
        ({}, {"psi": "transitoin"}, "got 'transitoin'; did you mean 'transition'"),
        ({}, {"motifs": ("edge", "triange")}, "triangle"),
        ({}, {"motifs": ("edge", "edge")}, "edge"),
    ],
    ids=str,
)
def test_bad_input(graph: dict[str, Any], params: dict[str, Any], message: str, data: Data) -> None:
    """More of it is in `tests/data/test_checks.py`: the check is the same."""
    clf = MCNClassifier(**{**SMALL, **params})
    refuses(re.escape(message), clf.fit, changed(data, **graph))
    assert not hasattr(clf, "model_")


def test_labels_may_be_any_numbers_and_are_given_back(data: Data) -> None:
    far = changed(data, y=torch.tensor([5, 9, 70000])[data.y])
    near, clf = MCNClassifier(**SMALL).fit(data), MCNClassifier(**SMALL).fit(far)
    assert clf.classes_.tolist() == [5, 9, 70000]
    assert clf.predict_proba(far).shape == (90, 3)
    np.testing.assert_array_equal(clf.predict(far), clf.classes_[near.predict(data)])
    assert clf.score(far) == near.score(data)
    assert far.y.max() == 70000  # what was given is left alone
    assert "classes" not in far
    other = changed(far, y=torch.where(data.test_mask, 7, far.y))  # a class that only test nodes have
    assert clf.score(other) == 0.0


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_shapes_that_other_packages_give(estimator: Any, data: Data) -> None:
    """Labels and masks [N, 1], no test mask, features that are trained elsewhere."""
    x = data.x.to_dense()
    plain = estimator(**QUICK[estimator]).fit(changed(data, x=x))
    odd = changed(data, x=x.clone().requires_grad_(), y=data.y[:, None], test_mask=None)
    for name in ("train_mask", "val_mask"):
        odd[name] = odd[name][:, None]
    clf = estimator(**QUICK[estimator]).fit(odd)
    np.testing.assert_array_equal(clf.predict_proba(odd), plain.predict_proba(data))
    odd.test_mask = data.test_mask
    assert clf.score(odd) == plain.score(data)
    ten = changed(data, train_mask=data.train_mask[:, None].repeat(1, 10))
    with pytest.raises(ValueError, match=r"shape \[90, 10\]: 10 splits; take .* = data\.train_mask\[:, 0\]"):
        MCNClassifier(**SMALL).fit(ten)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_what_is_known_of_edges_and_not_used_is_said_once(estimator: Any, data: Data) -> None:
    plain = estimator(**QUICK[estimator]).fit(data)
    edges = data.edge_index.shape[1]
    for shape in ([edges], [edges, 1], [edges, 3]):
        extended = changed(data, edge_attr=torch.rand(shape) + 1, time=torch.arange(edges))
        with pytest.warns(UserWarning, match="not used") as told:
            clf = estimator(**QUICK[estimator]).fit(extended)
        about = f"data.edge_attr {shape}, data.time [{edges}] of the edges: not used"
        said = [str(warning.message) for warning in told]
        assert said == [f"{about}; weights are read from data.edge_weight"]
        np.testing.assert_array_equal(clf.predict_proba(extended), plain.predict_proba(data))
    kept = torch.ones(edges, dtype=torch.bool)
    kept[(data.edge_index[0] < data.edge_index[1]).nonzero()[:7, 0]] = False
    with pytest.warns(UserWarning, match="7 edges are given in one direction only: direction is not used"):
        MCNClassifier(**QUICK[MCNClassifier]).fit(changed(data, edge_index=data.edge_index[:, kept]))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_callbacks_and_lines(estimator: Any, data: Data, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[Any] = []
    clf = estimator(**QUICK[estimator]).fit(data, callbacks=[lambda training, epoch: told.append(epoch)])
    assert told == clf.history_
    assert capsys.readouterr().out == ""
    estimator(**QUICK[estimator]).fit(data, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert re.search(r"epoch 1: loss \d\.\d{4}, validation accuracy [\d.]+%$", lines[0])
    assert len(lines) < len(clf.history_)


# In a folder, and on several splits.


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("named", [False, True])
def test_a_saved_estimator_predicts_the_same_bits(estimator: Any, named: bool, tmp_path: Path) -> None:
    data = small_graph()
    if named:
        data.classes = ["a", "b", "c"]
    else:
        data.y = torch.tensor([5, 9, 11])[data.y]  # numbers with gaps
    clf = estimator(**QUICK[estimator], random_state=3).fit(data).save(tmp_path / "saved")
    again = mcn.load_run(tmp_path / "saved")
    assert type(again) is estimator
    np.testing.assert_array_equal(again.predict_proba(data), clf.predict_proba(data))
    np.testing.assert_array_equal(again.predict(data), clf.predict(data))
    assert again.classes_.tolist() == clf.classes_.tolist() == (["a", "b", "c"] if named else [5, 9, 11])
    assert again.score(data) == clf.score(data)
    assert again.config_ == clf.config_
    assert again.get_params()["random_state"] == 3
    assert (again.best_epoch_, again.val_accuracy_) == (clf.best_epoch_, clf.val_accuracy_)
    if estimator is AutoClassifier:
        assert (again.candidates_, again.winner_) == (clf.candidates_, clf.winner_)
        assert set(clf.candidate_probabilities(data)) == {"mlp", "gcn"}
    refuses("holds a run", clf.save, tmp_path / "saved")
    with pytest.raises(NotFittedError):
        estimator().save(tmp_path / "other")


def test_a_run_is_read_as_an_estimator_or_as_a_run(tmp_path: Path) -> None:
    run = train(small_graph(), settings("paper", **SMALL), tmp_path / "run")
    clf = mcn.load_run(tmp_path / "run")
    assert type(clf) is PaperClassifier
    assert type(Run.load(tmp_path / "run")) is Run
    np.testing.assert_array_equal(clf.predict(small_graph()), run.predict(small_graph()).labels)
    assert mcn.load is mcn.load_run  # the older names, for one version
    assert load_run == Run.load


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_a_regressor_predicts_numbers(estimator: Any, data: Data, tmp_path: Path) -> None:
    numbers = changed(data, y=data.x.to_dense()[:, :3].sum(1))
    numbers.classes = ["x", "y", "z"]  # of the labels that were there before
    reg = estimator(**QUICK[estimator]).fit(numbers)
    assert is_regressor(reg)
    assert not is_classifier(reg)
    for name in ("predict_proba", "candidate_probabilities", "classes_"):
        assert not hasattr(reg, name)
    for name in vars(reg):
        assert name in estimator.__doc__ or not name.endswith("_"), name
    predicted, test = reg.predict(numbers), data.test_mask.numpy()
    assert predicted.shape == (90,)
    assert reg.score(numbers) == pytest.approx(r2_score(numbers.y[test], predicted[test]), abs=1e-5)
    refuses("metric must be one of r2, mae, mse, got 'accuracy'", reg.score, numbers, "accuracy")
    again = mcn.load_run((reg.save(tmp_path / "saved"), tmp_path / "saved")[1])
    assert type(again) is estimator
    np.testing.assert_array_equal(again.predict(numbers), predicted)
    if estimator is AutoRegressor:
        assert set(reg.candidate_predictions(numbers)) == {"mlp", "gcn"}


@pytest.mark.parametrize("places", range(5))
def test_a_target_of_another_kind_is_refused_with_the_right_class(places: int, data: Data) -> None:
    classifier, regressor = ESTIMATORS[places], REGRESSORS[places]
    yes = torch.nn.functional.one_hot(data.y, 3)
    for estimator, y, message in (
        (classifier, data.y.double(), rf"numbers \(torch.float64\): use mcn.{regressor.__name__}, or whole"),
        (regressor, data.y, rf"classes \(torch.int64\): use mcn.{classifier.__name__}, or data.y.float\(\)"),
        (regressor, yes, rf"several yes/no targets \(torch.int64\): use mcn.{classifier.__name__}$"),
    ):
        about = f"{estimator.__name__} predicts .*, but data.y holds {message}"
        assert "\n" not in refuses(about, estimator().fit, changed(data, y=y))
    assert classifier(**QUICK[classifier]).fit(changed(data, y=yes)).predict_proba(data).shape == (90, 3)


def test_every_split_is_fitted_by_a_clone_and_scikit_learns_cross_validation_is_refused() -> None:
    data, clf = small_graph(), MCNClassifier(max_epochs=3, random_state=1)
    parts = [random_split(data.y, train_per_class=8, val=20, test=30, seed=seed) for seed in range(3)]
    found = mcn.cross_validate(clf, data, parts)
    for split, expected, one in zip(parts, found["test_score"], found["estimator"], strict=True):
        masks = dict(zip(("train_mask", "val_mask", "test_mask"), split, strict=True))
        assert MCNClassifier(max_epochs=3, random_state=1).fit(changed(data, **masks)).score(
            changed(data, **masks)
        ) == pytest.approx(expected)
        assert one is not clf
    assert not hasattr(clf, "model_")
    stacked = [torch.stack(each, 1) for each in zip(*parts, strict=True)]
    wide = changed(data, train_mask=stacked[0], val_mask=stacked[1], test_mask=stacked[2])
    assert mcn.cross_validate(clf, wide)["test_score"] == found["test_score"]
    refuses("give splits, or masks of shape", mcn.cross_validate, clf, data)
    message = r"use `mcn search` or mcn.cross_validate, or .*ParameterGrid"
    refuses(message, GridSearchCV(MCNClassifier(), {"lr": [0.1, 0.2]}).fit, data)
    refuses(message, cross_val_score, MCNClassifier(), data)


X = np.random.default_rng(0).normal(size=(60, 2))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ({"label": np.where(X[:, 0] > 0, "yes", "no")}, ["no", "yes"]),
        ({"label": np.where(X[:, 0] > 0, 17, -3)}, [-3, 17]),
        ({"label": np.where(X[:, 0] > 0, "01", "1")}, ["01", "1"]),
        ({"p": (X[:, 0] > 0) * 1, "q": (X[:, 1] > 0) * 1}, ["p", "q"]),
        ({"label": X[:, 0] + 0.5}, None),
    ],
)
def test_predict_returns_values_of_classes(labels: Any, classes: Any, tmp_path: Path) -> None:
    """`(clf.predict(graph) == labels).mean()` means something, with the labels of the file."""
    table = pd.DataFrame({"id": range(60), "a": X[:, 0], "b": X[:, 1], **labels})
    edges = pd.DataFrame({"u": range(59), "v": range(1, 60)})
    data = mcn.load_graph(edges, table, label=",".join(labels))
    kind = MCNRegressor if classes is None else MCNClassifier
    clf: Any = kind(max_epochs=2).fit(data)
    for each in (clf, mcn.load_run((clf.save(tmp_path / "run"), tmp_path / "run")[1])):
        assert (classes is None) != hasattr(each, "classes_")
        predicted, test = each.predict(data), data.test_mask.numpy()
        if classes is None:
            assert predicted.dtype == np.float32
            truth = data.y.numpy()[test]
            rest = ((predicted[test] - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
            assert each.score(data) == pytest.approx(1 - rest, abs=1e-5)
            continue
        assert each.classes_.tolist() == classes
        truth = table[list(labels)].to_numpy()
        assert predicted.shape == (60, 2) if len(labels) > 1 else set(predicted.tolist()) <= set(classes)
        if len(labels) == 1:
            assert each.score(data) == pytest.approx((predicted == truth[:, 0])[test].mean())
        else:
            assert set(np.unique(predicted)) <= {0, 1}
            assert 0 <= each.score(data) <= 1


def test_where_seeds_come_from(data: Data) -> None:
    """None is a seed that nobody chose, kept so that the run can be repeated; generators go on."""
    clf = MCNClassifier(max_epochs=1, random_state=None)
    first, second = clf.fit(data).config_.seed, clf.fit(data).config_.seed
    assert first != second
    assert clf.get_params()["random_state"] is None
    for make in (np.random.RandomState, np.random.default_rng):
        seeds = [MCNClassifier(max_epochs=1, random_state=make(1)).fit(data).config_.seed for _ in range(2)]
        assert seeds[0] == seeds[1]
        moved = make(1)
        assert clf.set_params(random_state=moved).fit(data).config_.seed != clf.fit(data).config_.seed
    refuses("seed must be an integer", MCNClassifier(random_state="x").fit, data)


def test_cross_validation_of_what_is_no_graph(data: Data) -> None:
    clf = MCNClassifier(max_epochs=1)
    refuses("data is a list; expected one graph", mcn.cross_validate, clf, [data])
    refuses(r"splits, entry 0: a Data; expected three masks", mcn.cross_validate, clf, data, [data, data])
