"""What a run predicts and why, and the numbers of its pages."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mcn.data import load_dataset, strong_ties
from mcn.nn import plain
from mcn.nn.attend import Attention
from mcn.train import accuracy_on_test
from mcn.train.features import features
from mcn.viz import Explanation, explain, page_data
from mcn.viz.explanation import Neighbourhood, Predictor
from tests.conftest import refuses
from tests.viz.conftest import BLEND, Trained, candidate_run, train


@pytest.fixture(scope="module")
def found(karate: Trained) -> Explanation:
    return explain(karate.run, karate.data, keep=34)


def inputs(trained: Trained) -> tuple[Any, Any]:
    prepared = trained.run.inputs(trained.data)
    return prepared.x, prepared.stack


def test_it_says_what_the_run_predicts(karate: Trained, found: Explanation) -> None:
    own = karate.run.predict(karate.data)
    for name in ("probabilities", "motif", "step"):
        np.testing.assert_array_equal(getattr(found, name), getattr(own, name))
    np.testing.assert_array_equal(found.predicted, own.labels)
    np.testing.assert_array_equal(found.truth, karate.data.y.numpy())
    assert found.classes == ["Mr. Hi", "Officer"]
    assert found.edges.shape == (78, 2)
    for number, part in enumerate(("train", "val", "test"), 1):
        np.testing.assert_array_equal(found.split == number, karate.data[f"{part}_mask"].numpy())
    expected = [(motif, step) for motif in ("edge", "triangle") for step in (1, 2)]
    assert [(option.motif, option.step) for option in found.options] == expected
    for probabilities, chosen in ((found.motif_probs, found.motif), (found.step_probs, found.step - 1)):
        for layer in range(2):
            selector = probabilities[layer]
            np.testing.assert_allclose(selector.sum(1), 1, atol=1e-6)
            np.testing.assert_array_equal(selector.argmax(1), chosen[:, layer])


def test_the_neighbourhoods_are_the_stacks_rows(karate: Trained, found: Explanation) -> None:
    _, stack = inputs(karate)
    for option in found.options:
        matrix = stack.matrix(option.motif, option.step)
        for node in range(34):
            row = option.row(node)
            assert option.indices[row][0] == node
            assert option.total[node] == matrix.indptr[node + 1] - matrix.indptr[node]
            assert (np.diff(option.coefficients[-1][row][1:]) <= 0).all()  # the heaviest first
            for j, weight in zip(option.indices[row], option.weights[row], strict=True):
                assert weight == pytest.approx(matrix[node, j])
        for (u, v), (there, back) in zip(found.edges, option.members, strict=True):
            assert there == (matrix[u, v] != 0)
            assert back == (matrix[v, u] != 0)


@pytest.mark.parametrize("layer", [0, 1])
def test_attention_is_that_of_the_plain_path(karate: Trained, found: Explanation, layer: int) -> None:
    """Each neighbour's coefficient, found by attending over one-hot features with plain torch."""
    x, stack = inputs(karate)
    model = karate.run.model
    with torch.no_grad():
        h = x.to_dense() if layer == 0 else torch.nn.functional.elu(model.convs[0](x, stack))
        conv = model.convs[layer]
        z = (h @ conv.weight).view(34, conv.heads, conv.out_channels)
        s_src, s_dst = plain.head_logits(z, conv.att_src, conv.att_dst, 34)
        one_hot = torch.eye(34)[:, None, :].expand(34, conv.heads, 34).contiguous()
        for number, option in enumerate(found.options):
            rows = stack.select(np.full(34, number))
            alpha = plain.attend(one_hot, s_dst, s_src, rows, Attention(conv.prior, conv.negative_slope))
            expected = alpha.mean(1).numpy()
            for node in range(34):
                row = option.row(node)
                found_there, heard = option.coefficients[layer][row], option.indices[row]
                np.testing.assert_allclose(found_there, expected[node, heard], atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"steps": 2},
        {"self_attention": False},
        {"self_attention": False, "steps": 2, "psi": "symmetric"},
        {"psi_prior": "product", "psi": "laplacian"},
        {"psi": "transition", "output_heads": 3},
        {"num_layers": 1, "class_priors": "validation"},
        {"num_layers": 3, "motifs": ("triangle", "4-cycle", "edge")},
    ],
    ids=str,
)
def test_one_node_choosing_otherwise(tmp_path: Path, settings: dict[str, Any]) -> None:
    """Exactly what the network says when this node alone is pinned to another choice in its last layer."""
    trained = train(tmp_path / "run", load_dataset("karate"), **settings)
    found = explain(trained.run, trained.data)
    x, stack = inputs(trained)
    layers = found.motif.shape[1]
    chosen = found.chosen[:, -1]
    own = found.alternatives[chosen, np.arange(34)]
    np.testing.assert_allclose(own, found.probabilities, atol=1e-5, rtol=1e-4)
    with torch.no_grad():
        for node in (0, 9, 33):
            for option in range(len(found.options)):
                other = chosen.copy()
                other[node] = option
                scores = trained.run.model(x, stack, choice=[*[None] * (layers - 1), other])
                expected = scores.softmax(1)[node].numpy()
                np.testing.assert_allclose(found.alternatives[option, node], expected, atol=1e-5)


def test_without_anything_to_choose(tmp_path: Path) -> None:
    trained = train(tmp_path / "run", load_dataset("karate"), motifs=("edge",), num_layers=1)
    found = explain(trained.run, trained.data)
    assert found.motif_probs == found.step_probs == [None]
    assert len(found.options) == 1
    assert len(found.options[0].coefficients) == 1
    np.testing.assert_allclose(found.alternatives[0], found.probabilities, atol=1e-6)


def test_only_the_heaviest_are_kept(karate: Trained, found: Explanation) -> None:
    few = explain(karate.run, karate.data, keep=3)
    for all_of, some in zip(found.options, few.options, strict=True):
        np.testing.assert_array_equal(some.total, all_of.total)
        np.testing.assert_array_equal(np.diff(some.indptr), np.minimum(np.diff(all_of.indptr), 3))
        for node in range(34):
            np.testing.assert_array_equal(some.indices[some.row(node)], all_of.indices[all_of.row(node)][:3])
    refuses("keep must be at least 1, got 0", explain, karate.run, karate.data, keep=0)


def test_what_predicts(karate: Trained, views: Trained, found: Explanation) -> None:
    assert (found.kind, found.predictor.mode, found.predictor.shares) == ("choices", "network", {"MCN": 1.0})
    assert found.predictor.sentence == "All nodes are predicted by MCN."
    assert explain(views.run, views.data).predictor.shares == {"MotifViews": 1.0}


@pytest.mark.parametrize(
    ("mode", "shares", "sentence"),
    [
        ("one", {"gcn": 1.0}, "All nodes are predicted by gcn."),
        ("blend", BLEND, "A blend of 2 candidates predicts, their weighted mean: 75 % triangle, 25 % mlp."),
    ],
)
def test_which_candidates_predict(
    karate: Trained, tmp_path: Path, mode: str, shares: dict[str, float], sentence: str
) -> None:
    found = explain(candidate_run(karate, tmp_path / "run", mode), karate.data)
    assert (found.predictor.mode, found.predictor.shares) == (mode, shares)
    assert list(found.predictor.shares.values()) == sorted(shares.values(), reverse=True)
    assert found.predictor.sentence == sentence
    assert found.chosen.tolist() == [[]] * 34  # no node chooses
    assert found.motif_probs == found.step_probs == []
    assert "MCN" not in found.predictor.sentence


def test_a_graph_with_other_features_or_without_labels_and_masks(karate: Trained) -> None:
    refuses("the network was trained on 34", explain, karate.run, strong_ties())
    bare = karate.data.clone()
    for name in ("y", "train_mask", "val_mask", "test_mask"):
        del bare[name]
    found = explain(karate.run, bare)
    assert (found.truth == -1).all()
    assert (found.split == 0).all()


def test_a_network_of_motif_views(views: Trained) -> None:
    """Shares and predictions by one view, against dense matrices."""
    found = explain(views.run, views.data)
    assert found.kind == "views"
    assert found.motif.shape == (34, 0)
    assert [option.motif for option in found.options] == ["edge", "triangle"]
    np.testing.assert_array_equal(found.probabilities, views.run.predict(views.data).probabilities)
    rows = views.run.inputs(views.data).rows
    x = features(views.data.x, "rows")
    x = x.to_dense() if x.layout != torch.strided else x
    mixed = []
    for view, option in enumerate(found.options):
        matrix = rows.matrix(view).toarray()
        assert (option.total == (matrix > 0).sum(1)).all()
        assert option.total.max() <= 6
        shares = matrix / matrix.sum(1, keepdims=True)
        for node in range(34):
            row = option.row(node)
            heard = option.indices[row]
            np.testing.assert_allclose(option.coefficients[0][row], shares[node, heard], atol=1e-6)
            np.testing.assert_allclose(option.weights[row], matrix[node, heard], atol=1e-6)
        for (u, v), (there, back) in zip(found.edges, option.members, strict=True):
            assert (there, back) == (matrix[u, v] > 0, matrix[v, u] > 0)
        mixed.append(torch.from_numpy(shares).to(torch.float32) @ x)
        with torch.no_grad():
            expected = views.run.model(mixed[-1]).softmax(1).numpy()
        np.testing.assert_allclose(found.alternatives[view], expected, atol=1e-5)
    with torch.no_grad():
        both = views.run.model((mixed[0] + mixed[1]) / 2).softmax(1).numpy()
    np.testing.assert_allclose(found.probabilities, both, atol=1e-5)
    # A smooth network averages, over the neighbours in the view, what a rough one would predict of them.
    model: Any = views.run.model
    model.smooth = True
    try:
        smooth = explain(views.run, views.data).alternatives[1]
        np.testing.assert_allclose(smooth, shares @ found.alternatives[1], atol=1e-5)
    finally:
        model.smooth = False


MCN = Predictor("network", {"MCN": 1.0})


def test_confusion_matrices_and_calibration_curves(karate: Trained, found: Explanation) -> None:
    tables = page_data.confusion(found)
    assert set(tables) <= {"train", "val", "test"}
    assert sum(map(sum, tables["train"])) == 4
    right = tables["test"][0][0] + tables["test"][1][1]
    share = right / sum(map(sum, tables["test"]))
    assert share == pytest.approx(accuracy_on_test(karate.data, found.predicted))
    mask, y = karate.data.test_mask, karate.data.y
    wrong = sum(1 for i in range(34) if mask[i] and y[i] == 1 and found.predicted[i] == 0)
    assert tables["test"][1][0] == wrong
    # Every labelled node is in one bin of its part; the shares of right ones make the accuracy.
    curves_of = page_data.calibrations(found)
    assert set(curves_of) == set(tables)
    for part, curve in curves_of.items():
        table = tables[part]
        assert sum(curve["count"]) == sum(map(sum, table))
        bins = list(zip(curve["accuracy"], curve["confidence"], curve["count"], strict=True))
        right, gaps = sum(a * n for a, _, n in bins), sum(n * abs(a - c) for a, c, n in bins)
        assert right == pytest.approx(table[0][0] + table[1][1])
        assert curve["error"] == pytest.approx(gaps / sum(curve["count"]))


def test_choices_by_class_and_by_degree(found: Explanation) -> None:
    for layer, table in enumerate(page_data.choices_by_class(found)):
        expected = Counter(
            (int(c), int(t * 2 + k - 1))
            for c, t, k in zip(found.truth, found.motif[:, layer], found.step[:, layer], strict=True)
        )
        assert [[expected[c, o] for o in range(4)] for c in range(2)] == table
    # Degrees of the club: one 1, eleven 2, twelve 3 or 4, five 5 or 6, four 9 to 16, one 17.
    names, layers = page_data.choices_by_degree(found)
    assert names == ["1", "2", "3–4", "5–8", "9–16", "17–32"]
    for table in layers:
        assert [sum(row) for row in table] == [1, 11, 12, 5, 4, 1]


def test_the_curves_of_a_single_network(karate: Trained, tmp_path: Path) -> None:
    path = karate.folder / "metrics.jsonl"
    curves = page_data.training_curves(path, MCN, karate.run.summary)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert (curves["network"], curves["epoch"]) == ("MCN", [line["epoch"] for line in lines])
    assert curves["epoch"] == list(range(1, 9))
    assert curves["val_loss"] == pytest.approx([line["val_loss"] for line in lines], abs=1e-5)
    assert curves["kept"] == karate.run.summary["best_epoch"]
    assert page_data.training_curves(tmp_path / "metrics.jsonl", MCN, {}) is None
    of_a_candidate = Predictor("one", {"gcn": 1.0})  # whose epochs are not there
    assert page_data.training_curves(path, of_a_candidate, {}) is None
    (tmp_path / "metrics.jsonl").write_text(path.read_text().replace(str(lines[0]["val_loss"]), "Infinity"))
    curves = page_data.training_curves(tmp_path / "metrics.jsonl", MCN, karate.run.summary)
    assert curves["val_loss"][0] is None


@pytest.mark.parametrize(
    ("predictor", "network", "number"),
    [
        (Predictor("one", {"gcn": 1.0}), "gcn", 1),
        (Predictor("blend", {"triangle": BLEND["triangle"], "mlp": BLEND["mlp"]}), "triangle", 2),
        (Predictor("blend", {"trees": 0.9, "mlp": 0.1}), "mlp", 0),  # trees have no epochs
    ],
)
def test_the_curves_of_the_candidate_that_predicts(
    karate: Trained, tmp_path: Path, predictor: Predictor, network: str, number: int
) -> None:
    """Those of its first run; every run of `candidate_run` has losses of its own."""
    run = candidate_run(karate, tmp_path / "run", predictor.mode)
    curves = page_data.training_curves(run.folder / "metrics.jsonl", predictor, run.summary)
    assert (curves["network"], curves["kept"], curves["epoch"]) == (network, 2, [1, 2, 3])
    assert curves["val_loss"] == [number, number + 0.1, number + 0.2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"epoch": 1}', "line 1: not the scores of an epoch"),
        (b"[" * 100_000, "line 1: not the scores of an epoch"),
        (b"[]", "line 1: not the scores of an epoch"),
        (b'{"epoch": 1' + b"0" * 400 + b"}", "line 1: not the scores of an epoch"),
        (b"\xff\n", "not a log of epochs"),
    ],
)
def test_a_log_of_something_else(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(content)
    refuses(rf"metrics\.jsonl.*{message}", page_data.training_curves, tmp_path / "metrics.jsonl", MCN, {})


@pytest.mark.parametrize(
    ("room", "expected"), [(1_000_000, 30), (34, 30), (33, 20), (24, 20), (14, 8), (3, 5), (0, 5)]
)
def test_neighbours_are_trimmed(room: int, expected: int) -> None:
    lengths = [3, 1, 30]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    values = np.linspace(1, 0, 34, dtype=np.float32)
    indices, none = np.arange(34, dtype=np.int32), np.zeros((0, 2), np.bool_)
    rows = Neighbourhood("edge", 1, indptr, indices, values, [values], np.diff(indptr), none)
    most, (kept,) = page_data.trimmed([rows], room)
    assert most == expected
    assert np.diff(kept.indptr).tolist() == [min(length, most) for length in lengths]
    assert kept.total.tolist() == lengths
    assert kept.indices[kept.row(2)].tolist() == list(range(4, 4 + min(30, most)))
