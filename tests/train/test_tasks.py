"""Numbers and several yes/no targets: planted graphs, test labels, cores, folders, what cannot be learned."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

import mcn
from mcn.data import random_split
from mcn.train import fit, load_run, train
from mcn.train.predictions import read_predictions
from mcn.train.select.blend import confirmed, corrections, walk_matrix
from mcn.train.tasks import Classes, Multilabel, Regression, stored_task
from tests.conftest import refuses
from tests.train.graphs import new_trainer, on_cores, predicted, settings

KINDS = ("regression", "multilabel")
FEW: dict[str, Any] = {"candidates": ("mlp", "trees", "sage", "mcn", "views"), "max_epochs": 30, "repeats": 1}


def planted(kind: str, nodes: int = 600, seed: int = 0) -> Data:
    """Half of a target's variance is a node's own column, nearly half its neighbours' mean of another."""
    draw = np.random.default_rng(seed)
    ends = torch.from_numpy(draw.integers(0, nodes, (2, 3 * nodes)))
    edges = to_undirected(ends[:, ends[0] != ends[1]], num_nodes=nodes)
    x = draw.standard_normal((nodes, 3))
    sums = np.zeros(nodes)
    np.add.at(sums, edges[0].numpy(), x[edges[1].numpy(), 1])
    mean = sums / np.maximum(np.bincount(edges[0].numpy(), minlength=nodes), 1)
    parts = x[:, 0], mean / mean.std(), 0.3 * draw.standard_normal(nodes)
    data = Data(x=torch.from_numpy(x).float(), edge_index=edges, num_nodes=nodes)
    if kind == "regression":
        y, data.classes = 50 + 7 * sum(parts), ["income"]
    else:
        yes = parts[1] + parts[2] > 0.5, parts[0] + parts[2] > 1.0, draw.random(nodes) < 0.3
        y, data.classes = np.column_stack(yes), ["buyer", "seller", "noise"]
    data.y = torch.from_numpy(y).float()
    data.train_mask, data.val_mask, data.test_mask = random_split(data.y, seed=seed)
    return data


def outputs(data: Data, **changes: Any) -> np.ndarray:
    return train(data, settings("auto", **{**FEW, **changes})).predict(data).probabilities


def test_neighbours_that_carry_the_signal_are_found() -> None:
    """Of R² about 0.5 is in the node's own column, 0.96 in both; so are the targets that they decide."""
    data = planted("regression")
    clf: Any = mcn.AutoRegressor(**FEW | {"candidates": ("mlp", "trees", "sage"), "max_epochs": 200}).fit(
        data
    )
    alone = mcn.AutoRegressor(candidates=("mlp",), repeats=1, max_epochs=200).fit(data)
    assert clf.score(data) > 0.75 > 0.6 > alone.score(data)
    assert clf.predict(data).shape == (600,)
    assert clf.task_.kind == "regression"
    several = planted("multilabel")
    clf = mcn.AutoClassifier(**FEW | {"candidates": ("mlp", "trees", "sage"), "max_epochs": 200}).fit(several)
    p, test = clf.predict_proba(several), several.test_mask.numpy()
    areas = [Classes(2).score("roc-auc", p[test][:, [i, i]], several.y.numpy()[test, i]) for i in range(3)]
    assert areas[0] > 0.85
    assert areas[1] > 0.9
    assert 0.3 < areas[2] < 0.7
    assert set(np.unique(clf.predict(several))) <= {0, 1}


@pytest.mark.parametrize("kind", KINDS)
def test_test_targets_and_cores_change_nothing(kind: str) -> None:
    data, other = planted(kind, 200), planted(kind, 200)
    other.y[other.test_mask] = 1 - other.y[other.test_mask]
    with on_cores(1):
        first = outputs(data)
    with on_cores(2):
        np.testing.assert_array_equal(outputs(other), first)


@pytest.mark.parametrize("recipe", ["mcn", "views", "trees", "auto"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_recipe_is_the_same_when_resumed_and_read_back(kind: str, recipe: str, tmp_path: Path) -> None:
    data, own = planted(kind, 150), {"max_epochs": 6} | ({} if recipe != "auto" else FEW | {"max_epochs": 3})
    config = settings(recipe, **own)
    run = train(data, config, tmp_path / "run")
    again = load_run(tmp_path / "run")
    np.testing.assert_array_equal(again.predict(data).probabilities, run.predict(data).probabilities)
    assert again.summary["task"] == kind
    assert again.summary["test_accuracy"] is None
    assert set(again.summary["scores"]["test"]) == set(run.task.metrics)
    rows = read_predictions(tmp_path / "run" / "predictions.csv")
    if kind == "regression":
        said = [float(row["predicted"]) for row in rows]
        np.testing.assert_allclose(said, run.predict(data).labels, rtol=1e-6)
    else:
        assert [int(row["predicted_buyer"]) for row in rows] == run.predict(data).labels[:, 0].tolist()
        assert {"true_seller", "p_noise"} <= rows[0].keys()
    whole, stopped, second = (new_trainer(data, config) for _ in range(3))
    fit(whole)
    stopped.run_epoch()
    second.load({name: value.clone() for name, value in stopped.tensors().items()}, stopped.state())
    fit(second)
    np.testing.assert_array_equal(predicted(whole).probabilities, predicted(second).probabilities)


def test_what_is_said_where_nothing_can_be_learned(tmp_path: Path) -> None:
    data = planted("regression", 200)
    data.y = torch.from_numpy(np.random.default_rng(1).standard_normal(200)).float()
    remarks = train(data, settings("trees", max_epochs=3), tmp_path / "noise").summary["remarks"]
    assert any(line.startswith("no better than guessing: r2 ") for line in remarks)
    assert any(line.startswith("the numbers of neighbours hardly go together") for line in remarks)
    for values, message in (
        (torch.full((200,), 3.5), "every target is 3.5; there is nothing to learn"),
        (torch.full((200,), np.inf), "inf"),
    ):
        data.y = values
        refuses(message, train, data, settings("mcn"))
    data = planted("regression", 200)
    data.y[data.train_mask.nonzero()[0]] = np.nan
    refuses("which has no label", train, data, settings("mcn"))
    unfit = settings("mcn", class_weight="balanced")
    refuses(
        "does not go with class_weight balanced: it is for one class",
        train,
        planted("multilabel", 100),
        unfit,
    )
    unfit = settings("mcn", metric="roc-auc")
    refuses("metric must be one of r2, mae, mse", train, planted("regression", 100), unfit)


def test_tasks_are_stored_and_what_is_no_task_is_refused() -> None:
    for task in (Classes(2, 0.3), Regression(1.5, 2.0), Multilabel(3)):
        assert stored_task(task.to_dict(), task.outputs) == task
    assert stored_task(None, 4) == Classes(4) == stored_task(Classes(4).to_dict(), 4)
    for stored in ({"kind": "other"}, {"kind": "regression"}, [1], {"kind": "multilabel", "outputs": 2}):
        refuses("^task: ", stored_task, stored, 3)
    refuses("^task: ", stored_task, {"kind": "regression", "centre": 0.0, "scale": -1.0}, 1)


def test_labels_nearby_correct_what_a_network_cannot_know() -> None:
    """Two groups whose features say nothing: the labels of neighbours do, and held-out nodes confirm it."""
    nodes, draw = 400, np.random.default_rng(0)
    group = np.arange(nodes) % 2
    ends = draw.integers(0, nodes // 2, (2, 1600)) * 2 + draw.integers(0, 2, 1600)
    edges = to_undirected(torch.from_numpy(ends[:, ends[0] != ends[1]]), num_nodes=nodes)
    data = Data(x=torch.ones(nodes, 3), y=torch.from_numpy(group), edge_index=edges, num_nodes=nodes)
    parts = random_split(data.y, train_per_class=50, val=100, test=100)
    data.train_mask, data.val_mask, data.test_mask = parts
    own: dict[str, Any] = {"candidates": ("mlp",), "repeats": 1, "max_epochs": 20}
    clf = mcn.AutoClassifier(**own).fit(data)
    nearby = "known labels of nodes nearby correct the predictions of mlp (propagate=false: not)"
    assert nearby in clf.remarks_
    assert clf.score(data) > 0.9
    assert mcn.AutoClassifier(**own, propagate=False).fit(data).score(data) < 0.6
    further = data.clone()
    further.edge_index = edges[:, (edges != 0).all(0)]  # another graph, of which no label is known
    assert clf.score(further) < 0.6


def test_corrections_by_hand() -> None:
    """A path 0 – 1 – 2, node 0 known: it is 1 and was predicted as 0.5."""
    walk = walk_matrix(mcn.count_motifs(torch.tensor([[0, 1], [1, 2]]), 3).adjacency("edge"))
    np.testing.assert_allclose(walk.toarray(), [[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]])
    found = corrections(walk, np.full((3, 1), 0.5), np.array([0]), np.array([[1.0]]))
    powers = [np.linalg.matrix_power(0.8 * walk.toarray(), k) for k in range(1, 11)]
    reach = sum(powers)[:, :1]
    np.testing.assert_allclose(found["correct"], 0.5 * reach / (reach + reach.mean()))
    mean = sum(powers) @ np.array([[1.0], [0.5], [0.5]]) / sum(powers).sum(1, keepdims=True)
    np.testing.assert_allclose(found["smooth"], (mean - 0.5) / 2)
    losses = np.linspace(0, 1, 50)
    assert confirmed(losses, losses + 0.1) == 0.0
    assert confirmed(losses, losses) == 0.0
    assert confirmed(losses, 0.5 * losses) > 3
