"""Runs on disk: their files, resuming, one process at a time, and files that somebody changed."""

import datetime
import json
import math
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import save_file
from torch_geometric.data import Data

import mcn
from mcn.train import RECIPES, Epoch, accuracy_on_test, fit, load_run, prepare, train
from mcn.train.checkpoint import load_tensors, load_weights, save_tensors
from mcn.train.folder import alone_in, check_free
from mcn.train.mcn.config import ATTENTION
from mcn.train.predictions import predictions_csv, read_predictions
from tests.conftest import refuses
from tests.payloads import Call
from tests.train.graphs import (
    new_trainer,
    same_tensors,
    same_weights,
    settings,
    small_config,
    small_graph,
    train_until_killed,
    trained,
    with_other_test_labels,
)

FILES = ["config.yaml", "metrics.jsonl", "model.safetensors", "predictions.csv", "summary.json"]
SOURCE = {"dataset": "mine", "graph": None, "nodes": None}
CONFIG = small_config(steps=2)
FLAT = {"name": "a", "kind": "number", "scale": 0}
VIEWS = settings("views", walk_length=2, max_neighbours=4, hidden=4, steps_per_epoch=2, max_epochs=6)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def results(folder: Path) -> dict[str, bytes]:
    """The files of a run that two equal runs share; the summary holds the time taken."""
    return {name: content for name, content in contents(folder).items() if name != "summary.json"}


@pytest.fixture(scope="module")
def data() -> Data:
    graph = small_graph()
    graph.classes = ["a, b", 'c "d"', "e"]
    graph.node_ids = np.array([f'n{i}, "x"' for i in range(90)])
    return graph


@pytest.fixture(scope="module")
def made(data: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "one"
    train(data, CONFIG, folder, source=SOURCE)
    return folder


@pytest.fixture(scope="module")
def killed(data: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs that were killed after five epochs, by recipe."""
    folder = tmp_path_factory.mktemp("killed")
    for config, epochs in ((CONFIG, 5), (VIEWS, 3)):
        train_until_killed(data, config, folder / config.recipe, epochs, source=SOURCE)
    return folder


@pytest.fixture
def finished(made: Path, tmp_path: Path) -> Path:
    """A copy of a finished run."""
    return Path(shutil.copytree(made, tmp_path / "one"))


# What a run leaves, and what is read back.


def test_the_files_and_the_predictions(made: Path, data: Data) -> None:
    assert sorted(contents(made)) == FILES
    trainer, seen = new_trainer(data, CONFIG), []
    result = fit(trainer, [lambda _trainer, epoch: seen.append(epoch)])
    lines = (made / "metrics.jsonl").read_text().splitlines()
    assert [Epoch(**json.loads(line)) for line in lines] == seen
    tensors, state = load_tensors(made / "model.safetensors")
    assert same_tensors(tensors, dict(trainer.model.state_dict()))
    assert state["classes"] == data.classes
    summary = json.loads((made / "summary.json").read_text())
    assert (summary["val_accuracy"], summary["best_epoch"]) == (result.val_accuracy, result.best_epoch)
    assert summary["epochs"] == 12
    assert summary["protocol"] == (
        "18 training, 30 validation, 40 test nodes; weights kept by validation accuracy and loss, patience "
        "100; test labels read once, after training"
    )
    assert summary["versions"]["mcn"] == mcn.__version__
    for shares in summary["motif_share"]:
        assert list(shares) == ["edge, 1 step", "edge, 2 steps", "triangle, 1 step", "triangle, 2 steps"]
        assert sum(shares.values()) == pytest.approx(1.0)
    own = load_run(made).predict(data)
    assert (made / "predictions.csv").read_bytes() == predictions_csv(data, own).encode()
    rows = read_predictions(made / "predictions.csv")
    right = [row["true"] == row["predicted"] for row in rows if row["split"] == "test"]
    assert len(right) == 40
    assert summary["test_accuracy"] == pytest.approx(np.mean(right)) == accuracy_on_test(data, own.labels)


def test_the_configuration_reproduces_the_run(made: Path, data: Data, tmp_path: Path) -> None:
    """Also where it is to be resumed, and nothing is there."""
    stored = yaml.safe_load((made / "config.yaml").read_text())
    assert list(stored) == ["mcn", "recipe", "source", "data", "config"]
    assert stored["source"] == SOURCE
    config = RECIPES[stored["recipe"]].config.from_dict(stored["config"])
    train(data, config, tmp_path / "two", source=stored["source"], resume=True)
    assert results(tmp_path / "two") == results(made)


def test_what_training_gives_is_what_is_read_back(data: Data, tmp_path: Path) -> None:
    own = train(data, CONFIG, tmp_path / "one", source=SOURCE)
    read = load_run(tmp_path / "one")
    assert own.summary == read.summary == json.loads((tmp_path / "one" / "summary.json").read_text())
    assert (own.config, own.source, own.fingerprint) == (read.config, read.source, read.fingerprint)
    assert (own.classes, own.memory, own.folder) == (read.classes, read.memory, read.folder)
    assert read.config == CONFIG
    assert (read.source, read.classes, read.folder) == (SOURCE, data.classes, tmp_path / "one")
    assert (read.memory.feature_names, read.memory.in_channels) == (None, 60)
    assert not read.model.training
    assert np.array_equal(own.predict(data).probabilities, read.predict(data).probabilities)


def test_a_run_that_is_not_written_and_one_of_a_bad_graph(data: Data, made: Path, here: Path) -> None:
    run = train(data, CONFIG)
    assert (run.folder, run.summary, list(here.iterdir())) == (None, {}, [])
    assert run.result.val_accuracy == load_run(made).summary["val_accuracy"]
    assert same_weights(run, load_run(made))
    expected = load_run(made).predict(data).probabilities
    np.testing.assert_array_equal(run.explain(data).predictions.probabilities, expected)
    bad = data.clone()
    bad.y = None
    refuses("the graph has no labels", train, bad, CONFIG, here / "new")
    with pytest.raises(ValueError, match="unknown motif 'triangel'; did you mean 'triangle'"):
        train(data, small_config(motifs=("triangel",)), here / "new")
    assert list(here.iterdir()) == []


def test_a_prepared_problem_can_be_given_and_a_graph_is_prepared_once(data: Data, tmp_path: Path) -> None:
    problem = prepare(data, CONFIG)
    for name, given in (("one", None), ("two", problem)):
        run = train(data, CONFIG.replace(seed=2), tmp_path / name, source=SOURCE, problem=given)
    assert run.inputs(data) is problem.inputs
    assert results(tmp_path / "one") == results(tmp_path / "two")
    read = load_run(tmp_path / "one")
    first = read.inputs(data)
    read.predict(data)
    assert read.inputs(data) is first
    assert read.inputs(data.clone()) is not first


def test_the_graph_that_a_run_is_about(made: Path, data: Data) -> None:
    run = load_run(made)
    assert run.is_about(data)
    assert run.is_about(with_other_test_labels(data))  # which were never seen
    moved = torch.where(data.train_mask, (data.y + 1) % 3, data.y)
    for name, value in (("y", moved), ("x", data.x.to_dense().flip(1)), ("y", None), ("val_mask", None)):
        other = data.clone()
        other[name] = value
        assert not run.is_about(other), name


# Resuming.

RESUMED: dict[str, Any] = {
    **{name: small_config(attention=name) for name in ATTENTION},
    "paper less the mean": small_config(attention="paper", advantage="mean"),
    "paper less a learned value": small_config(attention="paper", advantage="learned"),
    "paper, two passes": small_config(attention="paper", consistency=1.0, consistency_ramp=4),
    "paper, three layers": small_config(attention="paper", steps=2, num_layers=3),
    "sums": small_config(motif_attention=False, self_attention=False),
    "sums that are chosen": small_config(self_attention=False),
    "sums, two passes": small_config(self_attention=False, consistency=1.0),
    "batches": small_config(batch_size=7, neighbours=(3, 2)),
    "batches of paper": small_config(batch_size=7, attention="paper", steps=2, psi="transition"),
    "batches less a learned value": small_config(batch_size=7, attention="paper", advantage="learned"),
    "batches of sums": small_config(batch_size=7, motif_attention=False, self_attention=False),
    "trees": settings("trees", max_epochs=6),
    "views": VIEWS,
    "normed views": VIEWS.replace(batch_norm=True, row_norm=True, num_layers=1, ema_decay=0.0),
    "whole views": VIEWS.replace(full_batch=True, symmetric=True, smooth_predictions=True),
}


@pytest.mark.parametrize("name", RESUMED)
def test_killed_and_resumed_is_undisturbed(data: Data, tmp_path: Path, name: str) -> None:
    config, folder, seen, epochs = RESUMED[name], tmp_path / "cut", [], 3
    whole = train(data, config, tmp_path / "whole", source=SOURCE).summary
    train_until_killed(data, config, folder, epochs, source=SOURCE)
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == epochs + 2
    refuses(r"summary\.json is missing \(interrupted\? resume it\)$", load_run, folder)
    (folder / ".last.safetensors.abc").write_bytes(b"half a checkpoint")
    tell = [lambda _trainer, epoch: seen.append(epoch.epoch)]
    summary = train(data, config, folder, source=SOURCE, resume=True, callbacks=tell).summary
    assert seen == list(range(epochs + 1, whole["epochs"] + 1))
    assert (summary["epochs"], summary["best_epoch"]) == (whole["epochs"], whole["best_epoch"])
    assert sorted(contents(folder)) == FILES
    assert results(folder) == results(tmp_path / "whole")


def test_a_finished_run_is_not_trained_again(finished: Path, data: Data) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in finished.iterdir()}
    with pytest.raises(ValueError, match=r"already holds a run; choose another folder, or resume the run$"):
        train(data, CONFIG, finished, source=SOURCE)
    check_free(finished, resume=True)
    check_free(finished / "elsewhere")
    run = train(data, CONFIG, finished, source=SOURCE, resume=True)
    assert run.summary == json.loads((finished / "summary.json").read_text())
    assert {path.name: path.stat().st_mtime_ns for path in finished.iterdir()} == before


def test_other_settings_or_another_graph_are_refused(made: Path, data: Data) -> None:
    other = data.clone()
    other.x = data.x.to_dense().flip(1)
    with pytest.raises(ValueError, match="the run there was started with seed = 0, now it is 1"):
        train(data, CONFIG.replace(seed=1), made, source=SOURCE, resume=True)
    with pytest.raises(ValueError, match="started with dataset = 'mine', now it is 'other'"):
        train(data, CONFIG, made, source=SOURCE | {"dataset": "other"}, resume=True)
    with pytest.raises(ValueError, match="the graph is no longer the one the run was started with"):
        train(other, CONFIG, made, source=SOURCE, resume=True)


def drop_best(tensors: dict[str, torch.Tensor], _state: Any) -> None:
    for name in [name for name in tensors if name.startswith("best.")]:
        del tensors[name]


@pytest.mark.parametrize("config", [CONFIG, VIEWS], ids=["mcn", "views"])
@pytest.mark.parametrize(
    "change",
    [
        lambda tensors, _: tensors.update({"adam.0.exp_avg": torch.zeros(2)}),
        lambda tensors, _: tensors.update({"adam.900.exp_avg": torch.zeros(2)}),
        lambda tensors, _: tensors.update({"adam.x.exp_avg": torch.zeros(2)}),
        lambda tensors, _: tensors.pop("adam.0.step"),
        drop_best,
        lambda _, state: state.pop("rule"),
        lambda _, state: state.update(epoch="x"),
        lambda _, state: state.update(rule=[]),
    ],
)
def test_a_changed_checkpoint(config: Any, change: Any, killed: Path, data: Data, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(killed / config.recipe, tmp_path / "run"))
    tensors, state = load_tensors(folder / "last.safetensors")
    change(tensors, state)
    save_tensors(folder / "last.safetensors", tensors, state)
    with pytest.raises(ValueError, match=r"last\.safetensors: not a checkpoint of this run"):
        train(data, config, folder, source=SOURCE, resume=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [("last.safetensors", "not a checkpoint, or truncated"), ("metrics.jsonl", "not a log of epochs")],
)
def test_damage_to_a_begun_run(name: str, message: str, killed: Path, data: Data, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(killed / "mcn", tmp_path / "run"))
    (folder / name).write_bytes(b"\xff\xfe")
    refuses(f"{name}: {message}", train, data, CONFIG, folder, source=SOURCE, resume=True)


# One process at a time.


def test_a_second_training_into_the_same_folder_is_refused(data: Data, tmp_path: Path) -> None:
    folder, refused, either = tmp_path / "one", [], r"already holds a run|another process is training"

    def second(_trainer: Any, _epoch: Any) -> None:
        for resume in (False, True):
            refused.append(refuses(either, train, data, CONFIG, folder, source=SOURCE, resume=resume))

    train(data, CONFIG, folder, source=SOURCE, callbacks=[second])
    assert len(refused) == 24
    said = "another process is training there; choose another folder, or wait and resume"
    assert refused[1] == f"{folder}: {said}"
    assert sorted(contents(folder)) == FILES


def test_who_prepared_while_another_trained_is_refused(finished: Path) -> None:
    """Both found the folder empty; the lock alone does not help whoever comes when it is free again."""
    (finished / "summary.json").unlink()  # as if it were still unfinished
    with pytest.raises(ValueError, match="already holds a run"), alone_in(finished):
        pytest.fail("the folder was given away")
    assert not (finished / ".lock").exists()


def test_what_killed_processes_left_is_no_hindrance(data: Data, made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    for name in (".lock", ".metrics.jsonl.abc", ".last.safetensors.x.part", ".model.safetensors.y"):
        (folder / name).write_bytes(b"half")
    check_free(folder)
    train(data, CONFIG, folder, source=SOURCE)
    assert results(folder) == results(made)
    for name in ("last.safetensors", ".lock"):  # killed at the very end
        (folder / name).write_bytes(b"of the last epoch")
    train(data, CONFIG, folder, source=SOURCE, resume=True)
    assert sorted(contents(folder)) == FILES


_STARTED = """
import sys, warnings
warnings.simplefilter("ignore")
import mcn
from mcn.train import RECIPES, train
config = RECIPES["mcn"].config(hidden=int(sys.argv[2]), max_epochs=30)
train(mcn.load_dataset("karate"), config, sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("round_number", range(3))
def test_of_two_processes_that_start_together_one_trains(tmp_path: Path, round_number: int) -> None:
    words = [sys.executable, "-c", _STARTED, str(tmp_path / "run")]
    both = [subprocess.Popen([*words, hidden], stderr=subprocess.PIPE, text=True) for hidden in ("4", "6")]
    told = [process.communicate()[1] for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 1], told
    assert re.search("another process is training there|already holds", told[codes.index(1)])
    assert load_run(tmp_path / "run").config.hidden == (4, 6)[codes.index(0)]


# Folders that hold no run, or one that was changed.


@pytest.mark.parametrize("name", ["config.yaml", "summary.json", "model.safetensors"])
def test_a_missing_file(finished: Path, made: Path, name: str) -> None:
    (finished / name).unlink()
    refuses(f"no finished run here, {name} is missing", load_run, finished)
    refuses(r"no finished run here.*there are runs in it: one", load_run, made.parent)  # further inside


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0", "0.3.0"])
def test_an_earlier_version(version: str, finished: Path, killed: Path, data: Data, tmp_path: Path) -> None:
    begun = Path(shutil.copytree(killed / "mcn", tmp_path / "begun"))
    for folder, use in (
        (finished, lambda: load_run(finished)),
        (finished, lambda: train(data, CONFIG, finished, source=SOURCE, resume=True)),
        (begun, lambda: train(data, CONFIG, begun, source=SOURCE, resume=True)),
    ):
        path = folder / "config.yaml"
        path.write_text(path.read_text().replace(f"mcn: {mcn.__version__}\n", f"mcn: {version}\n"))
        assert str(path) in refuses(f"it is a run of mcn {version}: read it with that", use)


UNKNOWN = b"recipe: mcn\nsource: {}\nconfig: {stepps: 1}\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.yaml", b"", "not the settings of a run"),
        ("config.yaml", b"- 1\n- 2\n", "not the settings of a run"),
        ("config.yaml", b"config: {}\n", "not the settings of a run"),
        ("config.yaml", b"config: [\n", "not YAML"),
        ("config.yaml", UNKNOWN, "unknown setting 'stepps'; did you mean 'steps'"),
        ("config.yaml", b"source: {}\nconfig: {dropout: much}\n", "not the settings of a run"),
        ("config.yaml", b"!!python/object/apply:os.system ['touch ran']\n", "not YAML"),
        ("summary.json", b'{"val', "not JSON, or truncated"),
        ("summary.json", b"[1]", "the content must be named values"),
        ("summary.json", b"3", "the content must be named values"),
        ("summary.json", b"[" * 100_000, "not JSON, or truncated"),
        ("summary.json", b'{"a": "\xff"}', "not JSON, or truncated"),
        ("model.safetensors", b"\0\0", "not a checkpoint, or truncated"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_damaged_file(finished: Path, name: str, content: bytes, message: str, monkeypatch: Any) -> None:
    monkeypatch.chdir(finished)
    (finished / name).write_bytes(content)
    assert name in refuses(message, load_run, finished)
    assert not (finished / "ran").exists()


def change_settings(folder: Path, part: str | None, name: Any, value: Any) -> None:
    path = folder / "config.yaml"
    content = yaml.safe_load(path.read_text())
    (content if part is None else content[part])[name] = value
    path.write_text(yaml.safe_dump(content))


def test_settings_and_models_that_were_exchanged(made: Path, data: Data, tmp_path: Path) -> None:
    changes = [("config", "motifs", ["edge", "4-cycle"]), ("config", "dropout", 0.1)]
    changes += [("source", "dataset", "karate"), ("source", "split_index", 3), (None, "data", "0" * 64)]
    for number, change in enumerate(changes):
        folder = Path(shutil.copytree(made, tmp_path / str(number)))
        change_settings(folder, *change)
        refuses(r"config\.yaml: not the settings that model\.safetensors was", load_run, folder)
    one, trainer = Path(shutil.copytree(made, tmp_path / "one")), trained(data, CONFIG)
    train(data, CONFIG.replace(hidden=16), tmp_path / "wide", source=SOURCE)
    for replace_it in (
        lambda: save_tensors(one / "model.safetensors", trainer.tensors(), trainer.state()),  # a checkpoint
        lambda: (tmp_path / "wide" / "model.safetensors").replace(one / "model.safetensors"),  # another run's
    ):
        replace_it()
        refuses(r"config\.yaml: not the settings that model\.safetensors was", load_run, one)
    # Written in another way they are the same.
    path = Path(shutil.copytree(made, tmp_path / "same")) / "config.yaml"
    content = yaml.safe_load(path.read_text())
    path.write_text("# a note\n" + yaml.safe_dump(content, sort_keys=True, default_flow_style=True))
    assert load_run(path.parent).summary["epochs"] == 12


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        *(("config", "hidden", value) for value in ("many", [1], 10**30)),
        *(("config", "motifs", value) for value in (3, [["edge"]])),
        *(("config", "lr", value) for value in (math.nan, {"a": 1})),
        ("config", "num_layers", 10**9),
        ("config", 3, 4),
        *((None, "config", value) for value in ([1, 2], "text", None)),
        *((None, "source", value) for value in (None, [1])),
        *((None, "recipe", value) for value in (["mcn"], 3, {"a": "b"}, "paper")),
        (None, "data", 5),
        *(("source", name, value) for name, value in (("graph", 3), ("nodes", ["a"]), ("dataset", {"a": 1}))),
        *(("source", name, value) for name, value in (("split_index", "x"), ("trust", "yes"), (3, "x"))),
        (None, 3, "x"),
        (None, "more", [{"a": 1, 2: 3}]),
        (None, "more", {datetime.date(2001, 1, 1): 1}),
    ],
)
def test_odd_types_in_the_settings(finished: Path, part: str | None, name: Any, value: Any) -> None:
    change_settings(finished, part, name, value)
    refuses(r"config\.yaml: not the settings of a run", load_run, finished)


def state(name: str, value: Any) -> Callable[..., Any]:
    return lambda _tensors, state: state.__setitem__(name, value)


def scale(value: Any) -> Callable[..., Any]:
    return lambda _tensors, state: state["count_scale"][1].__setitem__(2, value)


def bias(make: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    return lambda tensors, _state: tensors.update({"convs.0.bias": make(tensors["convs.0.bias"])})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (scale(math.nan), "count_scale holds nan"),
        (scale(math.inf), "count_scale holds inf"),
        (scale(-1.0), "deviations that are not negative"),
        (scale("x"), "count_scale"),
        (state("count_scale", [[1.0] * 3]), "count_scale has shape"),
        (state("count_scale", None), "count_scale"),
        (state("scaling", "loud"), "scaling must be one of"),
        (state("structure_scale", [[1.0]]), "structure_scale has shape"),
        (lambda _, state: state.pop("in_channels"), "it does not state in_channels"),
        (state("in_channels", 61), "weights of another architecture"),
        (state("in_channels", 10**12), "weights of another architecture"),
        (state("in_channels", -1), "in_channels must be a number of features"),
        (state("in_channels", "60"), "in_channels must be a whole number"),
        (state("classes", ["a"]), "weights of another architecture"),
        (state("classes", "abc"), "classes must be a list"),
        (state("classes", [1, 2, 3]), "classes must be a list of names"),
        (state("feature_names", [1]), "feature_names must be a list of names"),
        (state("treatment", {"scaling": "raw", "columns": [FLAT]}), "scale"),
        (state("treatment", [1]), "treatment"),
        (bias(lambda bias: bias * math.nan), r"'convs\.0\.bias' holds numbers that are not finite"),
        (bias(lambda bias: bias.to(torch.int64)), r"'convs\.0\.bias' holds torch\.int64"),
        (bias(lambda bias: bias[:-1]), "weights of another architecture"),
        (lambda tensors, _: tensors.pop("convs.0.bias"), "weights of another architecture"),
    ],
)
def test_a_model_that_was_changed_and_signed_again(finished: Path, change: Any, message: str) -> None:
    tensors, stated = load_tensors(finished / "model.safetensors")
    change(tensors, stated)
    save_tensors(finished / "model.safetensors", tensors, stated)
    assert str(finished / "model.safetensors") in refuses(message, load_run, finished)


# Files of tensors.

TENSORS = {
    "weight": torch.arange(6, dtype=torch.float32).reshape(2, 3).T,  # not contiguous
    "step": torch.tensor(5.0),
    "count": torch.tensor([1, 2], dtype=torch.int64),
    "nothing": torch.empty(0, 3),
}
STATE = {"epoch": 3, "rule": {"best": 0.1 + 0.2}, "names": ["ä", 'with "quotes"'], "none": None}


def test_tensors_there_and_back_and_any_altered_byte_is_noticed(tmp_path: Path) -> None:
    saved = tmp_path / "one.safetensors"
    save_tensors(saved, TENSORS, STATE)
    tensors, stated = load_tensors(saved)
    assert same_tensors(tensors, TENSORS)
    assert stated == STATE
    content = saved.read_bytes()
    save_tensors(saved, {"other": torch.ones(1)}, {})  # which replaces it
    assert same_tensors(load_tensors(saved)[0], {"other": torch.ones(1)})
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]
    for place in [*range(0, len(content), 7), len(content) - 1]:
        damaged = bytearray(content)
        damaged[place] ^= 1
        saved.write_bytes(damaged)
        said = refuses(r"one\.safetensors: ", load_tensors, saved)
    assert "the checksum does not fit; the file was damaged or altered" in said  # a weight's
    for length in (0, 3, 8, 40, -1):
        saved.write_bytes(content[:length])
        refuses("not a checkpoint, or truncated", load_tensors, saved)


def test_files_of_other_programs_are_refused_and_nothing_in_them_can_run(tmp_path: Path) -> None:
    path, mark = tmp_path / "foreign.safetensors", tmp_path / "ran"
    save_file({"weight": torch.ones(2)}, path)
    refuses("a safetensors file, but not a checkpoint of this program", load_tensors, path)
    bomb = Call(Path.touch, mark)
    for write in (lambda: path.write_bytes(pickle.dumps(bomb)), lambda: torch.save(bomb, path)):
        write()
        refuses("not a checkpoint, or truncated", load_tensors, path)
        assert not mark.exists()


def test_weights_of_another_architecture(tmp_path: Path) -> None:
    own, other = mcn.MCN(5, 4, 2, heads=2), mcn.MCN(5, 4, 2, heads=2)
    wide = "'convs.0.att_dst' has shape (2, 8) in the file and (2, 4) in the network"
    for network, message in (
        (mcn.MCN(5, 8, 2, heads=2), wide),
        (mcn.MCN(5, 4, 2, 3, heads=2), "'convs.1.att_dst' has shape (2, 4) in the file and (1, 2)"),
        (mcn.MCN(5, 4, 2, heads=2, motifs=2), "selector.motif_bias' has shape (2,) in the file and None"),
    ):
        message, weights = f"weights of another architecture; .*{re.escape(message)}", network.state_dict()
        refuses(message, load_weights, own, dict(weights), tmp_path / "weights")
    load_weights(own, dict(other.state_dict()), tmp_path / "weights")
    assert same_tensors(dict(own.state_dict()), dict(other.state_dict()))
