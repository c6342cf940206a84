import re
from pathlib import Path
from typing import Any

import pytest

import mcn
from mcn.experiments import Source, Unit, compare, run_unit
from mcn.experiments.engine.source import load
from mcn.train import accuracy_on_test, train
from mcn.train.metrics import TASK_METRICS
from mcn.train.presets import Preset
from tests.configs import MCNConfig
from tests.conftest import refuses
from tests.experiments.engine.units import KARATE, QUICK, quick, timeless, write_graph


def test_a_network_has_the_figures_of_compare_and_of_a_run(tmp_path: Path) -> None:
    data = mcn.load_dataset("karate")
    for method in ("mcn", "paper", "gat", "gcn", "mlp"):
        unit = quick(method, seed=3)
        own = run_unit(unit)
        theirs = compare(data, [method], [3], dataset="karate", settings=QUICK)[0]
        assert 100 * own["val_accuracy"] == theirs["val_mean"]
        assert 100 * own["test_accuracy"] == theirs["test_mean"]
        run = train(data, unit.config(), tmp_path / method)
        for figure in ("val_accuracy", "test_accuracy", "epochs"):
            assert own[figure] == run.summary[figure]
        assert (own["epochs"], own["config"]["seed"]) == (5, 3)


def test_a_row_says_what_was_run_and_overrides_come_after_the_methods() -> None:
    unit = quick(motifs=("edge", "triangle"), seed=2)
    row = run_unit(unit)
    assert row["key"] == unit.key()
    assert re.fullmatch(r"[0-9a-f]{64}", row["key"])
    assert row["dataset"] == "karate"
    assert row["settings"] == {**QUICK, "motifs": ["edge", "triangle"]}
    assert (row["seed"], row["test"], row["version"], row["error"]) == (2, True, mcn.__version__, None)
    assert timeless([row]) == timeless([run_unit(unit)])
    assert Unit(KARATE, "gcn", {"hidden": 32, "patience": 50}).config().hidden == 16
    unit = Unit(KARATE, "gcn", {"patience": 50}, overrides={"hidden": 32})
    assert (unit.config().hidden, unit.config().patience, unit.config().motifs) == (32, 50, ("edge",))


def test_without_test_the_test_labels_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("test labels were read")

    monkeypatch.setattr("mcn.experiments.engine.unit.scores_on_test", refuse)
    for unit in (quick(test=False), Unit(KARATE, "lp", test=False)):
        row = run_unit(unit)
        assert row["test_accuracy"] is None
        assert row["metrics"]["test"] is None
        assert row["metrics"]["val"]["accuracy"] == row["val_accuracy"]


@pytest.mark.parametrize("method", ["mcn", "gat", "lp", "majority"])
def test_exchanged_test_labels_change_the_test_figure_alone(tmp_path: Path, method: str) -> None:
    settings = QUICK if method in ("mcn", "gat") else {}
    sources = [write_graph(tmp_path / str(swap), swap) for swap in (False, True)]
    rows = [run_unit(Unit(source, method, settings)) for source in sources]
    assert rows[0]["test_accuracy"] == pytest.approx(1 - rows[1]["test_accuracy"])
    test = [row["metrics"]["test"] for row in rows]
    assert [part["accuracy"] for part in test] == [row["test_accuracy"] for row in rows]
    assert test[0]["roc-auc"] == pytest.approx(1 - test[1]["roc-auc"])
    untested = [{"test_accuracy": None, "metrics": row["metrics"] | {"test": None}} for row in rows]
    figures = [row | none for row, none in zip(timeless(rows), untested, strict=True)]
    assert figures[0] == figures[1]  # the key and the metrics of validation nodes among them


def test_a_row_has_every_metric_and_that_of_a_baseline_the_figures_of_its_scores() -> None:
    data = mcn.load_dataset("karate")
    for unit in (quick(seed=1), Unit(KARATE, "majority", seed=1)):
        row = run_unit(unit)
        assert list(row["metrics"]) == ["val", "test"]
        for part in ("val", "test"):
            assert list(row["metrics"][part]) == list(TASK_METRICS["classes"])
            assert row["metrics"][part]["accuracy"] == row[f"{part}_accuracy"]
    held = row["metrics"]["test"]  # of majority: every node has the same scores
    assert held["roc-auc"] == 0.5
    assert held["average-precision"] == pytest.approx(float((data.y[data.test_mask] == 1).float().mean()))
    y, train = data.y.numpy(), data.train_mask.numpy()
    largest = max(range(2), key=lambda c: (y[train] == c).sum())
    assert row["test_accuracy"] == accuracy_on_test(data, 0 * y + largest)
    assert row["val_accuracy"] == (y[data.val_mask.numpy()] == largest).mean()
    assert (row["epochs"], row["val_loss"], row["config"], row["settings"]) == (None, None, None, {})


def test_every_thing_that_decides_the_result_is_in_the_key(tmp_path: Path) -> None:
    units = [quick(), quick(seed=1), quick(test=False), quick("gat"), quick(lr=0.02), Unit(KARATE, "lp")]
    units += [Unit(source, "mcn", QUICK) for source in (Source("strong-ties"), write_graph(tmp_path))]
    units += [Unit(KARATE, "mcn", QUICK, overrides={"lr": 0.03})]
    assert len({unit.key() for unit in units}) == len(units)


def test_the_same_settings_and_moved_files_have_one_key(tmp_path: Path, monkeypatch: Any) -> None:
    unit = quick()
    assert unit.key() == quick(lr=0.005).key()  # a default, said
    assert unit.key() == quick(motifs=["edge", "triangle"]).key()
    assert quick(motifs=("edge",)) == quick(motifs=["edge"])
    assert len({unit, quick(), quick(seed=1)}) == 2
    before = unit.key()
    other = Preset("karate", "", "karate", MCNConfig(lr=0.1), {"lr": 0.1})
    monkeypatch.setattr("mcn.train.presets.preset_of", lambda recipe, dataset: other)
    assert unit.key() != before  # a changed default is another run
    first, second = write_graph(tmp_path / "a"), write_graph(tmp_path / "b")
    assert first != second
    assert Unit(first, "lp").key() == Unit(second, "lp").key()


def test_the_seed_draws_the_split_of_dd_alone(data_root: Path) -> None:
    dd = Source("dd7", data_root=str(data_root))
    masks = [load(dd, seed).data.train_mask for seed in (0, 1)]
    assert not masks[0].equal(masks[1])
    assert load(dd, 0).counts is load(dd, 1).counts
    assert load(KARATE, 0) is load(KARATE, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "gta"}, r"method must be one of .*, got 'gta'; did you mean 'gat'\?"),
        ({"method": "lp", "settings": {"lr": 0.1}}, r"the baseline 'lp' has no settings, got {'lr': 0.1}"),
        ({"settings": {"lerning_rate": 0.1}}, r"unknown setting 'lerning_rate'"),
        ({"settings": {"lr": -1}}, r"lr must be a positive number, got -1"),
        ({"settings": {"seed": 1}}, r"settings must not hold a seed"),
        ({"settings": {"lr": object()}}, r"settings must be plain values"),
        ({"seed": -1}, r"seed must be an integer of at least 0, got -1"),
    ],
)
def test_wrong_units(arguments: dict[str, Any], message: str) -> None:
    refuses(message, Unit, KARATE, **arguments)


def test_wrong_sources() -> None:
    for given in ({}, {"dataset": "karate", "graph": "edges.csv"}):
        refuses("a source is a data set or a graph file", Source, **given)
    refuses("describes the nodes of a graph file", Source, "karate", nodes="nodes.csv")
    assert Source(graph="x/edges.csv.gz").title == "edges.csv.gz"
