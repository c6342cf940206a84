"""Model selection: candidates in turn within a budget, what predicts, and runs of it on disk."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

import mcn
from mcn.data import strong_ties
from mcn.train import RECIPES, Run, fit, load_run, prepare, train
from mcn.train.checkpoint import load_tensors, save_tensors
from mcn.train.folder import extend_summary
from mcn.train.held_out import FOLDS
from mcn.train.predictions import predictions_csv, read_predictions
from mcn.train.select.candidates import candidates_of
from mcn.train.select.config import CANDIDATES
from mcn.train.select.judge import BLEND, ONE
from mcn.train.select.schedule import KEPT
from mcn.train.tasks.task import GUESSING
from tests.conftest import refuses
from tests.experiments.engine.units import timeless
from tests.train.graphs import (
    drawn_masks,
    on_cores,
    predicted,
    same_tensors,
    same_weights,
    settings,
    small_graph,
    train_until_killed,
    trained,
    with_other_test_labels,
)
from tests.train.test_remarks import workers

THREE = ("mlp", "gcn", "triangle")
QUICK: dict[str, Any] = {"max_epochs": 8, "repeats": 2, "propagate": False, "candidates": THREE}
FEW: dict[str, Any] = {"max_epochs": 30, "propagate": False, "repeats": 1, "lr": 0.02, "hidden": 4}
MODES: dict[str, Any] = {
    ONE: settings("auto", **FEW, candidates=("mcn",)),
    BLEND: settings("auto", **FEW, candidates=("gcn", "triangle")),
}


def ran(data: Data, **changes: Any) -> Any:
    return trained(data, settings("auto", **{**QUICK, **changes}))


def config_of(name: str, **changes: Any) -> Any:
    """The settings of a candidate."""
    by_name = {each.name: each.config for each in candidates_of(settings("auto", **changes), 500)}
    return by_name[name]


def as_given(data: Data) -> Data:
    """The same graph with a split that somebody decided on, whose parts must not be mixed."""
    data.split_at_random = False
    return data


def with_folds() -> Data:
    """A graph with more training than validation nodes, drawn by chance: all labelled nodes may teach."""
    return small_graph(train_per_class=12, val=20, test=30)


PARTS: dict[str, Any] = {"given": small_graph, "folds": with_folds}
"""Graphs whose further runs are on the given parts, and on folds of all labelled nodes."""


def two_kinds(seed: int = 1) -> Data:
    """600 nodes: triangles serve most, edges the others, and neither serves both."""
    sizes = {"num_nodes": 600, "num_classes": 3, "num_words": 60, "words_per_node": 8}
    return strong_ties(seed, **sizes, val=300, test=200)


def neighbours_say_all() -> Data:
    """A graph whose words say little of a node's class."""
    sizes = {"num_nodes": 400, "num_classes": 3, "val": 150, "test": 150}
    return strong_ties(0, own_words=0.3, strong_share=0.0, open_inside=0.95, **sizes)


# The candidates.


def test_settings_go_to_the_candidates_that_have_them() -> None:
    given = {"lr": 0.3, "motifs": ("edge", "4-cycle"), "metric": "roc-auc", "class_weight": "balanced"}
    configs = {each.name: each.config for each in candidates_of(settings("auto", **given), 500)}
    assert tuple(configs) == CANDIDATES
    for config in configs.values():
        assert (config.metric, config.class_weight) == ("roc-auc", "balanced")
        assert (config.lr == 0.3) != (config.recipe == "trees")  # whose shrinkage is no learning rate
    motifs = {name: config.motifs for name, config in configs.items()}
    assert motifs["mlp"] == motifs["counts"] == ("self",)
    assert motifs["gcn"] == motifs["sage"] == motifs["gat"] == ("edge",)
    assert motifs["triangle-sum"] == motifs["triangle"] == ("triangle",)
    assert motifs["mcn"] == motifs["mcn-3"] == motifs["views"] == ("edge", "4-cycle")
    deep = {name: configs[name].num_layers for name in ("sage-3", "sage-8", "mcn-3")}
    assert deep == {"sage-3": 3, "sage-8": 8, "mcn-3": 3}
    assert [n for n, config in configs.items() if config.recipe == "views"] == ["views", "linear-views"]
    assert configs["mcn"].attention == "gated"
    assert configs["counts"].features == "motifs"


def test_consistency_motif_counts_and_batches() -> None:
    """Attention heeds a given consistency, sums do not; with motif counts alone, `counts` would be `mlp`."""
    assert config_of("gat", consistency=0.5).consistency == 0.5
    assert config_of("triangle", consistency=0.5).consistency == 0.5
    assert config_of("gcn", consistency=0.5).consistency == 0.0
    names = [each.name for each in candidates_of(settings("auto", features="motifs"), 500)]
    assert "counts" not in names
    assert config_of("mlp", features="motifs").features == "motifs"
    assert config_of("gcn", features="both").features == "both"
    batches, without = settings("auto", batch_size=30), ["sage", "sage-3", "sage-8", "mcn-3"]
    assert [name for name in CANDIDATES if name not in batches.candidates] == without
    assert all(each.config.to_dict().get("batch_size", 30) == 30 for each in candidates_of(batches, 500))


def test_a_candidate_is_the_network_it_would_be_alone() -> None:
    data, names = small_graph(), ("mlp", "counts", "gcn", "sage", "gat", "triangle", "mcn", "views")
    run = train(data, settings("auto", candidates=names, repeats=1, max_epochs=5))
    for number, name in enumerate(names):
        alone = trained(data, config_of(name, max_epochs=5))
        network = run.model.runs_of(number)[0]
        assert same_tensors(dict(network.state_dict()), dict(alone.model.state_dict())), name
    assert isinstance(run.model.runs_of(names.index("mcn"))[0], mcn.MCN)


# Runs in turn.


def test_every_candidate_has_its_runs_and_the_best_mean_wins() -> None:
    trainer = ran(as_given(small_graph()), metric="log-loss")  # by which nobody is clearly behind
    assert [run["candidate"] for run in trainer.runs] == [*THREE] * 2
    own = {name: [run["held_out"] for run in trainer.runs if run["candidate"] == name] for name in THREE}
    means = {name: np.mean(scores) for name, scores in own.items()}
    table = trainer.table()
    assert table[0]["score"] == pytest.approx(max(means.values()))
    assert {row["candidate"]: row["score"] for row in table} == pytest.approx(means)
    for row in table[1:]:
        assert row["behind"] == pytest.approx(table[0]["score"] - row["score"])
        assert row["behind_error"] >= 0


def masked(data: Data, known: Any) -> Data:
    """The same graph with the parts of a run."""
    other = data.clone()
    for name, nodes in (("train_mask", known.train), ("val_mask", known.val)):
        other[name] = torch.zeros(data.num_nodes, dtype=torch.bool)
        other[name][torch.from_numpy(nodes)] = True
    return other


@pytest.mark.parametrize("parts", PARTS)
def test_the_runs_of_a_candidate_predict_together(parts: str) -> None:
    """By the mean of their probabilities, then calibrated on what they say together of held-out nodes."""
    data = PARTS[parts]()
    trainer = ran(data, candidates=("gcn",), repeats=3)
    kept = {"given": [0, 1, 2], "folds": [*range(2 * FOLDS + 1)]}[parts]
    assert [run["seed"] for run in trainer.runs] == list(range(kept[-1] + 1))
    known, gcn = trainer.problem.known, config_of("gcn", max_epochs=8)
    own = {
        seed: known.fold((seed - 1) // FOLDS, (seed - 1) % FOLDS) if parts == "folds" and seed else known
        for seed in kept
    }
    alone = [trained(masked(data, own[seed]), gcn.replace(seed=seed)) for seed in kept]
    each = [predicted(one).probabilities for one in alone]
    assert trainer.learned_from_validation == (parts == "folds")
    assert any("also learned from validation nodes" in said for said in trainer.remarks()) == (
        parts == "folds"
    )
    powered = np.mean(each, axis=0, dtype=np.float64) ** (1 / float(trainer.model.temperatures[0]))
    expected = powered / powered.sum(1, keepdims=True)
    np.testing.assert_allclose(predicted(trainer).probabilities, expected, rtol=1e-4, atol=1e-6)


def test_one_that_is_clearly_behind_has_no_further_runs_and_does_not_go_on() -> None:
    """The features alone are far behind, while their loss may fall for long."""
    data, few = as_given(neighbours_say_all()), {"patience": 5, "max_epochs": 60}
    trainer = ran(data, candidates=("mlp", "gcn"), repeats=3, **few)
    assert [run["candidate"] for run in trainer.runs] == ["mlp", "gcn", "gcn", "gcn"]
    first, second = trainer.table()
    assert (first["candidate"], first["runs"], second["runs"]) == ("gcn", 3, 1)
    own = [run["held_out"] for run in trainer.runs]
    assert first["score"] == pytest.approx(np.mean(own[1:]))
    assert second["behind"] == pytest.approx(np.mean(own[1:]) - own[0])
    assert second["behind_error"] is None  # they share one seed


# The budget, and the schedule that it leaves.

ENDLESS: dict[str, Any] = {"patience": 10**6, "max_epochs": 10**6}


def test_only_the_first_runs_predict() -> None:
    trainer = ran(small_graph(), candidates=("mlp",), repeats=KEPT + 3, max_epochs=2)
    assert len(trainer.runs) == KEPT + 3
    assert len(trainer.model.runs_of(0)) == KEPT


def test_the_budget_ends_runs_and_no_candidate_keeps_the_others_from_being_tried() -> None:
    """By real clocks: how long anything takes is not asserted, only who was tried and what ended it."""
    names, data = ("gcn", "mlp", "gat", "sage"), as_given(small_graph())
    notes = ran(data, minutes=0.02, candidates=names, repeats=1, **ENDLESS).notes()
    assert {run["candidate"] for run in notes["candidate_runs"]} == set(names)
    assert all(run["cut"] for run in notes["candidate_runs"])
    first, *later = notes["schedule"]["stages"]
    assert [name for name, _, _ in first] == list(names)
    assert all(1 <= len(stage) <= 2 for stage in later)  # the better half of them goes on, if there is time
    unlimited = ran(data, minutes=0.05, candidates=names, max_epochs=3, repeats=None).notes()
    assert unlimited["schedule"]["ended_by"] in ("budget", "clock")  # and not because there were no more runs
    assert len(unlimited["candidate_runs"]) > 4 * len(names)
    asked = ran(data, candidates=names, max_epochs=3, repeats=2).notes()
    assert asked["schedule"]["ended_by"] == "runs"


def test_the_clock_ends_a_run_in_order() -> None:
    trainer = ran(small_graph(), minutes=1e-6, candidates=("mlp", "gcn"))  # over before anything begins
    assert [(run["candidate"], run["cut"]) for run in trainer.runs] == [("mlp", True)]
    assert trainer.runs[0]["epochs"] <= 2
    schedule = trainer.notes()["schedule"]
    assert (schedule["left_out"], schedule["ended_by"]) == (["gcn"], "clock")
    first, second = trainer.remarks()[-2:]
    assert first.startswith("the clock ended training after 1.5 times the 1e-06 minutes asked for")
    assert second == "not tried, as too little of the 1e-06 minutes asked for was left: gcn"


@pytest.mark.parametrize("parts", PARTS)
def test_a_recorded_schedule_gives_the_same_bits_on_any_number_of_cores(parts: str, tmp_path: Path) -> None:
    data, folder = PARTS[parts](), tmp_path / "run"
    config = settings("auto", candidates=("gcn", "mlp", "sage", "trees"), minutes=0.06, max_epochs=60)
    with on_cores(2):
        run = train(data, config, folder)
    stages = run.summary["schedule"]["stages"]
    assert len(stages) > 1
    for cores in (1, 2):
        again = tmp_path / f"on-{cores}"
        with on_cores(cores):
            train(data, config.replace(schedule=str(folder), minutes=5.0), again)
        assert (again / "predictions.csv").read_bytes() == (folder / "predictions.csv").read_bytes()
        other = load_run(again)
        assert same_tensors(dict(run.model.state_dict()), dict(other.model.state_dict()))
        assert other.summary["schedule"]["stages"] == stages
    unknown = config.replace(schedule=str(folder), candidates=("gcn", "gat"))
    refuses("candidate must be one of gcn, gat, got", trained, data, unknown)
    refuses("no finished run of auto is there", trained, data, config.replace(schedule=str(tmp_path)))


def test_a_killed_run_ends_as_its_recorded_schedule_says(tmp_path: Path) -> None:
    data = as_given(small_graph())
    config = settings("auto", candidates=("gcn", "mlp", "sage"), minutes=0.05, max_epochs=60)
    train_until_killed(data, config, tmp_path / "killed", 20)
    resumed = train(data, config, tmp_path / "killed", resume=True)
    whole = train(data, config.replace(schedule=str(tmp_path / "killed")), tmp_path / "whole")
    assert same_tensors(dict(resumed.model.state_dict()), dict(whole.model.state_dict()))
    first, second = ((tmp_path / name / "predictions.csv").read_bytes() for name in ("killed", "whole"))
    assert first == second


def test_candidates_in_mini_batches() -> None:
    data = two_kinds()
    run = train(data, MODES[BLEND].replace(batch_size=30, neighbours=(5, 5), max_epochs=15))
    assert [each["candidate"] for each in run.notes["candidate_runs"]] == ["gcn", "triangle"]
    test = data.test_mask.numpy()
    assert (run.predict(data).labels == data.y.numpy())[test].mean() > 0.5


# What decides nothing.


@pytest.mark.parametrize("graph", [two_kinds, with_folds])  # on the given parts, and with folds
def test_test_labels_and_threads_change_nothing(graph: Any) -> None:
    config, found = MODES[BLEND].replace(max_epochs=12, repeats=2), []
    for count, data in ((1, graph()), (2, with_other_test_labels(graph()))):
        with on_cores(count):
            found.append(trained(data, config))
    first, second = found
    np.testing.assert_array_equal(predicted(first).probabilities, predicted(second).probabilities)
    assert timeless(first.runs) == timeless(second.runs)
    assert first.notes()["choosing"] == second.notes()["choosing"]


def test_validation_nodes_are_judged_by_runs_that_did_not_train_on_them(tmp_path: Path) -> None:
    data = with_folds()
    trainer = ran(data, candidates=("gcn",), repeats=2)
    problem, (held, _) = trainer.problem, trainer.held_out_probabilities()
    said: dict[int, list[Any]] = {node: [] for node in problem.val.tolist()}
    for number, logits in trainer._logits["gcn"].items():
        parts = problem.known.fold(0, number - 1) if number else problem.known
        for node, own in zip(parts.val.tolist(), torch.softmax(logits, 1).numpy(), strict=True):
            if node in said:
                said[node].append(own)
    assert {len(own) for own in said.values()} == {2}  # by the run on the given parts, and by one fold's
    expected = np.array([np.mean(own, axis=0) for own in said.values()])
    np.testing.assert_allclose(held, expected, rtol=1e-5)
    found = trainer._held_out_scores("gcn")
    assert sorted(found.nodes.tolist()) == sorted([*problem.train, *problem.val])  # each of them once
    run = train(data, settings("auto", **{**QUICK, "candidates": ("gcn",)}), tmp_path / "run")
    right = (expected.argmax(1) == problem.val_labels.numpy()).mean()
    assert run.summary["scores"]["val"]["accuracy"] == run.summary["val_accuracy"] == pytest.approx(right)


@pytest.mark.parametrize("parts", PARTS)
def test_resumed_after_any_epoch_equals_undisturbed(parts: str, tmp_path: Path) -> None:
    """Also when the next candidate has not begun, after a halving, and with epochs that were not yet told."""
    folds = parts != "given"
    most = 2 if folds else 40
    config = settings("auto", candidates=("mlp", "trees", "sage-3", "mcn"), repeats=2, max_epochs=most)
    if not folds:  # with halvings, which a clock decides, and the record of them repeats
        stages = [[["mlp", 0, 9], ["trees", 0, 3], ["sage-3", 0, 5], ["mcn", 0, 5]]]
        stages += [[["mlp", 0, 12], ["sage-3", 0, 8]], [["sage-3", 0, 9]], [["trees", 1, 2], ["mcn", 1, 4]]]
        plain = {"schedule": {"stages": stages, "left_out": [], "ended_by": "budget"}}
        made = train(PARTS[parts](), settings("trees", max_epochs=1), tmp_path)
        extend_summary(tmp_path, made.summary, plain)
        config = config.replace(schedule=str(tmp_path))
    problem = prepare(PARTS[parts](), config)
    work = RECIPES["auto"].work
    with on_cores(1):
        whole = work.trainer(problem, config)
        fit(whole)
    first, untold = work.trainer(problem, config), 0
    with on_cores(2 if folds else 1):  # on two of them epochs are told of after a second's work
        for epoch in range(1, whole.epoch + 1):
            first.run_epoch()
            if folds and epoch % 5 != 2:  # with folds there are many epochs
                continue
            tensors = {name: value.clone() for name, value in first.tensors().items()}
            state = json.loads(json.dumps(first.state()))
            untold = max(untold, len(state["told"]))
            second = work.trainer(problem, config)
            second.load(tensors, state)
            assert second.stopped == (epoch == whole.epoch)
            fit(second)
            assert same_weights(second, whole)
            assert timeless(second.runs) == timeless(whole.runs)
            assert second.notes()["choosing"] == whole.notes()["choosing"]
    assert untold >= 2 or not folds


# What predicts, on disk and read back.


@pytest.fixture(scope="module", params=MODES)
def chosen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Run]:
    """A run on disk of every mode."""
    folder = tmp_path_factory.mktemp("auto") / str(request.param)
    return str(request.param), train(two_kinds(), MODES[request.param], folder)


def test_every_mode_is_the_same_after_saving_and_loading(chosen: tuple[str, Run], tmp_path: Path) -> None:
    mode, run = chosen
    again, data, other = load_run(run.folder), two_kinds(), two_kinds(2)
    assert again.summary == run.summary
    assert again.is_about(data)
    own, unseen = run.predict(data), run.predict(other)
    np.testing.assert_array_equal(again.predict(data).probabilities, own.probabilities)
    np.testing.assert_array_equal(again.predict(other).probabilities, unseen.probabilities)
    np.testing.assert_allclose(own.probabilities.sum(1), 1.0, atol=1e-5)
    assert own.candidate == ("blend" if mode == BLEND else "mcn")
    assert predictions_csv(data, own).encode() == (run.folder / "predictions.csv").read_bytes()
    killed = tmp_path / "killed"
    train_until_killed(data, MODES[mode], killed, 7)
    train(data, MODES[mode], killed, resume=True)
    for name in ("metrics.jsonl", "model.safetensors", "predictions.csv"):
        assert (killed / name).read_bytes() == (run.folder / name).read_bytes(), name
    summaries = (load_run(folder).summary | {"sha256": ""} for folder in (killed, run.folder))
    resumed, whole = (re.sub(r"-?\d[\d.e+-]*", "0", json.dumps(content)) for content in summaries)
    assert resumed == whole  # but for numbers, such as seconds


def test_what_the_summary_and_the_table_say_of_choosing(chosen: tuple[str, Run]) -> None:
    mode, run = chosen
    choosing = run.summary["choosing"]
    assert set(choosing) == {"winner", "mode", "blend"}
    assert choosing["mode"] == mode
    assert choosing["winner"] == run.summary["candidates"][0]["candidate"]
    names = [each["candidate"] for each in run.summary["candidate_runs"]]
    assert names == list(MODES[mode].candidates)
    assert {row["candidate"]: row["runs"] for row in run.summary["candidates"]} == dict.fromkeys(names, 1)
    said = "\n".join(run.summary["remarks"])
    assert ("predictions are a weighted mean of several candidates: " in said) == (mode == BLEND)
    lines = (run.folder / "metrics.jsonl").read_text().splitlines()  # type: ignore[operator]
    assert [json.loads(line)["candidate"] for line in lines] == [name for name in names for _ in range(30)]
    rows, usual = read_predictions(run.folder / "predictions.csv"), ["node", "split", "true", "predicted"]
    shares = {row["candidate"] for row in rows}
    if mode == ONE:  # one MCN predicts, whose choices are shown
        assert shares == {"mcn"}
        usual += ["probability", "candidate", "motif_1", "step_1", "motif_2", "step_2"]
    else:
        assert shares == {"blend"}
        usual += ["probability", "candidate"]
    assert list(rows[0]) == [*usual, "p_0", "p_1", "p_2"]


def test_each_mode_predicts_what_it_says(chosen: tuple[str, Run]) -> None:
    """The candidates by themselves, calibrated; then mixed by the shares."""
    mode, run = chosen
    data, model, inputs = two_kinds(), run.model, run.inputs(two_kinds())
    each = []
    for number, candidate in enumerate(model.candidates):
        (network,) = model.runs_of(number)
        alone = RECIPES[candidate.config.recipe].work.predict(network, inputs.of(candidate), run.task)
        powered = alone.probabilities.astype(np.float64) ** (1 / float(model.temperatures[number]))
        each.append(powered / powered.sum(1, keepdims=True))
    own, choosing = run.predict(data), run.summary["choosing"]
    if mode == BLEND:
        shares = [choosing["blend"].get(candidate.name, 0.0) for candidate in model.candidates]
        assert min(shares) > 0
        expected = np.tensordot(shares, np.stack(each), 1)
    else:
        (expected,) = each
    np.testing.assert_allclose(own.probabilities, expected, rtol=1e-4, atol=1e-6)


def test_each_mode_is_explained(chosen: tuple[str, Run]) -> None:
    mode, run = chosen
    explained, own = run.explain(two_kinds()), run.predict(two_kinds())
    np.testing.assert_array_equal(explained.predictions.probabilities, own.probabilities)
    options = list(explained.options)
    if mode == ONE:
        assert explained.kind == "choices"
        assert [option.motif for option in options] == ["edge", "triangle"]
        return
    assert explained.kind == "candidates"
    assert [option.motif for option in options] == ["gcn", "triangle"]
    shares = run.model.shares.numpy()
    mixed = np.tensordot(shares, np.stack([option.alternative for option in options]), 1)
    np.testing.assert_allclose(mixed, own.probabilities, atol=1e-6)


def test_a_decision_that_was_changed(chosen: tuple[str, Run], tmp_path: Path) -> None:
    _, run = chosen
    tensors, state = load_tensors(run.folder / "model.safetensors")
    whole = state["selected"]
    first = whole["candidates"][0]
    odd: list[tuple[str, Any]] = [("selected", value) for value in (None, [1], {})]
    odd += [("selected", {**whole, "mode": "oracle"}), ("selected", {**whole, "winner": "gat"})]
    odd += [("selected", {**whole, "candidates": value}) for value in (3, [{}], [{**first, "runs": 10**9}])]
    odd += [("selected", {**whole, "candidates": [{**first, "recipe": "auto"}]})]
    odd += [("selected", {**whole, "mode": "nodes", "state_width": 17})]  # of version 0.3.0
    odd += [("inputs", value) for value in (None, {}, {first["name"]: {"in_channels": -1, "state": {}}})]
    for name, value in odd:
        folder = Path(shutil.copytree(run.folder, tmp_path / "odd", dirs_exist_ok=True))
        save_tensors(folder / "model.safetensors", tensors, {**state, name: value})
        refuses(r"model\.safetensors: ", load_run, folder)


def noise(seed: int) -> Data:
    """300 nodes with random labels, features and edges, 60 of them for validation: nothing to learn."""
    draw = np.random.default_rng(seed)
    masks = drawn_masks(draw, 300, 180, 240)
    x = torch.from_numpy(draw.standard_normal((300, 8)).astype(np.float32))
    edges = to_undirected(torch.from_numpy(draw.integers(0, 300, (2, 900))), num_nodes=300)
    y = torch.from_numpy(draw.integers(0, 2, 300))
    return Data(x=x, y=y, edge_index=edges, num_nodes=300, split_at_random=seed % 2 == 0, **masks)


@pytest.mark.parametrize("graphs", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_nothing_is_claimed_of_noise(graphs: int) -> None:
    """At most 1 graph of 20 is beyond guessing; and 2.5 standard errors.

    In half of them all labelled nodes teach, as chance drew the split.
    """
    above_guess = 0
    few = {"max_epochs": 25, "repeats": 2, "candidates": ("mlp", "counts", "gcn", "triangle")}
    for seed in range(graphs):
        trainer = trained(noise(seed), settings("auto", **few, seed=seed))
        found = trainer.held_out_probabilities()
        problem = trainer.problem
        above_guess += problem.task.evidence(found[0], problem.val_labels.numpy(), found[1]).above_guess
    assert above_guess <= graphs * GUESSING + 2.5 * np.sqrt(graphs * GUESSING * (1 - GUESSING))


def test_a_skewed_graph_gets_a_model_that_is_better_than_guessing(tmp_path: Path) -> None:
    """22 % of one class, numeric features of very different sizes: what once ended in one class for all."""
    data = workers(nodes=300, signal=3.0, like=0.9)
    config = settings("auto", max_epochs=60, repeats=1, candidates=("mlp", "gcn", "mcn"))
    run = train(data, config, tmp_path / "run")
    assert run.summary["metric"] == run.config.metric == load_run(run.folder).config.metric == "roc-auc"
    test = run.summary["scores"]["test"]
    warned = any("every node" in remark or "guessing" in remark for remark in run.summary["remarks"])
    assert test["balanced-accuracy"] > 0.6 or warned
    assert run.summary["alone"]["guess"] == 0.5
