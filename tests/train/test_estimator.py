from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn import metrics
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from torch_geometric.data import Data

from mcn import MCNClassifier, ViewsClassifier
from mcn.train import MCNConfig, ViewsConfig, accuracy_on_test, fit
from mcn.train.estimator import NodeClassifier
from mcn.train.metrics import METRICS, score
from mcn.train.settings import Settings, declared
from tests.train.graphs import SMALL, new_trainer, predicted, small_graph

ESTIMATORS: list[tuple[type[NodeClassifier], type[Settings]]] = [
    (MCNClassifier, MCNConfig),
    (ViewsClassifier, ViewsConfig),
]


@pytest.fixture(scope="module")
def data() -> Data:
    return small_graph()


@pytest.fixture(scope="module")
def fitted(data: Data) -> MCNClassifier:
    return MCNClassifier(**SMALL, steps=2, attention="paper", random_state=3).fit(data)


@pytest.mark.parametrize(("estimator", "config"), ESTIMATORS)
def test_parameters_are_those_of_the_configuration(
    estimator: type[NodeClassifier], config: type[Settings]
) -> None:
    own = estimator().get_params()
    assert own.keys() - {"random_state"} == {f.name for f in dataclasses.fields(config)} - {"seed"}
    assert config(seed=own.pop("random_state"), **own) == config()


@pytest.mark.parametrize(("estimator", "config"), ESTIMATORS)
def test_the_documentation_has_every_parameter(
    estimator: type[NodeClassifier], config: type[Settings]
) -> None:
    text = estimator.__doc__ or ""
    for name, one in declared(config).items():
        shown = "random_state" if name == "seed" else name
        assert f"{shown}: {one.sentence} Default: {one.default!r}." in text


def test_parameters_have_names() -> None:
    with pytest.raises(TypeError):
        MCNClassifier(("edge",))  # type: ignore[misc]
    with pytest.raises(TypeError, match="stpes"):
        MCNClassifier(stpes=2)


def test_get_set_and_clone() -> None:
    first = MCNClassifier(motifs=["edge", "2-star"], lr=0.1)
    assert first.get_params()["motifs"] == ["edge", "2-star"]
    assert first.set_params(steps=3, random_state=9) is first
    assert (first.get_params()["steps"], first.get_params()["random_state"]) == (3, 9)
    second = clone(first)
    assert second is not first
    assert second.get_params() == first.get_params()
    with pytest.raises(ValueError, match=r"MCNClassifier has no parameter 'stpes'; did you mean 'steps'\?"):
        first.set_params(stpes=2)


def test_a_clone_is_not_fitted(fitted: MCNClassifier, data: Data) -> None:
    with pytest.raises(ValueError, match=r"not fitted yet; call fit\(data\) first"):
        clone(fitted).predict(data)


def test_repr_shows_what_was_changed() -> None:
    assert repr(MCNClassifier()) == "MCNClassifier()"
    shown = repr(MCNClassifier(motifs=("edge",), steps=2, lr=0.1))
    assert shown == "MCNClassifier(motifs=('edge',), lr=0.1, steps=2)"


def test_what_it_learned(fitted: MCNClassifier, data: Data) -> None:
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.n_features_in_ == 60
    assert len(fitted.history_) == 12
    best = fitted.history_[fitted.best_epoch_ - 1]
    assert fitted.val_accuracy_ == best.val_accuracy
    assert fitted.motif_choice_.shape == fitted.step_choice_.shape == (90, 2)
    own = fitted.predictions(data)
    assert np.array_equal(fitted.motif_choice_, np.array(["edge", "triangle"])[own.motif])
    assert np.array_equal(fitted.step_choice_, own.step)
    probabilities = fitted.predict_proba(data)
    assert probabilities.shape == (90, 3)
    assert np.array_equal(fitted.predict(data), probabilities.argmax(1))
    val = data.val_mask.numpy()
    right = (fitted.predict(data)[val] == data.y.numpy()[val]).mean()
    assert right == pytest.approx(fitted.val_accuracy_)


def test_the_seed_decides(fitted: MCNClassifier, data: Data) -> None:
    again = clone(fitted).fit(data)
    assert np.array_equal(again.predict_proba(data), fitted.predict_proba(data))
    other = clone(fitted).set_params(random_state=4).fit(data)
    assert not np.array_equal(other.predict_proba(data), fitted.predict_proba(data))


def test_score(fitted: MCNClassifier, data: Data) -> None:
    assert fitted.score(data) == accuracy_on_test(data, fitted.predict(data))
    empty = data.clone()
    empty.test_mask = torch.zeros(90, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"data.test_mask is empty: there is nothing to score"):
        fitted.score(empty)
    del empty.y
    with pytest.raises(ValueError, match=r"data.y or data.test_mask is missing"):
        fitted.score(empty)


@pytest.mark.parametrize("metric", METRICS)
def test_score_by_any_metric(fitted: MCNClassifier, data: Data, metric: str) -> None:
    mask, p = data.test_mask.numpy(), fitted.predict_proba(data)
    assert fitted.score(data, metric=metric) == score(metric, p[mask], data.y.numpy()[mask])


def test_a_metric_that_cannot_be(fitted: MCNClassifier, data: Data) -> None:
    with pytest.raises(ValueError, match=r"metric must be one of accuracy, .*, got 'rocauc'"):
        fitted.score(data, metric="rocauc")
    one = data.clone()
    one.test_mask = data.test_mask & (data.y == 1)
    with pytest.raises(ValueError, match="roc-auc is not defined on the test nodes: all of them have one"):
        fitted.score(one, metric="roc-auc")


def test_the_report_is_that_of_scikit_learn(fitted: MCNClassifier, data: Data) -> None:
    mask = data.test_mask.numpy()
    truth, predicted = data.y.numpy()[mask], fitted.predict(data)[mask]
    expected = metrics.classification_report(truth, predicted, output_dict=True, zero_division=0.0)
    assert fitted.classification_report(data, output_dict=True) == expected
    assert fitted.classification_report(data) == metrics.classification_report(
        truth, predicted, zero_division=0.0
    )


def test_labels_that_the_network_does_not_know_are_wrong(data: Data) -> None:
    named = data.clone()
    named.classes = ["x", "y", "z"]
    clf = MCNClassifier(**SMALL).fit(named)
    other = named.clone()
    other.classes = ["x", "y", "w"]
    right = (clf.predict(named) == named.y.numpy())[named.test_mask.numpy() & (named.y.numpy() < 2)].sum()
    assert clf.score(other) == right / int(named.test_mask.sum())
    assert clf.score(other, metric="log-loss") > clf.score(named, metric="log-loss")
    report = clf.classification_report(other, output_dict=True)
    assert list(report)[:4] == ["x", "y", "z", "another class"]
    assert report["another class"]["recall"] == report["z"]["support"] == 0
    assert report["another class"]["support"] == int((named.test_mask & (named.y == 2)).sum())


def test_scikit_learn_knows_it_for_a_classifier(fitted: MCNClassifier) -> None:
    assert is_classifier(fitted)
    check_is_fitted(fitted)
    for use in (
        check_is_fitted,
        lambda clf: clf.predict(small_graph()),
        lambda clf: clf.score(small_graph()),
    ):
        with pytest.raises(NotFittedError):
            use(MCNClassifier())


def test_score_compares_classes_by_name(data: Data) -> None:
    named = data.clone()
    named.classes = ["x", "y", "z"]
    clf = MCNClassifier(**SMALL).fit(named)
    assert clf.classes_.tolist() == ["x", "y", "z"]
    turned = named.clone()
    turned.classes, turned.y = ["y", "z", "x"], (named.y + 2) % 3
    assert clf.score(turned) == clf.score(named)


def grown(data: Data, copies: int = 1) -> Data:
    """The graph with new nodes, each tied to the two ends of an edge and with the features of one."""
    x = data.x.to_dense()
    edges = [data.edge_index]
    n = 90
    for k in range(copies):
        u, v = data.edge_index[:, 5 * k].tolist()
        edges.append(torch.tensor([[n + k, n + k, u, v], [u, v, n + k, n + k]]))
        x = torch.cat([x, x[u : u + 1]])
    return Data(x=x, edge_index=torch.cat(edges, 1), num_nodes=n + copies)


def test_new_nodes(fitted: MCNClassifier, data: Data) -> None:
    """A grown graph, without labels or masks: all its nodes get predictions and choices."""
    more = grown(data, copies=3)
    own = fitted.predictions(more)
    assert own.probabilities.shape == (93, 3)
    assert own.motif.shape == (93, 2)
    assert np.isfinite(own.probabilities).all()
    old = fitted.predict_proba(data)
    far = np.abs(own.probabilities[:90] - old).max(1) < 1e-6
    assert far.sum() > 15  # nodes out of reach of the new ones are predicted as before
    same = Data(x=data.x, edge_index=data.edge_index, num_nodes=90)
    assert np.array_equal(fitted.predict_proba(same), old)


def test_another_graph_with_the_same_features(fitted: MCNClassifier) -> None:
    other = small_graph(seed=5, num_nodes=120)
    assert fitted.predict(other).shape == (120,)
    assert fitted.score(other) > 0.2


def test_other_features(fitted: MCNClassifier, data: Data) -> None:
    wide = small_graph(num_words=90)
    with pytest.raises(ValueError, match=r"data.x has 90 features, but the network was trained on 60"):
        fitted.predict(wide)
    named = data.clone()
    named.feature_names = [f"word {i}" for i in range(60)]
    clf = MCNClassifier(**SMALL).fit(named)
    other = data.clone()
    other.feature_names = [*named.feature_names[:59], "length"]
    with pytest.raises(ValueError, match=r"missing \['word 59'\], not known \['length'\]"):
        clf.predict(other)


def changed(data: Data, **attributes: Any) -> Data:
    other = data.clone()
    for name, value in attributes.items():
        other[name] = value
    return other


def bad_inputs(data: Data) -> dict[str, tuple[Data, dict[str, Any], str]]:
    none = torch.zeros(90, dtype=torch.bool)
    x = data.x.to_dense()
    nan, infinite = x.clone(), x.clone()
    nan[17, 4], infinite[3, 59] = torch.nan, -torch.inf
    both = data.val_mask | data.train_mask
    first = int(data.train_mask.nonzero()[0])
    return {
        "no labels": (changed(data, y=None), {}, "the graph has no labels (data.y is missing)"),
        "one class": (changed(data, y=torch.full((90,), 2)), {}, "data.y holds one class only (2)"),
        "an unlabelled training node": (
            changed(data, y=torch.where(torch.arange(90) == first, -1, data.y)),
            {},
            f"data.train_mask holds node {first}, which has no label",
        ),
        "labels that are not whole": (changed(data, y=data.y.float()), {}, "expected integers of shape [90]"),
        "no training nodes": (changed(data, train_mask=none), {}, "data.train_mask is empty"),
        "no validation nodes": (changed(data, val_mask=none), {}, "data.val_mask is empty"),
        "a missing mask": (changed(data, val_mask=None), {}, "data.val_mask is missing"),
        "overlapping masks": (changed(data, val_mask=both), {}, "data.train_mask and data.val_mask overlap"),
        "a short mask": (changed(data, test_mask=none[:80]), {}, "data.test_mask has shape [80]"),
        "NaN": (changed(data, x=nan), {}, "data.x holds nan at node 17, column 4"),
        "inf": (changed(data, x=infinite), {}, "data.x holds -inf at node 3, column 59"),
        "no features": (changed(data, x=None), {}, "data.x is missing"),
        "no steps": (data, {"steps": 0}, "steps must be an integer of at least 1, got 0"),
        "psi": (data, {"psi": "transitoin"}, "got 'transitoin'; did you mean 'transition'"),
        "motif": (data, {"motifs": ("edge", "triange")}, "triangle"),
        "motif twice": (data, {"motifs": ("edge", "edge")}, "edge"),
        "prior": (data, {"psi_prior": "sofmax"}, "psi_prior must be one of softmax, product, got 'sofmax'"),
        "scope": (data, {"scope": "pair"}, "pairs"),
    }


@pytest.mark.parametrize("case", bad_inputs(small_graph()))
def test_bad_input(case: str, data: Data) -> None:
    graph, params, message = bad_inputs(data)[case]
    clf = MCNClassifier(**{**SMALL, **params})
    with pytest.raises(ValueError, match=re.escape(message)):
        clf.fit(graph)
    assert not hasattr(clf, "model_")


def test_a_class_without_training_node_is_warned_of(data: Data) -> None:
    mask = data.train_mask & (data.y != 1)
    with pytest.warns(UserWarning, match="no training node of class 1: it can never be predicted"):
        MCNClassifier(**{**SMALL, "max_epochs": 1}).fit(changed(data, train_mask=mask))


def test_the_documentation_names_every_attribute(fitted: MCNClassifier) -> None:
    text = MCNClassifier.__doc__ or ""
    for name in vars(fitted):
        if name.endswith("_") and name != "config_":
            assert name in text, name


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Data) -> None:
    monkeypatch.chdir(tmp_path)
    MCNClassifier(**{**SMALL, "max_epochs": 1}).fit(data)
    assert list(tmp_path.iterdir()) == []


def test_views_are_the_same_run(data: Data) -> None:
    config = ViewsConfig(walk_length=3, max_neighbours=6, hidden=8, steps_per_epoch=3, max_epochs=6, seed=2)
    own = new_trainer(data, config)
    result = fit(own)
    params = {k: v for k, v in config.to_dict().items() if k != "seed"}
    clf = ViewsClassifier(**params, random_state=2).fit(data)
    assert clf.val_accuracy_ == result.val_accuracy
    np.testing.assert_array_equal(clf.predict_proba(data), predicted(own).probabilities)
    assert clf.get_params()["drop_neighbours"] == 0.5
    with pytest.raises(ValueError, match="ViewsClassifier has no parameter 'pases'; did you mean 'passes'"):
        clf.set_params(pases=3)
    with pytest.raises(ValueError, match="this ViewsClassifier is not fitted yet"):
        ViewsClassifier().predict(data)
    text = ViewsClassifier.__doc__ or ""
    for name in vars(clf):
        if name.endswith("_") and name != "config_":
            assert name in text, name
