"""What a careful colleague says: each remark where it belongs, and not where it does not."""

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import remove_self_loops, to_undirected

from mcn.train.check import check_graph
from mcn.train.metrics import score
from mcn.train.problem import Problem, class_names, known_labels
from mcn.train.remarks import SimpleScores, graph_remarks, result_remarks, simple_scores
from mcn.train.tasks import Classes
from tests.train.graphs import drawn_masks

TWO = Classes(2)


def workers(seed: int = 0, nodes: int = 400, signal: float = 1.5, like: float = 0.5) -> Data:
    """22 % of one class, which are `signal` apart; a share `like` of ties stays in a class by design."""
    rng = np.random.default_rng(seed)
    y = (rng.random(nodes) < 0.22).astype(np.int64)
    x = rng.normal(size=(nodes, 10))
    x[:, 0] += signal * y
    x *= 10.0 ** np.arange(-2, 8)[None] / 100
    ends = rng.integers(0, nodes, (2, 5 * nodes))
    within = rng.random(5 * nodes) < like
    for label in (0, 1):
        members = np.flatnonzero(y == label)
        mine = within & (y[ends[0]] == label)
        ends[1, mine] = rng.choice(members, mine.sum())
    masks = drawn_masks(rng, nodes, nodes * 3 // 5, nodes * 4 // 5)
    edges = to_undirected(remove_self_loops(torch.from_numpy(ends))[0], num_nodes=nodes)
    x32 = torch.from_numpy(x.astype(np.float32))
    return Data(x=x32, y=torch.from_numpy(y), edge_index=edges, num_nodes=nodes, **masks)


def said(data: Data, p: np.ndarray, beside: SimpleScores, epochs: int = 10, **more: Any) -> str:
    y, parts = data.y.numpy(), {name: data[f"{name}_mask"].numpy() for name in ("train", "val", "test")}
    scores = {name: TWO.all_scores(p[mask], y[mask]) for name, mask in parts.items()}
    evidence = TWO.evidence(p[parts["val"]], y[parts["val"]], 1)
    told, problem = {"scores": scores, "epochs": epochs} | more, Problem(None, known_labels(data))
    names = class_names(data) or ["0", "1"]
    return "\n".join(result_remarks(problem, p, told, beside, 100, evidence, names))


NOTHING = SimpleScores("accuracy", 0.2, None, None)


def test_a_constant_guess_is_called_that() -> None:
    data = workers()
    constant = np.tile([0.78, 0.22], (400, 1))
    beside = simple_scores(data)
    assert beside.guess == pytest.approx(float((data.y[data.val_mask] == 0).float().mean()))
    assert "no better than guessing: of held-out nodes" in said(data, constant, beside)
    constant[0] = [0.1, 0.9]  # one node is different
    assert "no better than guessing" in said(data, constant, beside)


def test_a_good_ranking_is_not_called_nothing() -> None:
    """22 % of one class, every node predicted as the other, and ROC-AUC far above chance."""
    data = workers(nodes=2000)
    rng, y = np.random.default_rng(0), data.y.numpy()
    second = 1 / (1 + np.exp(1.8 - 0.4 * (rng.standard_normal(2000) + y)))
    p = np.column_stack([1 - second, second])
    assert (p.argmax(1) == 0).all()
    val = data.val_mask.numpy()
    area = score("roc-auc", p[val], y[val])
    assert 0.7 < area < 0.8
    found = said(data, p, SimpleScores("accuracy", 0.78, 0.78, 0.78, area - 0.1, area - 0.1))
    assert f"ROC-AUC {area:.1%} ± " in found
    assert "or --metric roc-auc" in found
    untrue = "learned nothing", "no better than guessing", "adds nothing", "add nothing", "class weights"
    assert [words for words in untrue if words in found] == []
    assert TWO.with_threshold(p[val], y[val], "accuracy") == TWO
    for metric, judged in (("roc-auc", "macro-f1"), ("balanced-accuracy", "balanced-accuracy")):
        chosen = TWO.with_threshold(p[val], y[val], metric)
        assert chosen.threshold < 0.5
        best = chosen.score(judged, p[val], y[val])
        assert best > TWO.score(judged, p[val], y[val]) + 0.1
        tried = [Classes(2, each).score(judged, p[val], y[val]) for each in np.linspace(0.05, 0.95, 50)]
        assert best >= max(tried) - 0.01


def test_a_class_that_is_never_predicted_and_nodes_learned_by_heart() -> None:
    data = workers()
    data.y[data.train_mask.nonzero().squeeze(1)[:6]] = 2
    data.classes = ["few", "some", "none"]
    right = np.eye(3)[np.where(data.y.numpy() == 2, 0, data.y.numpy())]
    assert "never predicted: none" in said(data, right, NOTHING)
    data = workers()
    p = np.eye(2)[data.y.numpy()]
    val = data.val_mask.numpy()
    p[val] = p[val][:, ::-1]
    assert "accuracy is 100.0% on training nodes and 0.0% on validation nodes" in said(data, p, NOTHING)


def test_the_limit_of_epochs_and_nothing_else() -> None:
    data = workers()
    right = np.eye(2)[data.y.numpy()]
    assert said(data, right, NOTHING) == ""
    assert said(data, right, NOTHING, epochs=100).startswith("stopped at the limit of 100 epochs")
    runs = [
        {"candidate": "mlp", "round": 0, "epochs": 60, "cut": True},
        {"candidate": "gcn", "round": 0, "epochs": 70, "cut": False},
    ]
    assert said(data, right, NOTHING, epochs=130, candidate_runs=runs[1:]) == ""  # each has 100 to itself
    for winner, remark in (
        ("mlp", "the budget ended the training of mlp early; more minutes may help"),
        ("gcn", ""),
    ):
        choosing = {"winner": winner, "mode": "one", "blend": None}
        assert said(data, right, NOTHING, epochs=260, candidate_runs=runs, choosing=choosing) == remark
    runs[0]["epochs"] = 100
    found = said(data, right, NOTHING, epochs=170, candidate_runs=runs)
    assert found.startswith("stopped at the limit of 100")


def test_the_graph_or_the_features_add_nothing_and_what_they_find_alone() -> None:
    data = workers()
    right = np.eye(2)[data.y.numpy()]
    found = said(data, right, SimpleScores("accuracy", 0.5, 1.0, 0.3))
    assert "the graph adds nothing measurable to the features" in found
    assert "the features add nothing" not in found
    found = said(data, right, SimpleScores("accuracy", 0.5, 0.3, 1.0))
    assert "the features add nothing measurable to the graph" in found
    told, untold = simple_scores(workers(signal=6.0)), simple_scores(workers(signal=0.0))
    assert told.features > 0.95
    assert untold.features < 0.85
    assert simple_scores(workers(like=1.0)).graph == pytest.approx(1.0)


def test_no_label_of_a_test_node_is_looked_at() -> None:
    data, other = workers(), workers()
    other.y[other.test_mask] = 1 - other.y[other.test_mask]
    assert simple_scores(data) == simple_scores(other)
    assert graph_remarks(data) == graph_remarks(other)
    assert check_graph(data) == check_graph(other)


def test_homophily_by_hand() -> None:
    edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    assert TWO.likeness(edges, np.array([0, 0, 0])) is None  # one class
    assert TWO.likeness(edges, np.array([0, -1, 1])) is None  # no edge with two known ends
    share, adjusted = TWO.likeness(edges, np.array([0, 0, 1])) or (0.0, 0.0)
    assert share == 0.5
    assert adjusted == pytest.approx((0.5 - (9 / 16 + 1 / 16)) / (1 - 10 / 16))


def test_edges_that_join_unlike_nodes_few_nodes_of_a_class_and_copies_across_the_split() -> None:
    assert "edges join nodes of the same class hardly more often than by chance" in "\n".join(
        graph_remarks(workers(like=0.0))
    )
    assert "edges join" not in "\n".join(graph_remarks(workers(like=1.0)))
    data = workers()
    data.y[data.train_mask.nonzero().squeeze(1)[:2]] = 2
    found = "\n".join(graph_remarks(data))
    assert "classes with few training nodes: 2 (2)" in found
    assert "classes with few validation nodes: 2 (0)" in found
    data = workers()
    assert "exactly the features" not in "\n".join(graph_remarks(data))
    train, val = (data[f"{name}_mask"].nonzero().squeeze(1) for name in ("train", "val"))
    data.x[val[:20]] = data.x[train[:20]]
    said_of_copies = "\n".join(graph_remarks(data))
    assert "20 of 160 nodes outside the training part have exactly the features" in said_of_copies
    data = workers(nodes=2000)  # coarse columns coincide by chance
    data.x = torch.from_numpy(np.random.default_rng(0).integers(0, 3, (2000, 8)).astype(np.float32))
    assert "exactly the features" not in "\n".join(graph_remarks(data))
