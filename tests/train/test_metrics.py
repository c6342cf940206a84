"""Metrics: each equals scikit-learn's on random cases, and cases worked out by hand."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from mcn.train.metrics import METRICS, TASK_METRICS, calibration, score
from mcn.train.tasks import Classes, Multilabel, Regression
from tests.conftest import refuses


def case(seed: int, classes: int, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(classes), nodes).astype(np.float32)
    return p, rng.integers(0, classes, nodes)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(5, 60), st.booleans())
def test_each_equals_scikit_learns(seed: int, classes: int, nodes: int, ties: bool) -> None:
    p, y = case(seed, classes, nodes)
    if ties:  # few different scores, as of a network that says the same of many nodes
        p = np.round(5 * p + 0.01) / np.round(5 * p + 0.01).sum(1, keepdims=True)
    found = Classes(classes).all_scores(p, y)
    labels = list(range(classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = p.argmax(1)
        assert found["accuracy"] == pytest.approx(sk.accuracy_score(y, said))
        assert found["balanced-accuracy"] == pytest.approx(sk.balanced_accuracy_score(y, said))
        assert found["macro-f1"] == pytest.approx(sk.f1_score(y, said, average="macro", zero_division=0.0))
        exact = p.astype(np.float64) / p.astype(np.float64).sum(1, keepdims=True)
        assert found["log-loss"] == pytest.approx(sk.log_loss(y, exact, labels=labels), rel=1e-5)
        if len(set(y.tolist())) == classes:
            if classes == 2:
                auc, ap = sk.roc_auc_score(y, p[:, 1]), sk.average_precision_score(y, p[:, 1])
            else:
                auc = np.mean([sk.roc_auc_score(y == c, p[:, c]) for c in labels])
                if not ties:  # which another division of the rows would break
                    assert auc == pytest.approx(sk.roc_auc_score(y, exact, multi_class="ovr", labels=labels))
                ap = sk.average_precision_score(np.eye(classes)[y], p, average="macro")
            assert found["roc-auc"] == pytest.approx(auc)
            assert found["average-precision"] == pytest.approx(ap)


def test_where_a_metric_is_not_defined_and_a_constant_guess_that_is_seen_through() -> None:
    assert score("accuracy", np.empty((0, 2)), np.empty(0, int)) is None
    one = np.array([[0.2, 0.8], [0.6, 0.4]])
    assert score("roc-auc", one, np.array([1, 1])) is None
    assert score("log-loss", np.array([[3.0, -1.0]]), np.array([0])) is None
    three = np.array([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1]])
    assert score("roc-auc", three, np.array([1, 0, 1])) == 1.0  # nobody is of class 2
    message = r"metric must be one of accuracy, .*; did you mean 'roc-auc'\?"
    refuses(message, score, "rocauc", np.ones((1, 1)), np.zeros(1, int))
    assert score("r2", np.ones((3, 1)), np.full(3, 2.0)) is None
    assert score("macro-auc", np.ones((2, 2)), np.array([[1.0, 0.0], [1.0, 0.0]])) is None
    assert set(METRICS) == {name for names in TASK_METRICS.values() for name in names}
    found = Classes(2).all_scores(np.tile([0.78, 0.22], (100, 1)), np.array([0] * 78 + [1] * 22))
    assert (found["accuracy"], found["balanced-accuracy"], found["roc-auc"]) == (0.78, 0.5, 0.5)
    assert found["average-precision"] == pytest.approx(0.22)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 60), st.integers(2, 4))
def test_of_numbers_and_of_several_targets(seed: int, nodes: int, targets: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(3, 10, nodes).astype(np.float32)
    numbers = (y + rng.standard_normal(nodes)).astype(np.float32)
    found = Regression.of(y).all_scores(numbers[:, None], y)
    assert found["r2"] == pytest.approx(sk.r2_score(y, numbers), rel=1e-4)
    assert found["mae"] == pytest.approx(sk.mean_absolute_error(y, numbers), rel=1e-4)
    assert found["mse"] == pytest.approx(sk.mean_squared_error(y, numbers), rel=1e-4)
    yes = (rng.random((nodes, targets)) < 0.4).astype(np.float32)
    yes[0], yes[1] = 0.0, 1.0  # of every target some nodes are a yes and some a no
    p = np.round(rng.random((nodes, targets)), 1)  # with ties
    found = Multilabel(targets).all_scores(p, yes)
    for average in ("macro", "micro"):
        assert found[f"{average}-auc"] == pytest.approx(sk.roc_auc_score(yes, p, average=average))
        assert found[f"{average}-ap"] == pytest.approx(sk.average_precision_score(yes, p, average=average))


def test_calibration_by_hand() -> None:
    p = np.array([[0.95, 0.05], [0.91, 0.09], [0.55, 0.45], [0.45, 0.55]])
    found = calibration(p, np.array([0, 1, 0, 0]), p.argmax(1))
    assert found.count == (2, 2)
    assert found.accuracy == (0.5, 0.5)
    assert found.confidence == pytest.approx((0.55, 0.93))
    assert found.error == pytest.approx(0.5 * 0.05 + 0.5 * 0.43)
