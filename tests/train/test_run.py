"""Runs on disk."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from torch_geometric.data import Data

from mcn.train import Epoch, MCNConfig, accuracy_on_test, fit, load_run, prepare, train_run
from mcn.train import run as run_module
from mcn.train.checkpoint import load_tensors, save_tensors
from mcn.train.loop import Trainer
from mcn.train.mcn.config import ATTENTION
from mcn.train.run import check_free, protocol, versions
from tests.train.graphs import new_trainer, same_tensors, small_config, small_graph, trained

FILES = ["config.yaml", "metrics.jsonl", "model.safetensors", "predictions.csv", "summary.json"]
SOURCE = {"dataset": "mine", "graph": None, "nodes": None}


class Stop(Exception):
    """Stands for whatever ends a process."""


def stop_after(epochs: int) -> Any:
    def stop(trainer: Trainer, epoch: Epoch) -> None:
        if epoch.epoch == epochs:
            # As the checkpoint callback does, whose clock a short test does not wait for.
            save_tensors(stop.folder / "last.safetensors", trainer.tensors(), trainer.state())
        if epoch.epoch == epochs + 2:
            raise Stop

    return stop


@pytest.fixture(scope="module")
def data() -> Data:
    graph = small_graph()
    graph.classes = ["a, b", 'c "d"', "e"]
    graph.node_ids = np.array([f'n{i}, "x"' for i in range(90)])
    return graph


@pytest.fixture
def finished(data: Data, tmp_path: Path) -> Path:
    train_run(tmp_path / "one", data, small_config(steps=2), SOURCE)
    return tmp_path / "one"


def test_the_files(finished: Path, data: Data) -> None:
    assert sorted(path.name for path in finished.iterdir()) == FILES
    config = small_config(steps=2)
    trainer = new_trainer(data, config)
    seen: list[Epoch] = []
    result = fit(trainer, [lambda _trainer, epoch: seen.append(epoch)])

    lines = (finished / "metrics.jsonl").read_text().splitlines()
    assert [Epoch(**json.loads(line)) for line in lines] == seen
    tensors, state = load_tensors(finished / "model.safetensors")
    assert same_tensors(tensors, dict(trainer.model.state_dict()))
    assert state["classes"] == data.classes
    summary = json.loads((finished / "summary.json").read_text())
    assert summary["val_accuracy"] == result.val_accuracy
    assert summary["best_epoch"] == result.best_epoch
    assert summary["epochs"] == 12
    assert summary["protocol"] == protocol(data, config)
    assert summary["versions"] == versions()
    for shares in summary["motif_share"]:
        assert list(shares) == ["edge, 1 step", "edge, 2 steps", "triangle, 1 step", "triangle, 2 steps"]
        assert sum(shares.values()) == pytest.approx(1.0)


def test_the_predictions(finished: Path, data: Data) -> None:
    with (finished / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["node"] for row in rows] == data.node_ids.tolist()
    assert [row["true"] for row in rows] == [data.classes[c] for c in data.y.tolist()]
    assert [row["split"] == "test" for row in rows] == data.test_mask.tolist()
    own = load_run(finished).predict(data)
    assert [row["predicted"] for row in rows] == [data.classes[c] for c in own.labels]
    assert [row["motif_2"] for row in rows] == [("edge", "triangle")[t] for t in own.motif[:, 1]]
    assert [int(row["step_1"]) for row in rows] == own.step[:, 0].tolist()
    right = [row["true"] == row["predicted"] for row in rows if row["split"] == "test"]
    summary = json.loads((finished / "summary.json").read_text())
    assert summary["test_accuracy"] == pytest.approx(np.mean(right)) == accuracy_on_test(data, own.labels)


def test_the_configuration_reproduces_the_run(finished: Path, data: Data, tmp_path: Path) -> None:
    settings = yaml.safe_load((finished / "config.yaml").read_text())
    assert settings["source"] == SOURCE
    train_run(tmp_path / "two", data, MCNConfig.from_dict(settings["config"]), settings["source"])
    for name in FILES:
        if name != "summary.json":  # it holds the time taken
            assert (tmp_path / "two" / name).read_bytes() == (finished / name).read_bytes(), name


def test_a_run_read_back(finished: Path, data: Data) -> None:
    run = load_run(finished)
    assert run.config == small_config(steps=2)
    assert run.source == SOURCE
    assert run.classes == data.classes
    assert run.memory.feature_names is None
    assert run.memory.in_channels == 60
    assert run.folder == finished
    assert run.summary["epochs"] == 12
    assert not run.model.training
    wide = data.clone()
    wide.x = torch.ones(90, 61)
    with pytest.raises(ValueError, match=r"data\.x has 61 features, but the network was trained on 60"):
        run.predict(wide)


def test_a_folder_with_a_run_is_refused(finished: Path, data: Data) -> None:
    before = {path.name: path.read_bytes() for path in finished.iterdir()}
    with pytest.raises(ValueError, match=r"already holds a run; choose another folder, or resume the run$"):
        train_run(finished, data, small_config(steps=2), SOURCE)
    assert {path.name: path.read_bytes() for path in finished.iterdir()} == before
    check_free(finished, resume=True)
    check_free(finished / "elsewhere")


def test_a_finished_run_is_not_trained_again(finished: Path, data: Data) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in finished.iterdir()}
    run = train_run(finished, data, small_config(steps=2), SOURCE, resume=True)
    assert run.summary == json.loads((finished / "summary.json").read_text())
    assert {path.name: path.stat().st_mtime_ns for path in finished.iterdir()} == before


@pytest.mark.parametrize(
    ("changes", "source", "message"),
    [
        ({"lr": 0.1}, SOURCE, "the run there was started with lr = 0.005, now it is 0.1"),
        ({"seed": 1}, SOURCE, "the run there was started with seed = 0, now it is 1"),
        ({}, SOURCE | {"dataset": "other"}, "started with dataset = 'mine', now it is 'other'"),
    ],
)
def test_other_settings_are_refused(
    finished: Path, data: Data, changes: dict[str, Any], source: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        train_run(finished, data, small_config(steps=2, **changes), source, resume=True)


def test_another_graph_is_refused(finished: Path, data: Data) -> None:
    other = data.clone()
    other.x = data.x.to_dense().flip(1)
    with pytest.raises(ValueError, match="the graph is no longer the one the run was started with"):
        train_run(finished, other, small_config(steps=2), SOURCE, resume=True)


@pytest.mark.parametrize(
    "changes",
    [
        *({"attention": name} for name in ATTENTION),
        {"attention": "paper", "advantage": "mean"},
        {"attention": "paper", "advantage": "learned"},
        {"attention": "paper", "consistency": 1.0},
    ],
    ids=str,
)
def test_resumed_equals_undisturbed(data: Data, tmp_path: Path, changes: dict[str, Any]) -> None:
    config = small_config(**changes)
    train_run(tmp_path / "whole", data, config, SOURCE)
    folder = tmp_path / "cut"
    stop = stop_after(5)
    stop.folder = folder
    with pytest.raises(Stop):
        train_run(folder, data, config, SOURCE, callbacks=(stop,))
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == 7
    with pytest.raises(ValueError, match=r"summary\.json is missing \(interrupted\? resume it\)$"):
        load_run(folder)
    (folder / ".last.safetensors.abc").write_bytes(b"half a checkpoint")
    seen: list[int] = []
    train_run(
        folder,
        data,
        config,
        SOURCE,
        resume=True,
        callbacks=(lambda _trainer, epoch: seen.append(epoch.epoch),),
    )
    assert seen == list(range(6, load_run(tmp_path / "whole").summary["epochs"] + 1))
    assert sorted(path.name for path in folder.iterdir()) == FILES
    for name in FILES:
        if name != "summary.json":
            assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_resuming_where_nothing_is_starts_anew(data: Data, tmp_path: Path) -> None:
    train_run(tmp_path / "new", data, small_config(), SOURCE, resume=True)
    assert same_tensors(
        load_tensors(tmp_path / "new" / "model.safetensors")[0],
        dict(trained(data, small_config()).model.state_dict()),
    )


def test_nothing_is_written_for_a_bad_graph(data: Data, tmp_path: Path) -> None:
    bad = data.clone()
    bad.y = None
    with pytest.raises(ValueError, match="the graph has no labels"):
        train_run(tmp_path / "new", bad, small_config(), SOURCE)
    with pytest.raises(ValueError, match="unknown motif 'triangel'; did you mean 'triangle'"):
        train_run(tmp_path / "new", data, small_config(motifs=("triangel",)), SOURCE)
    assert list(tmp_path.iterdir()) == []


def test_progress(data: Data, tmp_path: Path) -> None:
    told: list[float] = []
    train_run(tmp_path / "one", data, small_config(max_epochs=4), SOURCE, progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("name", ["config.yaml", "summary.json", "model.safetensors"])
def test_a_missing_file(finished: Path, name: str) -> None:
    (finished / name).unlink()
    with pytest.raises(ValueError, match=f"no finished run here, {name} is missing"):
        load_run(finished)


def test_runs_further_inside_are_pointed_out(finished: Path) -> None:
    with pytest.raises(ValueError, match=r"no finished run here.*there are runs in it: one"):
        load_run(finished.parent)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.yaml", b"", "not the settings of a run"),
        ("config.yaml", b"- 1\n- 2\n", "not the settings of a run"),
        ("config.yaml", b"config: {}\n", "not the settings of a run"),
        ("config.yaml", b"config: [\n", "not YAML"),
        (
            "config.yaml",
            b"source: {}\nconfig: {stepps: 1}\n",
            r"unknown setting 'stepps'; did you mean 'steps'",
        ),
        ("config.yaml", b"source: {}\nconfig: {dropout: much}\n", "not the settings of a run"),
        ("config.yaml", b"!!python/object/apply:os.system ['touch ran']\n", "not YAML"),
        ("summary.json", b'{"val', "not JSON, or truncated"),
        ("model.safetensors", b"\0\0", "not a checkpoint, or truncated"),
    ],
)
def test_a_damaged_file(
    finished: Path, name: str, content: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished)
    (finished / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        load_run(finished)
    assert name in str(caught.value)
    assert not (finished / "ran").exists()


def test_a_model_of_another_architecture(finished: Path, data: Data, tmp_path: Path) -> None:
    train_run(tmp_path / "wide", data, small_config(steps=2, hidden=16), SOURCE)
    (tmp_path / "wide" / "model.safetensors").replace(finished / "model.safetensors")
    with pytest.raises(ValueError, match=r"config\.yaml: not the settings that model\.safetensors was"):
        load_run(finished)


def test_a_checkpoint_is_not_a_model(finished: Path, data: Data) -> None:
    trainer = trained(data, small_config(steps=2))
    save_tensors(finished / "model.safetensors", trainer.tensors(), trainer.state())
    with pytest.raises(ValueError, match=r"model of a finished run \(it does not state in_channels\)"):
        load_run(finished)


def test_resuming_from_a_damaged_checkpoint(data: Data, tmp_path: Path) -> None:
    stop = stop_after(3)
    stop.folder = tmp_path / "cut"
    with pytest.raises(Stop):
        train_run(stop.folder, data, small_config(), SOURCE, callbacks=(stop,))
    last = stop.folder / "last.safetensors"
    last.write_bytes(last.read_bytes()[:-10])
    with pytest.raises(ValueError, match=r"last\.safetensors: not a checkpoint, or truncated"):
        train_run(stop.folder, data, small_config(), SOURCE, resume=True)


def test_what_training_gives_is_what_is_read_back(data: Data, tmp_path: Path) -> None:
    own = train_run(tmp_path / "one", data, small_config(), SOURCE)
    read = load_run(tmp_path / "one")
    assert own.summary == read.summary == json.loads((tmp_path / "one" / "summary.json").read_text())
    assert (own.config, own.source, own.fingerprint) == (read.config, read.source, read.fingerprint)
    assert (own.classes, own.memory) == (read.classes, read.memory)
    assert np.array_equal(own.predict(data).probabilities, read.predict(data).probabilities)


def test_a_prepared_problem_can_be_given(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = prepare(data, small_config())
    train_run(tmp_path / "one", data, small_config(seed=2), SOURCE)
    monkeypatch.setattr(run_module, "prepare", lambda *_: pytest.fail("it was prepared again"))
    run = train_run(tmp_path / "two", data, small_config(seed=2), SOURCE, problem=problem)
    assert run.inputs(data) is problem.inputs
    for name in FILES:
        if name != "summary.json":
            assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name


def test_a_run_prepares_a_graph_once(finished: Path, data: Data) -> None:
    run = load_run(finished)
    first = run.inputs(data)
    run.predict(data)
    assert run.inputs(data) is first
    assert run.inputs(data.clone()) is not first


def test_the_graph_that_a_run_is_about(finished: Path, data: Data) -> None:
    run = load_run(finished)
    assert run.is_about(data)
    relabelled = data.clone()
    relabelled.y = torch.where(data.test_mask, (data.y + 1) % 3, data.y)
    assert run.is_about(relabelled)  # test labels were never seen
    other = data.clone()
    other.y = torch.where(data.train_mask, (data.y + 1) % 3, data.y)
    assert not run.is_about(other)
    shifted = data.clone()
    shifted.x = data.x.to_dense().flip(1)
    assert not run.is_about(shifted)
    for missing in ("y", "val_mask"):
        bare = data.clone()
        bare[missing] = None
        assert not run.is_about(bare)
