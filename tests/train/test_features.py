"""What training sees of a graph: features by what they hold, motif counts, edge weights, no test label."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data, HeteroData

from mcn.data.sparse import feature_csr, feature_tensor
from mcn.motifs import NODE_ORBITS, count_motifs
from mcn.train import MCNClassifier, ViewsClassifier, load_run, prepare, train
from mcn.train.features import check_features, features, node_features, scaling_of
from mcn.train.problem import Memory, class_names
from tests.conftest import refuses
from tests.train.graphs import same_weights, settings, small_config, small_graph, with_other_test_labels

ORBITS = len(NODE_ORBITS)
QUICK: dict[str, Any] = {"max_epochs": 5, "hidden": 4, "random_state": 0}
ESTIMATORS = pytest.mark.parametrize("estimator", [MCNClassifier, ViewsClassifier])
VALUES = [[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 1.0, 2.0]]
SCALED = {
    "raw": VALUES,
    "rows": [[0.25, 0.75, 0.0], [0.0, 0.0, 0.0], [-0.25, 0.25, 0.5]],
    "unit": [[0.1**0.5, 0.9**0.5, 0.0], [0.0, 0.0, 0.0], [-((1 / 6) ** 0.5), (1 / 6) ** 0.5, (4 / 6) ** 0.5]],
}


def as_csr(x: torch.Tensor) -> torch.Tensor:
    return feature_tensor(sparse.csr_array(x.numpy()))


# The parts of a graph, and what is known of its classes.


def test_the_parts_and_their_labels_without_those_of_test_nodes() -> None:
    data = small_graph()
    problem = prepare(data, small_config())
    assert problem.train.tolist() == data.train_mask.nonzero().squeeze(1).tolist()
    assert problem.val.tolist() == data.val_mask.nonzero().squeeze(1).tolist()
    assert torch.equal(problem.train_labels, data.y[data.train_mask])
    assert torch.equal(problem.val_labels, data.y[data.val_mask])
    assert problem.num_classes == 3
    assert problem.inputs.stack.motifs == ("edge", "triangle")
    hidden = ~(data.train_mask | data.val_mask)
    assert (problem.labels[hidden] == -1).all()
    assert torch.equal(problem.labels[~hidden], data.y[~hidden])
    for dtype in (torch.int32, torch.uint8, torch.int16):
        data.y = data.y.to(dtype)
        assert torch.equal(prepare(data, small_config()).labels, problem.labels)


def test_names_and_balanced_weights_of_the_classes_and_what_is_no_graph() -> None:
    data = small_graph()
    assert class_names(data) is None
    data.classes = np.array(["x", "y", "z", "never seen"])
    assert class_names(data) == ["x", "y", "z", "never seen"]
    assert prepare(data, small_config()).num_classes == 4
    data.classes = ["x", "y"]
    refuses(r"data.y holds class 2, but data.classes has 2 names", prepare, data, small_config())
    with pytest.raises(ValueError, match=r"expected a torch_geometric\.data\.Data .* got HeteroData"):
        prepare(HeteroData(), small_config())
    # n / (C · n_c): of 6 + 6 + 3 training nodes, those of the last class weigh twice as much.
    data = small_graph()
    data.train_mask[(data.train_mask & (data.y == 2)).nonzero().squeeze(1)[:3]] = False
    problem = prepare(data, small_config())
    assert problem.class_weights("none") is None
    weights = problem.class_weights("balanced")
    assert weights.tolist() == pytest.approx([15 / 18, 15 / 18, 15 / 9])


def test_counts_can_be_given_and_their_scale_can_come_from_elsewhere() -> None:
    data, config = small_graph(), small_config()
    counts = count_motifs(data.edge_index, data.num_nodes)
    given, here = (prepare(data, config, each).inputs.stack for each in (counts, None))
    assert (given.matrix("triangle") != here.matrix("triangle")).nnz == 0
    memory = prepare(data, config).memory(data)
    assert memory == Memory(60, None, {"count_scale": here.count_scale.tolist(), "scaling": "rows"})
    run, other = train(data, config), small_graph(1)
    moved, there = run.inputs(other).stack, prepare(other, config).inputs.stack
    assert np.array_equal(moved.count_scale, here.count_scale)
    assert not np.array_equal(moved.node_counts, there.node_counts)


def test_the_fingerprint_is_of_what_training_sees() -> None:
    data = small_graph()

    def print_of(graph: Data) -> str:
        return prepare(graph, small_config()).fingerprint()

    def changed(**attributes: Any) -> str:
        other = small_graph()
        for name, value in attributes.items():
            other[name] = value
        return print_of(other)

    first = print_of(data)
    assert changed() == first
    assert print_of(small_graph(dense=True)) == first  # the same features
    assert print_of(with_other_test_labels(data)) == first
    relabelled = data.y.clone()
    node = int(data.train_mask.nonzero()[0])
    relabelled[node] = (relabelled[node] + 1) % 3
    assert changed(y=relabelled) != first
    assert changed(val_mask=data.test_mask, test_mask=data.val_mask) != first
    assert changed(x=data.x.to_dense() * torch.arange(60)) != first
    u, v = data.edge_index[:, 0].tolist()
    keep = [{a, b} != {u, v} for a, b in data.edge_index.T.tolist()]
    assert changed(edge_index=data.edge_index[:, keep]) != first


# Features of any form, scaled by row.


@pytest.mark.parametrize("scaling", SCALED)
def test_dense_and_sparse_alike(scaling: str) -> None:
    dense = features(torch.tensor(VALUES, dtype=torch.float64), scaling)
    from_csr = features(feature_tensor(sparse.csr_array(VALUES)), scaling)
    assert dense.dtype == from_csr.dtype == torch.float32
    assert (dense.layout, from_csr.layout) == (torch.strided, torch.sparse_csr)
    np.testing.assert_allclose(dense, SCALED[scaling], rtol=1e-6)
    np.testing.assert_allclose(from_csr.to_dense(), SCALED[scaling], rtol=1e-6)


def test_signs_that_cancel_do_not_blow_up_and_any_type_becomes_floats() -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.int64, torch.bool):
        mostly_zero = words("ones").to(dtype)
        assert torch.equal(features(mostly_zero, "raw").to_dense(), mostly_zero.float())
    x = torch.tensor([[1.0, -1.0], [1.0, -0.9999999]])
    assert features(x, "rows").abs().max() <= 0.5001
    assert features(as_csr(x), "rows").values().abs().max() <= 0.5001
    assert features(torch.tensor([[1, 3], [0, 2]]), "rows").tolist() == [[0.25, 0.75], [0.0, 1.0]]


def words(kind: str) -> torch.Tensor:
    """Mostly-zero features: ones, word counts, or real numbers of both signs; one row is empty."""
    draw = torch.Generator().manual_seed(0)
    values = {
        "ones": torch.ones(300, 80),
        "counts": torch.randint(1, 40, (300, 80), generator=draw).float(),
        "real": torch.randn(300, 80, generator=draw),
    }[kind]
    x = torch.where(torch.rand(300, 80, generator=draw) < 0.1, values, 0.0)
    x[7] = 0.0
    x[8, 3] = -0.0
    return x


@pytest.mark.parametrize("kind", ["ones", "counts", "real"])
@pytest.mark.parametrize("scaling", SCALED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_mostly_zero_features_become_those_of_csr(kind: str, scaling: str, dtype: torch.dtype) -> None:
    x = words(kind).to(dtype)
    turned, given = features(x, scaling), features(as_csr(x), scaling)
    assert (turned.layout, turned.dtype) == (torch.sparse_csr, torch.float32)
    assert torch.equal(turned.crow_indices(), given.crow_indices())
    assert torch.equal(turned.col_indices(), given.col_indices())
    assert torch.equal(turned.values(), given.values())
    assert (turned.values() != 0).all()
    if dtype == torch.float32 and (kind, scaling) in (("ones", "rows"), ("counts", "rows"), ("real", "raw")):
        dense = x / x.abs().sum(1, keepdim=True).clamp_min(1e-12) if scaling == "rows" else x
        assert torch.equal(turned.to_dense(), dense)  # so that fingerprints do not depend on the form


# What is done to features, by what they hold.


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
    return Data(torch.tensor(x), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), train_mask=mask, **given)


def test_numbers_are_standardised_by_hand_and_only_training_nodes_are_looked_at() -> None:
    found = node_features(on_three_nodes([[1.0, 5.0, 1.0], [3.0, 5.0, 0.0], [7.0, 6.0, 1.0]]))
    assert found.x.tolist() == [[-1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [5.0, 1.0, 1.0]]
    assert found.state == {"scaling": "standard", "feature_scale": [[2.0, 5.0, 0.0], [1.0, 1.0, 1.0]]}
    data = numbers()
    before = node_features(data).state
    data.x[~data.train_mask] = -1e9
    assert node_features(data).state == before
    data.x[data.train_mask] += 1
    assert node_features(data).state != before


@pytest.mark.parametrize(("asked", "first"), [("raw", 1.0), ("rows", 0.25), ("standard", -1.0)])
def test_what_is_asked_for_is_done(asked: str, first: float) -> None:
    data = on_three_nodes([[1.0, 3.0], [3.0, 5.0], [7.0, 6.0]], scaling=asked)
    assert node_features(data).x[0, 0] == first
    data.x = as_csr(data.x)
    made = node_features(data).x
    assert (made if asked == "standard" else made.to_dense())[0, 0] == first
    with pytest.raises(ValueError, match=r"data\.scaling must be one of .*, got 'adds'"):
        node_features(on_three_nodes([[1.0]] * 3, scaling="adds"))


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
    """Counts of words and identities as they are, measurements standardised; mostly-zero ones stay sparse."""
    x = torch.from_numpy(np.asarray(case(np.random.default_rng(0)), np.float32))
    mask, edges = torch.arange(40) < 30, torch.tensor([[0, 1], [1, 0]])
    found = node_features(Data(x, edges, train_mask=mask))
    assert found.state["scaling"] == expected
    if expected in ("rows", "unit"):
        assert torch.equal(found.x.to_dense(), features(x, expected).to_dense())
        few = Data(x, edges, train_mask=torch.arange(40) < 3)
        assert scaling_of(few) == "rows"  # a tenth of the nodes is not reached
    else:
        seen = found.x[mask].double()
        assert seen.mean(0).abs().max() < 1e-6
        assert (seen.std(0, correction=0) - 1).abs().max() < 1e-6


def test_words_in_a_data_of_pyg_are_words() -> None:
    """Counts, and the same divided by their sums as PyG's NormalizeFeatures does, give the same bits."""
    data = small_graph()
    plain = MCNClassifier(**QUICK).fit(data)
    masks = {part: data[part] for part in ("train_mask", "val_mask", "test_mask")}
    for x in (data.x.to_dense(), data.x):
        assert same_weights(plain, MCNClassifier(**QUICK).fit(Data(x, data.edge_index, y=data.y, **masks)))
    normal = torch.from_numpy(feature_csr(features(data.x, "rows")).toarray())
    assert node_features(Data(normal, data.edge_index, **masks)).state == {"scaling": "rows"}


# Motif counts as features.


def test_columns_of_motif_counts_by_hand() -> None:
    """A triangle with a tail, 0-1-2 and 2-3: logarithms of degrees and triangles, standardised."""
    data = Data(torch.tensor([[5.0], [6.0], [7.0], [8.0]]), torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]]))
    data.train_mask, data.scaling = torch.tensor([True, False, True, True]), "raw"
    alone, beside = (node_features(data, wanted).x for wanted in ("motifs", "both"))
    assert alone.shape == (4, ORBITS)
    assert torch.equal(beside, torch.cat([data.x, alone], 1))
    for name, counts in {"edge": [2, 2, 3, 1], "triangle": [1, 1, 1, 0]}.items():
        logs = np.log1p(counts)
        expected = (logs - logs.mean()) / logs.std()
        assert np.allclose(alone[:, NODE_ORBITS.index(name)], expected, atol=1e-6)
    assert alone[:, NODE_ORBITS.index("4-cycle")].tolist() == [0.0] * 4  # no node has one
    for dense in (True, False):  # they stand beside words of either form
        data = small_graph(dense=dense)
        made = node_features(data, "both")
        assert made.x.layout == torch.sparse_csr
        assert torch.equal(made.x.to_dense()[:, :-ORBITS], features(data.x, "rows").to_dense())
        assert torch.equal(made.x.to_dense()[:, -ORBITS:], node_features(data, "motifs").x)


@ESTIMATORS
@pytest.mark.parametrize(("wanted", "width"), [("given", 4), ("motifs", ORBITS), ("both", 4 + ORBITS)])
def test_an_estimator_does_the_same_to_another_graph(estimator: Any, wanted: str, width: int) -> None:
    data = numbers()
    fitted = estimator(**QUICK, features=wanted).fit(data)
    assert fitted.n_features_in_ == width
    own = fitted.predict_proba(data)
    bare = Data(data.x, data.edge_index)  # no masks to fit anything on, and no word on what to do
    assert np.array_equal(fitted.predict_proba(bare), own)
    other = numbers(1)
    assert fitted.predict_proba(other).shape == (90, 3)
    moved = Data(other.x + 1000, other.edge_index)  # which is not made to look like the features of before
    assert np.array_equal(fitted.predict_proba(moved), fitted.predict_proba(other)) == (wanted == "motifs")
    wide = Data(torch.ones(data.num_nodes, 5), data.edge_index)
    if wanted == "motifs":  # the given features have no part in it
        assert np.array_equal(fitted.predict_proba(wide), own)
    else:
        refuses(r"data\.x has 5 features, but the network was trained on 4", fitted.predict, wide)


@pytest.mark.parametrize("wanted", ["motifs", "both"])
@pytest.mark.parametrize("recipe", ["mcn", "views"])
def test_another_graph_is_counted_and_measured_by_the_graph_trained_on(recipe: str, wanted: str) -> None:
    """The network of a run, given by hand the columns of another graph in the first graph's scale."""
    data, other = numbers(), numbers(1)
    config = settings(recipe, features=wanted, max_epochs=3, hidden=4)
    run = train(data, config)
    counts = [np.log1p(count_motifs(g.edge_index, g.num_nodes).per_node) for g in (data, other)]
    spread = counts[0].std(0)
    columns = np.where(spread == 0, 0.0, (counts[1] - counts[0].mean(0)) / np.where(spread == 0, 1, spread))
    if wanted == "both":
        seen = data.x[data.train_mask]
        mean, deviation = seen.mean(0), seen.std(0, correction=0)
        mean[3], deviation[3] = 0, 1
        columns = np.concatenate([((other.x - mean) / deviation).numpy(), columns], 1)
    inputs = run.inputs(other)
    made = inputs.x if recipe == "mcn" else inputs.features
    np.testing.assert_allclose(made, columns, rtol=1e-5, atol=1e-6)
    assert run.predict(other).probabilities.shape == (90, 3)


@pytest.mark.parametrize("recipe", ["mcn", "views", "auto"])
def test_a_run_keeps_what_was_done(recipe: str, tmp_path: Path) -> None:
    data, more = numbers(), {"candidates": ("gcn",), "repeats": 1} if recipe == "auto" else {}
    run = train(data, settings(recipe, max_epochs=3, features="both", **more), tmp_path / "run")
    again = load_run(tmp_path / "run")
    assert again.memory.in_channels == 4 + ORBITS
    expected = run.predict(data).probabilities
    assert np.array_equal(again.predict(Data(data.x, data.edge_index)).probabilities, expected)
    assert load_run(tmp_path / "run").is_about(data)
    data.x[0, 0] += 1
    assert not load_run(tmp_path / "run").is_about(data)


# Features that do not fit.


def graph(x: torch.Tensor | None, names: list[str] | None = None) -> Data:
    data = Data(x=x, edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    if names is not None:
        data.feature_names = names
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (graph(None), "data.x has shape None; expected [2, 3]"),
        (graph(torch.ones(3, 3)), "data.x has shape [3, 3]; expected [2, 3]"),
        (graph(torch.ones(2, 4)), "data.x has 4 features, but the network was trained on 3"),
        (graph(torch.ones(2, 3), ["a", "c", "b"]), "not those the network was trained on: in another order"),
        (graph(torch.ones(2, 3), ["a", "b", "d"]), "missing ['c'], not known ['d']"),
        (graph(torch.ones(2, 2), ["a", "b"]), "missing ['c'], not known []"),
    ],
)
def test_what_does_not_fit(data: Data, message: str) -> None:
    refuses(re.escape(message), check_features, data, Memory(3, ["a", "b", "c"], {}))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("dense", [True, False])
def test_values_that_are_not_finite(value: float, dense: bool) -> None:
    x = feature_tensor(sparse.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, value]]), dense=dense)
    message = rf"data.x holds {value} at node 1, column 2; expected finite"
    refuses(message, check_features, graph(x), Memory(3, None, {}))


# Edge weights.


def with_weights(weight: float | None = None) -> Data:
    """A small graph whose edges all have this weight, or different ones, the same in both directions."""
    data = small_graph()
    low, high = data.edge_index.min(0).values, data.edge_index.max(0).values
    data.edge_weight = 1.0 + (low * 31 + high * 17) % 5 if weight is None else torch.full(low.shape, weight)
    return data


@ESTIMATORS
def test_weights_of_one_change_no_bit_and_others_do(estimator: Any) -> None:
    data, bare = with_weights(), small_graph()
    plain, ones, weighted = (estimator(**QUICK).fit(g) for g in (bare, with_weights(1.0), data))
    assert same_weights(plain, ones)
    assert not same_weights(plain, weighted)
    again = Data(data.x, data.edge_index, edge_weight=data.edge_weight)
    np.testing.assert_array_equal(weighted.predict_proba(again), weighted.predict_proba(data))
    refuses("was trained with edge weights, and this graph has none", weighted.predict, bare)
    refuses("was trained without edge weights, and this graph has some", plain.predict, data)
    prints = {prepare(g, small_config()).fingerprint() for g in (bare, with_weights(1.0), data)}
    assert len(prints) == 3
