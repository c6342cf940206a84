from __future__ import annotations

import numpy as np
import pytest
import torch

from mcn.train import Predictions, accuracy_on_test, predict
from tests.train.graphs import small_config, small_graph, trained


def test_prediction_has_no_randomness_and_leaves_the_mode() -> None:
    trainer = trained(small_graph(), small_config(steps=2, epsilon=1.0))
    model, p = trainer.model, trainer.problem
    for mode in (True, False):
        model.train(mode)
        first, second = predict(model, p.x, p.stack), predict(model, p.x, p.stack)
        assert model.training is mode
        assert np.array_equal(first.probabilities, second.probabilities)
        assert np.array_equal(first.motif, second.motif)
    assert first.probabilities.shape == (90, 3)
    assert first.motif.shape == first.step.shape == (90, 2)
    assert first.probabilities.sum(1) == pytest.approx(np.ones(90), abs=1e-5)
    assert set(np.unique(first.motif)) <= {0, 1}
    assert set(np.unique(first.step)) <= {1, 2}
    with torch.no_grad():
        logits = model(p.x, p.stack)
    assert np.array_equal(first.labels, logits.argmax(1).numpy())


def test_labels_are_the_most_probable() -> None:
    own = Predictions(np.array([[0.2, 0.8], [0.6, 0.4]], np.float32), np.zeros((2, 1)), np.ones((2, 1)))
    assert own.labels.tolist() == [1, 0]


def test_accuracy_is_of_test_nodes_only() -> None:
    data = small_graph()
    labels = data.y.numpy().copy()
    assert accuracy_on_test(data, labels) == 1.0
    labels[~data.test_mask.numpy()] = 99
    assert accuracy_on_test(data, labels) == 1.0
    labels[data.test_mask.nonzero()[:10, 0].numpy()] = 99
    assert accuracy_on_test(data, labels) == 0.75
    data.test_mask[:] = False
    assert accuracy_on_test(data, labels) is None
