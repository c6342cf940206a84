"""Rows of a graph on disk: those of the same graph in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import mcn
from mcn.matrices import PSI_NAMES
from mcn.nn.graph_rows import StoreRows, store_features
from mcn.train import MCNConfig, fit, prepare
from mcn.train.recipes import work_of
from tests.train.graphs import small_graph


def stored(path: Path, data: Any, **changes: Any) -> mcn.GraphStore:
    given = {"x": data.x.to_dense().numpy(), "y": data.y.numpy(), "classes": None}
    given |= {name: data[name].numpy() for name in ("train_mask", "val_mask", "test_mask")}
    return mcn.GraphStore.write(path, [data.edge_index.numpy()], data.num_nodes, **{**given, **changes})


@pytest.mark.parametrize("psi", PSI_NAMES)
def test_the_rows_of_the_graph_in_memory(psi: str, tmp_path: Path) -> None:
    data = small_graph()
    counts = mcn.count_motifs(data.edge_index, data.num_nodes)
    stack = mcn.MotifStack.from_counts(counts, ("edge",), psi=psi)
    graph, nodes = StoreRows(stored(tmp_path / "graph", data), ("edge",), psi), np.array([4, 0, 88])
    for own in (graph.exact(nodes, np.zeros(3, np.int64)), graph.exact_base(nodes)):
        expected = stack.rows_of(nodes, np.zeros(3, np.int64))
        np.testing.assert_array_equal(own.indptr, expected.indptr)
        np.testing.assert_array_equal(own.indices, expected.indices)
        np.testing.assert_allclose(own.values, expected.values, rtol=1e-6)


def test_training_from_disk_is_training_from_memory(tmp_path: Path) -> None:
    data = small_graph()
    config = MCNConfig(
        motifs=("edge",),
        motif_attention=False,
        hidden=4,
        heads=2,
        batch_size=5,
        neighbours=(3,),
        max_epochs=3,
    )
    data.x = data.x.to_dense() + 0.01  # not mostly zero, so that it stays dense
    store = stored(tmp_path / "dense", data)
    scores = []
    for each in (data, store):
        problem = prepare(each, config)
        trainer = work_of(config).trainer(problem, config)
        scores.append((fit(trainer), work_of(config).predict(trainer.model, problem.inputs).probabilities))
    assert scores[0][0].val_loss == pytest.approx(scores[1][0].val_loss, rel=1e-4)
    np.testing.assert_allclose(scores[0][1], scores[1][1], atol=1e-4)
    given = {name: value for name, value in config.to_dict().items() if name not in ("seed", "attention")}
    clf = mcn.MCNClassifier(**given)
    np.testing.assert_allclose(clf.fit(store).predict_proba(store), scores[1][1], atol=1e-6)


def test_sparse_features_from_disk(tmp_path: Path) -> None:
    from mcn.data.sparse import feature_csr

    data = small_graph()
    store = stored(tmp_path / "graph", data, x=feature_csr(data.x))
    taken = store_features(store, "rows")(np.array([3, 7]))
    dense = data.x.to_dense()[torch.tensor([3, 7])]
    own = np.zeros(dense.shape)
    for r in range(2):
        part = slice(taken.indptr[r], taken.indptr[r + 1])  # type: ignore[union-attr]
        own[r, taken.indices[part]] = taken.values[part]  # type: ignore[union-attr]
    np.testing.assert_allclose(own, dense / dense.sum(1, keepdim=True), rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": 2}, "steps = 2 needs the whole graph in memory"),
        ({"batch_size": None}, "batch_size = none needs the whole graph in memory"),
        ({"motifs": ("edge", "triangle")}, "triangle is not counted yet"),
    ],
)
def test_what_a_store_cannot_give(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    config = MCNConfig(**{"motifs": ("edge",), "attention": "gated", "batch_size": 5, **changes})
    with pytest.raises(ValueError, match=words):
        prepare(stored(tmp_path / "graph", small_graph()), config)


def test_a_store_without_features_or_split(tmp_path: Path) -> None:
    data, config = small_graph(), MCNConfig(attention="gated", motifs=("edge",), batch_size=5)
    with pytest.raises(ValueError, match="the store has no features"):
        prepare(stored(tmp_path / "a", data, x=None), config)
    with pytest.raises(ValueError, match="no split in the store"):
        prepare(stored(tmp_path / "b", data, val_mask=None), config)
