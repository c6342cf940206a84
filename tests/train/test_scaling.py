"""What becomes of features: by what they hold, fitted on training nodes, repeated on other graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from mcn.baselines.task import task_from_data
from mcn.train.auto.config import AutoConfig
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.sparse import feature_csr, feature_tensor
from mcn.experiments import compare
from mcn.experiments.engine.source import in_memory
from mcn.motifs import NODE_ORBITS
from mcn.train import MCNClassifier, MCNConfig, ViewsClassifier, load_run, train_run
from mcn.train.features import features, node_features, scaling_of
from tests.train.graphs import same_tensors, small_graph

ORBITS = len(NODE_ORBITS)
QUICK: dict[str, Any] = {"max_epochs": 5, "hidden": 4, "random_state": 0}


def numbers(seed: int = 0) -> Data:
    """A small graph with four numeric features of very different sizes, the last 0 or 1."""
    data = small_graph(seed)
    del data.scaling
    draw = torch.Generator().manual_seed(seed)
    data.x = torch.randn(data.num_nodes, 4, generator=draw) * torch.tensor([1.0, 1e3, 1e-3, 0.0])
    data.x[:, 0] += 7
    data.x[:, 3] = (torch.rand(data.num_nodes, generator=draw) < 0.5).float()
    data.x = data.x.double()
    return data


def on_three_nodes(x: list[list[float]], **given: Any) -> Data:
    """Three nodes in a row, the first two for training."""
    mask = torch.tensor([True, True, False])
    data = Data(torch.tensor(x), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), train_mask=mask)
    for name, value in given.items():
        data[name] = value
    return data


def test_numbers_are_standardised_by_hand() -> None:
    found = node_features(on_three_nodes([[1.0, 5.0, 1.0], [3.0, 5.0, 0.0], [7.0, 6.0, 1.0]]), True)
    assert found.x.tolist() == [[-1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [5.0, 1.0, 1.0]]
    assert found.state == {"scaling": "standard", "feature_scale": [[2.0, 5.0, 0.0], [1.0, 1.0, 1.0]]}


@pytest.mark.parametrize(("asked", "first"), [("raw", 1.0), ("rows", 0.25), ("standard", -1.0)])
def test_what_is_asked_for_is_done(asked: str, first: float) -> None:
    data = on_three_nodes([[1.0, 3.0], [3.0, 5.0], [7.0, 6.0]], scaling=asked)
    assert node_features(data, True).x[0, 0] == first
    assert node_features(data, False).x[0, 0] == 1.0
    data.x = feature_tensor(sparse.csr_array(data.x.numpy()))
    made = node_features(data, True).x
    assert (made if asked == "standard" else made.to_dense())[0, 0] == first


def test_a_word_that_is_none() -> None:
    for name in ("scaling", "structure"):
        with pytest.raises(ValueError, match=f"data.{name} must be one of .*, got 'adds'"):
            node_features(on_three_nodes([[1.0]] * 3, **{name: "adds"}), True)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (lambda rng: rng.integers(0, 9, (40, 12)), "rows"),
        (lambda rng: rng.integers(0, 9, (40, 9)), "standard"),
        (lambda rng: rng.integers(-1, 9, (40, 12)), "standard"),
        (lambda rng: rng.random((40, 12)), "standard"),
        (lambda rng: rng.random((40, 12)) * (rng.random((40, 12)) < 0.15), "rows"),
        (lambda rng: rng.normal(size=(40, 12)) * (rng.random((40, 12)) < 0.1), "rows"),
        (lambda rng: np.eye(40), "rows"),
        (lambda rng: rng.integers(0, 2, (40, 100)), "unit"),
    ],
)
def test_features_are_treated_by_what_they_hold(case: Any, expected: str) -> None:
    """Counts of words and identities as before, measurements standardised; mostly-zero ones stay sparse."""
    x = torch.from_numpy(np.asarray(case(np.random.default_rng(0)), np.float32))
    mask = torch.arange(40) < 30
    data = Data(x, torch.tensor([[0, 1], [1, 0]]), train_mask=mask)
    found = node_features(data, True)
    assert found.state["scaling"] == expected
    few = Data(x, torch.tensor([[0, 1], [1, 0]]), train_mask=torch.arange(40) < 3)
    if expected in ("rows", "unit"):
        assert torch.equal(found.x.to_dense(), features(x, expected).to_dense())
        assert scaling_of(few) == "rows"  # a tenth of the nodes is not reached
    else:
        seen = found.x[mask].double()
        assert seen.mean(0).abs().max() < 1e-6
        assert (seen.std(0, correction=0) - 1).abs().max() < 1e-6


def test_only_training_nodes_are_looked_at() -> None:
    data = numbers()
    before = node_features(data, True).state
    data.x[~data.train_mask] = -1e9
    assert node_features(data, True).state == before
    data.x[data.train_mask] += 1
    assert node_features(data, True).state != before


@pytest.mark.parametrize("kind", [MCNClassifier, ViewsClassifier])
@pytest.mark.parametrize("structure", ["none", "add"])
def test_an_estimator_does_the_same_to_another_graph(kind: Any, structure: str) -> None:
    data = numbers()
    data.structure = structure
    fitted = kind(**QUICK).fit(data)
    assert fitted.n_features_in_ == 4 + ORBITS * (structure == "add")
    own = fitted.predict_proba(data)
    bare = Data(data.x, data.edge_index)  # no masks to fit anything on, and no word on what to do
    assert np.array_equal(fitted.predict_proba(bare), own)
    bare.x = bare.x + 1000  # other features are not made to look like those of before
    assert not np.array_equal(fitted.predict_proba(bare), own)
    with pytest.raises(ValueError, match=r"data\.x has 5 features, but the network was trained on 4"):
        fitted.predict(Data(torch.ones(data.num_nodes, 5), data.edge_index))


@pytest.mark.parametrize("config", [MCNConfig(max_epochs=3), AutoConfig(max_epochs=3, candidates=("gcn",))])
def test_a_run_keeps_what_was_done(config: Any, tmp_path: Any) -> None:
    data = numbers()
    data.structure = "add"
    run = train_run(tmp_path / "run", data, config, {})
    again = load_run(tmp_path / "run")
    assert again.memory.in_channels == 4 + ORBITS
    expected = run.predict(data).probabilities
    assert np.array_equal(again.predict(Data(data.x, data.edge_index)).probabilities, expected)
    assert load_run(tmp_path / "run").is_about(data)
    data.x[0, 0] += 1
    assert not load_run(tmp_path / "run").is_about(data)


def test_standardised_by_us_is_standardised_before() -> None:
    """Training on raw numbers is training on numbers that were standardised by hand."""
    data = numbers()
    first = MCNClassifier(**QUICK).fit(data)
    seen = data.x[data.train_mask]
    mean, deviation = seen.mean(0), seen.std(0, correction=0)
    mean[3], deviation[3] = 0, 1
    data.x = ((data.x - mean) / deviation).float()
    data.scaling = "raw"
    second = MCNClassifier(**QUICK).fit(data)
    for one, other in zip(first.model_.parameters(), second.model_.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_words_in_a_data_of_pyg_are_words_as_before() -> None:
    """Counts, and the same divided by their sums as PyG's NormalizeFeatures does, give the same bits."""
    data = small_graph()
    plain = MCNClassifier(**QUICK).fit(data)
    for x in (data.x.to_dense(), data.x):
        other = Data(x, data.edge_index, y=data.y)
        for part in ("train_mask", "val_mask", "test_mask"):
            other[part] = data[part]
        again = MCNClassifier(**QUICK).fit(other)
        assert same_tensors(plain.model_.state_dict(), again.model_.state_dict())
    normal = feature_csr(features(data.x, "rows")).toarray()
    other = Data(torch.from_numpy(normal), data.edge_index)
    other.train_mask = data.train_mask
    assert node_features(other, True).state == {"scaling": "rows"}


def test_structural_columns_by_hand() -> None:
    """A triangle with a tail, 0-1-2 and 2-3: degrees, triangles, and what is fitted on nodes 0, 2 and 3."""
    edges = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
    data = Data(torch.tensor([[5.0], [6.0], [7.0], [8.0]]), edges, num_nodes=4)
    data.train_mask, data.scaling, data.structure = torch.tensor([True, False, True, True]), "raw", "add"
    x = node_features(data, True).x
    assert x.shape == (4, 1 + ORBITS)
    assert x[:, 0].tolist() == [5.0, 6.0, 7.0, 8.0]
    for name, counts in {"edge": [2, 2, 3, 1], "triangle": [1, 1, 1, 0]}.items():
        logs = np.log1p(counts)
        seen = logs[[0, 2, 3]]
        expected = (logs - seen.mean()) / seen.std()
        assert np.allclose(x[:, 1 + NODE_ORBITS.index(name)], expected, atol=1e-6)
    square = x[:, 1 + NODE_ORBITS.index("4-cycle")]
    assert square.tolist() == [0.0] * 4  # no node has one


@pytest.mark.parametrize("dense", [True, False])
def test_structure_stands_beside_words_of_either_form(dense: bool) -> None:
    data = small_graph()
    data.structure = "add"
    data.x = data.x.to_dense() if dense else data.x
    made = node_features(data, True)
    assert made.x.layout == torch.sparse_csr
    given = features(data.x, "rows").to_dense()
    assert torch.equal(made.x.to_dense()[:, :-ORBITS], given)
    assert torch.equal(task_from_data(data).x.to_dense(), made.x.to_dense())


def roles(seed: int = 0, groups: int = 40) -> Data:
    """Nodes of class 0 sit in cliques of four, those of class 1 in stars; the features are noise.

    Every third clique and star is joined to one of the other kind.
    """
    rng = np.random.default_rng(seed)
    edges: list[tuple[int, int]] = []
    for group in range(groups):
        a = 4 * group
        clique = [(a + i, a + j) for i in range(4) for j in range(i)]
        edges += clique if group % 2 == 0 else [(a, a + 1), (a, a + 2), (a, a + 3)]
        if group % 3 == 0 and group:
            edges.append((a, a - 4))
    n = 4 * groups
    data = Data(torch.from_numpy(rng.normal(size=(n, 5)).astype(np.float32)), torch.tensor(edges).T)
    data.y = torch.arange(n) // 4 % 2
    part = torch.from_numpy(rng.permutation(n) % 4)
    data.train_mask, data.val_mask, data.test_mask = part < 2, part == 2, part == 3
    return data


def test_structure_is_found_where_the_features_are_noise() -> None:
    data = roles()
    quick = {"max_epochs": 30, "patience": 30}
    data.structure = "none"
    without = {row["method"]: row["test_mean"] for row in compare(data, ["mlp", "gcn"], settings=quick)}
    data.structure = "add"
    rows = compare(data, ["mlp", "gcn", "ica"], settings=quick)
    found = {row["method"]: row["test_mean"] for row in rows}
    assert without["mlp"] < 70
    assert min(found["mlp"], found["gcn"]) > 90
    assert found["gcn"] > without["gcn"] + 20
    assert found["ica"] > 90  # a baseline without settings has them too


def test_what_is_done_is_part_of_a_key() -> None:
    """Runs in a ledger are about features as training sees them."""
    data, seen = numbers(), set()
    for changes in ({}, {"scaling": "raw"}, {"scaling": "rows"}, {"structure": "add"}):
        other = data.clone()
        for name, value in changes.items():
            other[name] = value
        seen.add(in_memory(other).memory)
    assert len(seen) == 4


def test_motif_counts_once() -> None:
    data = small_graph()
    data.structure = "add"
    with pytest.raises(ValueError, match='features="motifs" are what structure="add" would add'):
        MCNClassifier(features="motifs").fit(data)
