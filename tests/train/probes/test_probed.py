"""The rule of attention `probed`: nodes choose where that pays, and only there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mcn.train.probes.choose import tempered
from mcn.train.probes.jury import Jury
from mcn.train.probes.network import BLEND, GRAPH, NODES, REFIT
from mcn.train.probes.plan import REFITS
from mcn.train.probes.trainer import ProbesTrainer
from torch_geometric.data import Data

import mcn
from mcn.data import strong_ties
from mcn.train import MCNConfig, fit, load_run, prepare, train_run
from mcn.train.recipes import work_of
from tests.train.graphs import predicted, same_tensors, small_graph, trained

QUICK: dict[str, Any] = {"attention": "probed", "hidden": 4, "heads": 2, "max_epochs": 60, "patience": 60}


def two_kinds(seed: int = 0, **changes: Any) -> Data:
    """400 nodes: triangles serve most, edges the others, and neither serves both."""
    sizes = {
        "num_nodes": 400,
        "num_classes": 3,
        "num_words": 60,
        "words_per_node": 8,
        "val": 150,
        "test": 150,
    }
    return strong_ties(seed, **{**sizes, **changes})


def ran(data: Data, **changes: Any) -> ProbesTrainer:
    trainer = trained(data, MCNConfig(**{**QUICK, "lr": 0.02, **changes}))
    assert isinstance(trainer, ProbesTrainer)
    return trainer


@pytest.fixture(scope="module")
def chose() -> ProbesTrainer:
    return ran(two_kinds())


def test_nodes_choose_where_they_differ(chose: ProbesTrainer) -> None:
    data, choosing = two_kinds(), chose.notes()["choosing"]
    assert choosing["used"]
    assert choosing["low"] > 0
    assert choosing["mode"] in (NODES, REFIT)
    own = predicted(chose)
    listens = np.asarray(own.motifs)[own.motif[:, 0]]
    closed = np.isin(listens, ("triangle", "triangle-sum"))
    assert (closed == data.strong.numpy()).mean() > 0.9
    best = max(run["held_out"] for run in chose.runs if run["candidate"] != "refit")
    test = data.test_mask.numpy()
    assert (own.labels == data.y.numpy())[test].mean() > best
    (sentence,) = chose.remarks()
    assert sentence.startswith("nodes choose: worth +")


def test_nodes_that_do_not_differ_do_not_choose() -> None:
    """All nodes of one kind: triangles are right for every node that has any, and every node has."""
    trainer = ran(two_kinds(strong_share=1.0))
    assert trainer.notes()["choosing"]["mode"] in (GRAPH, BLEND)
    own = predicted(trainer)
    assert len(np.unique(own.motif)) == 1
    assert trainer.remarks()[0].startswith(("nodes hardly differ here: ", "one blend for all ("))


def test_a_blend_is_the_weighted_mean_of_calibrated_candidates() -> None:
    trainer = ran(two_kinds(strong_share=0.0, own_words=0.4), max_epochs=25)
    choosing, model = trainer.notes()["choosing"], trainer.model
    assert choosing["mode"] == BLEND
    assert sum(choosing["blend"].values()) == pytest.approx(1.0)
    inputs, expected = trainer.problem.inputs, np.zeros(())
    for number, (probe, (net,)) in enumerate(zip(model.probes, model.networks, strict=True)):
        raw = work_of(probe.config).predict(net, inputs.of(probe)).probabilities.astype(np.float64)
        powered = raw ** (1 / float(model.temperatures[number]))
        share = choosing["blend"].get(probe.name, 0.0)
        expected = expected + share * powered / powered.sum(1, keepdims=True)
    np.testing.assert_allclose(predicted(trainer).probabilities, expected, rtol=1e-4, atol=1e-6)


def test_the_candidates_are_the_special_cases(chose: ProbesTrainer) -> None:
    """A candidate's weights are those of the network that is trained alone on its neighbourhood."""
    data = two_kinds()
    for name in ("mlp", "gcn", "gat", "triangle"):
        own = next(probe.config for probe in chose.model.probes if probe.name == name)
        alone = trained(data, own)
        number = [probe.name for probe in chose.model.probes].index(name)
        assert same_tensors(
            dict(alone.model.state_dict()), dict(chose.model.networks[number][0].state_dict())
        )


def test_test_labels_change_nothing(chose: ProbesTrainer) -> None:
    other = two_kinds()
    test = other.test_mask.nonzero().squeeze(1)
    other.y[test] = other.y[test].flip(0)
    np.testing.assert_array_equal(predicted(chose).probabilities, predicted(ran(other)).probabilities)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs a settable affinity (Linux)")
def test_threads_decide_nothing() -> None:
    cores, threads = os.sched_getaffinity(0), torch.get_num_threads()
    try:
        os.sched_setaffinity(0, {min(cores)})
        torch.set_num_threads(1)
        one = predicted(ran(two_kinds(), max_epochs=15)).probabilities
        os.sched_setaffinity(0, cores)
        torch.set_num_threads(max(2, threads))
        two = predicted(ran(two_kinds(), max_epochs=15)).probabilities
    finally:
        os.sched_setaffinity(0, cores)
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(one, two)


def test_resumed_while_the_chosen_rows_are_trained(chose: ProbesTrainer) -> None:
    data, config = two_kinds(), chose.config
    first = work_of(config).trainer(prepare(data, config), config)
    while not (first.runs and first.runs[-1]["candidate"] == "triangle"):
        first.run_epoch()
    for _ in range(3):
        first.run_epoch()
    assert first.state()["now"][0] == "refit"
    second = work_of(config).trainer(prepare(data, config), config)
    second.load({k: v.clone() for k, v in first.tensors().items()}, first.state())
    fit(second)
    assert same_tensors(dict(second.model.state_dict()), dict(chose.model.state_dict()))


def test_resumed_between_two_candidates(chose: ProbesTrainer) -> None:
    """A checkpoint may be made when one has ended and the next has not had an epoch yet."""
    data, config = two_kinds(), chose.config
    problem = prepare(data, config)
    first = work_of(config).trainer(problem, config)
    while not first.runs:
        first.run_epoch()
    assert first.state()["current"]["epoch"] == 0
    second = work_of(config).trainer(prepare(data, config), config)
    second.load({k: v.clone() for k, v in first.tensors().items()}, first.state())
    fit(second)
    assert same_tensors(dict(second.model.state_dict()), dict(chose.model.state_dict()))


@pytest.mark.parametrize(("mode", "trained"), [(NODES, 1), (REFIT, 3)])
def test_single_layers_are_tried_where_a_refit_pays(
    mode: str, trained: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Jury, "mode", lambda self, verdict, held: mode)
    names = [run["candidate"] for run in ran(two_kinds(), max_epochs=20, lr=0.02).runs]
    assert names[-trained:] == list(REFITS)[:trained]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("mode", [GRAPH, NODES, REFIT])
def test_a_run_on_disk_in_every_mode(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = two_kinds()
    monkeypatch.setattr(Jury, "mode", lambda self, verdict, held: mode)
    config = MCNConfig(**{**QUICK, "max_epochs": 20, "lr": 0.02})
    run = train_run(tmp_path / "run", data, config, {"dataset": None})
    again = load_run(tmp_path / "run")
    assert again.summary["choosing"]["mode"] == mode
    own = again.predict(data)
    np.testing.assert_array_equal(own.probabilities, run.predict(data).probabilities)
    np.testing.assert_allclose(own.probabilities.sum(1), 1.0, atol=1e-5)
    explained = again.explain(data)
    np.testing.assert_array_equal(explained.predictions.probabilities, own.probabilities)
    options = list(explained.options)
    assert [option.motif for option in options] == list(own.motifs)
    chosen = own.motif[:, -1]
    if mode != REFIT:  # a node's prediction is that of the candidate it chose
        each = np.stack([option.alternative for option in options])
        np.testing.assert_allclose(each[chosen, np.arange(400)], own.probabilities, atol=1e-6)
    other = two_kinds(1)
    assert again.predict(other).probabilities.shape == (400, 3)  # a graph that it has not seen


def test_choices_may_differ_by_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first layer every node takes the rows it chose, in the last all take those of one candidate."""
    data = two_kinds()
    monkeypatch.setattr(Jury, "mode", lambda self, verdict, held: REFIT)
    monkeypatch.setattr(Jury, "best_refit", lambda self, held: "refit-first")
    config = MCNConfig(**{**QUICK, "max_epochs": 20, "lr": 0.02})
    run = train_run(tmp_path / "run", data, config, {"dataset": None})
    assert "on the rows they chose in the first layer predicts" in " ".join(run.summary["remarks"])
    own, again = run.predict(data), load_run(tmp_path / "run").predict(data)
    np.testing.assert_array_equal(own.probabilities, again.probabilities)
    first, last = own.motif.T
    assert len(np.unique(first)) > 1
    assert len(np.unique(last)) == 1
    model = run.model
    numbers = first * own.steps + own.step[:, 0] - 1
    option = model.decision.refit.option
    whole = work_of(config).inputs(data, config).whole  # the same network, told what to listen to
    logits = model.networks[-1][0](whole.x, whole.stack, choice=[numbers, option])
    expected = tempered(logits.detach().numpy().astype(np.float64), float(model.temperatures[-1]))
    np.testing.assert_allclose(own.probabilities, expected, atol=1e-5)
    explained = run.explain(data)
    assert explained.motif_probs[0] is not None
    assert explained.motif_probs[1] is None
    assert len(list(explained.options)) == 3


def held(right: list[bool]) -> torch.Tensor:
    """Class scores of nodes of class 0 that are right or wrong."""
    return torch.tensor([[1.0, 0.0] if each else [0.0, 1.0] for each in right])


@pytest.mark.parametrize(
    ("lost", "kept"), [(4, "refit"), (0, "refit-last")], ids=["by chance", "clearly better"]
)
def test_one_layers_choices_are_kept_only_if_they_are_clearly_better(lost: int, kept: str) -> None:
    """Ten nodes are gained and some lost: 6 ± 3.7 points of 100, or 10 ± 3."""
    jury = Jury(np.zeros(100, np.int64), "accuracy", seed=0)
    some = [number < 50 for number in range(100)]
    more = [lost <= number < 60 for number in range(100)]
    found = {"refit": held(some), "refit-first": held(some), "refit-last": held(more)}
    assert jury.best_refit(found) == kept
    assert jury.best_refit({"mlp": held(more)}) is None


def test_a_metric_that_is_no_mean_over_nodes_is_chosen_for_the_graph() -> None:
    trainer = ran(small_graph(), metric="roc-auc", max_epochs=5)
    assert "choosing" not in trainer.notes()
    assert trainer.remarks() == []


def test_balanced_accuracy_may_choose() -> None:
    assert "choosing" in ran(two_kinds(), metric="balanced-accuracy", max_epochs=5).notes()


def test_steps_and_motifs_are_candidates() -> None:
    config = MCNConfig(attention="probed", motifs=("edge", "4-cycle"), steps=2)
    plan = config.plan()
    assert plan.motifs == ("self", "edge", "4-cycle")
    assert [(probe.name, probe.option) for probe in plan.probes] == [
        ("mlp", 0),
        ("counts", 0),
        ("gcn", 2),
        ("sage", 2),
        ("gat", 2),
        ("gat@2", 3),
        ("4-cycle-sum", 4),
        ("4-cycle", 4),
        ("4-cycle@2-sum", 5),
        ("4-cycle@2", 5),
    ]
    trainer = ran(small_graph(), motifs=("edge", "4-cycle"), steps=2, max_epochs=3)
    assert predicted(trainer).probabilities.shape == (90, 3)
    inputs = trainer.problem.inputs
    for probe in plan.probes:  # each has the rows of its own motif and step
        t, k = divmod(probe.option or 0, 2)
        expected = inputs.stack.matrix(plan.motifs[t], k + 1)
        own = inputs.of(probe).stack
        np.testing.assert_allclose(own.matrix(own.motifs[0]).toarray(), expected.toarray(), rtol=1e-6)


def test_a_given_consistency_reaches_the_candidates_with_attention() -> None:
    plan = MCNConfig(consistency=0.5).plan()
    assert plan.probe("gat").config.consistency == plan.probe("triangle").config.consistency == 0.5
    assert plan.probe("gcn").config.consistency == 0.0


def test_the_estimator() -> None:
    data = two_kinds()
    clf = mcn.MCNClassifier(**QUICK, lr=0.02, random_state=0).fit(data)
    assert clf.score(data) > 0.5
    assert clf.motif_choice_.shape == (400, 2)
    assert clf.stack_.motifs == ("self", "edge", "triangle")


def test_candidates_in_mini_batches() -> None:
    trainer = ran(two_kinds(), batch_size=30, neighbours=(5, 5), max_epochs=20)
    names = [run["candidate"] for run in trainer.runs]
    assert "sage" not in names
    assert {"mlp", "gcn", "gat", "triangle"} <= set(names)
    assert trainer.notes()["choosing"]["used"]
    data = two_kinds()
    test = data.test_mask.numpy()
    assert (predicted(trainer).labels == data.y.numpy())[test].mean() > 0.6


def test_a_graph_on_disk_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="attention probed needs the graph in memory; for one on disk choose"
    ):
        work_of(MCNConfig()).inputs(object(), MCNConfig())  # type: ignore[arg-type]
