from __future__ import annotations

import numpy as np
import torch

from mcn.nn import MotifViews
from mcn.train.features import features
from mcn.train.views.trainer import predict_views
from mcn.viz import explain
from tests.viz.conftest import Trained


def test_a_network_of_motif_views(views: Trained) -> None:
    """Shares and predictions by one view, against dense matrices."""
    found = explain(views.run, views.data)
    assert found.kind == "views"
    assert found.motif.shape == (34, 0)
    assert [option.motif for option in found.options] == ["edge", "triangle"]
    np.testing.assert_array_equal(found.probabilities, views.run.predict(views.data).probabilities)
    _, rows = views.run.views_of(views.data)
    x = features(views.data.x, True)
    x = x.to_dense() if x.layout != torch.strided else x
    mixed = []
    for view, option in enumerate(found.options):
        matrix = rows.matrix(view).toarray()
        assert (option.total == (matrix > 0).sum(1)).all()
        assert option.total.max() <= 6
        shares = matrix / matrix.sum(1, keepdims=True)
        for node in range(34):
            row = option.row(node)
            np.testing.assert_allclose(
                option.coefficients[0][row], shares[node, option.indices[row]], atol=1e-6
            )
            np.testing.assert_allclose(option.weights[row], matrix[node, option.indices[row]], atol=1e-6)
        for (u, v), (there, back) in zip(found.edges, option.members, strict=True):
            assert (there, back) == (matrix[u, v] > 0, matrix[v, u] > 0)
        mixed.append(torch.from_numpy(shares).to(torch.float32) @ x)
        with torch.no_grad():
            expected = views.run.model(mixed[-1]).softmax(1).numpy()
        np.testing.assert_allclose(found.alternatives[view], expected, atol=1e-5)
    with torch.no_grad():
        both = views.run.model((mixed[0] + mixed[1]) / 2).softmax(1).numpy()
    np.testing.assert_allclose(found.probabilities, both, atol=1e-5)


def test_a_single_view_is_the_whole_prediction_of_a_smooth_network(views: Trained) -> None:
    model = views.run.model
    assert isinstance(model, MotifViews)
    model.smooth = True
    try:
        x, rows = views.run.views_of(views.data)
        alone = explain(views.run, views.data).alternatives[1]
        np.testing.assert_array_equal(alone, predict_views(model, x, rows.only(1)).probabilities)
        shares = rows.matrix(1).toarray()
        shares /= shares.sum(1, keepdims=True)
        model.smooth = False
        rough = explain(views.run, views.data).alternatives[1]
        np.testing.assert_allclose(alone, shares @ rough, atol=1e-5)
    finally:
        model.smooth = False
