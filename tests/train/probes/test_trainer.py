"""Candidates in turn: the best on held-out nodes, within the budget, blind to test labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mcn.train.auto.config import AutoConfig
from mcn.train.probes.jury import Heard, Jury
from mcn.train.probes.rounds import DEALS
from mcn.train.probes.trainer import ProbesTrainer
from torch_geometric.data import Data

from mcn.data import strong_ties
from mcn.train import fit, load_run, prepare, train_run
from mcn.train.recipes import work_of
from tests.train.graphs import predicted, same_tensors, small_graph, trained
from tests.train.test_remarks import workers

QUICK: dict[str, Any] = {"max_epochs": 8, "repeats": 2, "candidates": ("mlp", "gcn", "triangle")}


def ran(data: Data, **changes: Any) -> ProbesTrainer:
    config = AutoConfig(**{**QUICK, **changes})
    trainer = work_of(config).trainer(prepare(data, config), config)
    assert isinstance(trainer, ProbesTrainer)
    fit(trainer)
    return trainer


def as_given(data: Data) -> Data:
    """The same graph with a split that somebody decided on, whose parts must not be mixed."""
    data.split_at_random = False
    return data


def neighbours_say_all() -> Data:
    """A graph whose words say little of a node's class."""
    sizes = {"num_nodes": 400, "num_classes": 3, "val": 150, "test": 150}
    return strong_ties(0, own_words=0.3, strong_share=0.0, open_inside=0.95, **sizes)


def test_every_candidate_has_its_runs_and_the_best_mean_wins() -> None:
    trainer = ran(as_given(small_graph()), metric="log-loss")  # by which nobody is clearly behind
    assert [run["candidate"] for run in trainer.runs] == ["mlp", "gcn", "triangle"] * 2
    means = {
        name: np.mean([run["held_out"] for run in trainer.runs if run["candidate"] == name])
        for name in QUICK["candidates"]
    }
    table = trainer.table()
    assert table[0]["score"] == pytest.approx(max(means.values()))
    assert {row["candidate"]: row["score"] for row in table} == pytest.approx(means)
    for row in table[1:]:
        assert row["behind"] == pytest.approx(table[0]["score"] - row["score"])
        assert row["behind_error"] >= 0


def test_a_candidate_is_the_network_it_would_be_alone() -> None:
    data = small_graph()
    trainer = ran(data, candidates=("gcn",), repeats=1)
    config = trainer.plan.probe("gcn").config.replace(seed=0)
    alone = work_of(config).trainer(prepare(data, config), config)
    result = fit(alone)
    assert trainer.runs[0]["score"] == result.val_accuracy
    assert same_tensors(dict(trainer.model.networks[0][0].state_dict()), dict(alone.model.state_dict()))


def test_parts_that_are_dealt_out_anew_count_towards_the_winner() -> None:
    trainer = ran(small_graph(), metric="log-loss", candidates=("gcn", "triangle"))
    assert [run["candidate"] for run in trainer.runs] == ["gcn", "triangle"] * (2 + DEALS)
    for row in trainer.table():
        own = [run["held_out"] for run in trainer.runs if run["candidate"] == row["candidate"]]
        assert row["runs"] == 2 + DEALS
        assert row["score"] == pytest.approx(np.mean([(own[0] + own[-1]) / 2, *own[1:-1]]))
    assert trainer.table()[1]["behind_error"] > 0


def test_a_blend_is_found_on_all_parts_and_judged_on_the_given_one(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Heard] = []

    def decide(self: Jury, *args: Any) -> Any:
        heard.append(args[-1])
        return real(self, *args)

    real = Jury.decide
    monkeypatch.setattr(Jury, "decide", decide)
    data = neighbours_say_all()
    trainer = trained(
        data, AutoConfig(candidates=("mlp", "gcn", "gat"), repeats=2, max_epochs=100, patience=20)
    )
    (found,) = heard
    val = trainer.problem.val
    assert set(found.logits) == {"gcn", "gat"}  # mlp is clearly behind, and has no further runs
    assert np.array_equal(found.nodes[: len(val)], val)
    assert len(found.nodes) == (1 + DEALS) * len(val)
    assert np.array_equal(found.labels, data.y.numpy()[found.nodes])
    assert not data.test_mask[torch.from_numpy(found.nodes)].any()
    assert {each.shape for each in found.logits.values()} == {(len(found.nodes), 3)}
    rest = found.nodes[len(val) :].reshape(DEALS, -1)
    for number in range(DEALS):
        assert np.array_equal(rest[number], trainer.problem.known.dealt_anew(number + 1).val)


@pytest.mark.parametrize("dealt", [False, True])
def test_the_runs_of_a_candidate_predict_together(dealt: bool) -> None:
    """By the mean of their probabilities, then calibrated on what they say together of held-out nodes."""
    data = small_graph() if dealt else as_given(small_graph())
    trainer = ran(data, candidates=("gcn",), repeats=3)
    given = [0, DEALS + 1, DEALS + 2] if dealt else [0, 1, 2]  # those between are on other parts
    assert [run["seed"] for run in trainer.runs] == list(range(given[-1] + 1))
    each = []
    for seed in given:
        alone = trained(data, trainer.plan.probe("gcn").config.replace(seed=seed))
        each.append(predicted(alone).probabilities.astype(np.float64))
    powered = np.mean(each, axis=0) ** (1 / float(trainer.model.temperatures[0]))
    expected = powered / powered.sum(1, keepdims=True)
    np.testing.assert_allclose(predicted(trainer).probabilities, expected, rtol=1e-4, atol=1e-6)


def test_one_that_is_clearly_behind_has_no_further_runs() -> None:
    data = as_given(neighbours_say_all())
    trainer = trained(data, AutoConfig(candidates=("mlp", "gcn"), repeats=3, patience=5, max_epochs=60))
    assert [run["candidate"] for run in trainer.runs] == ["mlp", "gcn", "gcn", "gcn"]
    first, second = trainer.table()
    assert (first["candidate"], first["runs"], second["runs"]) == ("gcn", 3, 1)
    own = [run["held_out"] for run in trainer.runs]
    assert first["score"] == pytest.approx(np.mean(own[1:]))
    assert second["behind"] == pytest.approx(np.mean(own[1:]) - own[0])
    assert second["behind_error"] is None  # they share one seed


def test_test_labels_change_nothing() -> None:
    data, other = small_graph(), small_graph()
    test = other.test_mask.nonzero().squeeze(1)
    other.y[test] = other.y[test].flip(0)
    assert not torch.equal(data.y, other.y)
    first, second = ran(data), ran(other)
    np.testing.assert_array_equal(predicted(first).probabilities, predicted(second).probabilities)
    same = [{k: v for k, v in run.items() if k != "seconds"} for run in first.runs]
    assert same == [{k: v for k, v in run.items() if k != "seconds"} for run in second.runs]


def test_settings_go_to_the_candidates_that_have_them() -> None:
    config = AutoConfig(lr=0.3, motifs=("edge", "4-cycle"), metric="roc-auc", class_weight="balanced")
    plan = config.plan()
    assert plan.motifs == ("self", "edge", "4-cycle", "triangle")  # the last for the candidates of its name
    options = {}
    for probe in plan.probes:
        own = probe.config
        assert (own.metric, own.class_weight) == ("roc-auc", "balanced")
        options[probe.name] = probe.option
    assert {probe.config.lr for probe in plan.probes} == {0.3}
    assert options == {
        **{"mlp": 0, "counts": 0, "gcn": 1, "sage": 1, "gat": 1},
        **{"triangle-sum": 3, "triangle": 3, "views": None},
    }


def test_the_budget_ends_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    config = AutoConfig(minutes=1e-6, candidates=("mlp", "gcn"), repeats=2)
    trainer = work_of(config).trainer(prepare(small_graph(), config), config)
    fit(trainer)
    assert [(run["candidate"], run["epochs"], run["cut"]) for run in trainer.runs] == [("mlp", 1, True)]
    assert trainer.notes()["candidates"][0]["candidate"] == "mlp"


def test_a_candidate_that_is_clearly_behind_ends_when_its_score_no_longer_rises() -> None:
    """The features alone are far behind, while their loss may fall for long."""
    data = neighbours_say_all()
    config = AutoConfig(candidates=("gcn", "mlp"), repeats=1, patience=5, max_epochs=400)
    trainer = trained(data, config)
    first, second = trainer.runs
    assert (first["candidate"], first["outrun"]) == ("gcn", False)
    assert (second["candidate"], second["outrun"], second["cut"]) == ("mlp", True, False)
    other = trained(data, config.replace(candidates=("mlp", "gcn")))
    assert not any(run["outrun"] for run in other.runs)
    assert other.runs[0]["epochs"] > second["epochs"]


def test_no_candidate_keeps_the_others_from_being_tried() -> None:
    endless = {"patience": 10**6, "max_epochs": 10**6}
    config = AutoConfig(minutes=0.05, candidates=("gcn", "mlp", "gat"), repeats=1, **endless)
    trainer = work_of(config).trainer(prepare(small_graph(), config), config)
    fit(trainer)
    assert [run["candidate"] for run in trainer.runs] == ["gcn", "mlp", "gat"]
    assert all(run["cut"] for run in trainer.runs)


def test_a_run_on_disk(tmp_path: Path) -> None:
    data = small_graph()
    run = train_run(tmp_path / "run", data, AutoConfig(**QUICK), {"dataset": None})
    assert run.summary["candidates"][0]["candidate"] in QUICK["candidates"]
    ran_ = [each["candidate"] for each in run.summary["candidate_runs"]]
    assert {row["candidate"]: row["runs"] for row in run.summary["candidates"]} == {
        name: ran_.count(name) for name in QUICK["candidates"]
    }
    assert max(ran_.count(name) for name in QUICK["candidates"]) == 2 + DEALS
    again = load_run(tmp_path / "run")
    np.testing.assert_array_equal(again.predict(data).probabilities, run.predict(data).probabilities)
    assert again.is_about(data)
    explained = again.explain(data)
    np.testing.assert_array_equal(explained.predictions.probabilities, run.predict(data).probabilities)
    assert list(explained.options)


@pytest.mark.parametrize("epochs", [3, 11, 20])
def test_resumed_equals_undisturbed(epochs: int) -> None:
    data, config = small_graph(), AutoConfig(**QUICK)
    whole = ran(data)
    first = work_of(config).trainer(prepare(data, config), config)
    for _ in range(epochs):
        first.run_epoch()
    tensors = {name: value.clone() for name, value in first.tensors().items()}
    second = work_of(config).trainer(prepare(data, config), config)
    second.load(tensors, first.state())
    fit(second)
    assert isinstance(second, ProbesTrainer)
    np.testing.assert_array_equal(predicted(second).probabilities, predicted(whole).probabilities)
    assert [run["score"] for run in second.runs] == [run["score"] for run in whole.runs]


def test_a_skewed_graph_gets_a_model_that_is_better_than_guessing(tmp_path: Path) -> None:
    """22 % of one class, numeric features of very different sizes: what once ended in one class for all."""
    data = workers(nodes=300, signal=3.0, like=0.9)
    run = train_run(tmp_path / "run", data, AutoConfig(max_epochs=60, repeats=1, normalize=False), {})
    test = run.summary["scores"]["test"]
    warned = any("every node" in remark or "guessing" in remark for remark in run.summary["remarks"])
    assert test["balanced-accuracy"] > 0.6 or warned
    assert run.summary["alone"]["guess"] == pytest.approx(float((data.y[data.val_mask] == 0).float().mean()))


def test_wrong_candidates() -> None:
    with pytest.raises(ValueError, match=r"candidates must be some of counts, gat, .*got 'lp'"):
        AutoConfig(candidates=("lp",))
    with pytest.raises(ValueError, match=r"candidates must differ"):
        AutoConfig(candidates=("gcn", "gcn"))
