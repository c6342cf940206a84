"""The folder of a run: one process at a time, and settings that nobody changes unseen."""

from __future__ import annotations

import datetime
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from mcn.train.auto.config import AutoConfig
from torch_geometric.data import Data

from mcn.data import load_dataset
from mcn.train import load_run, train_run
from mcn.train.checkpoint import load_tensors, save_tensors
from mcn.train.folder import alone_in, check_free
from tests.train.graphs import small_config, small_graph
from tests.train.test_stored import CONFIGS, STORED
from tests.train.test_stored import SOURCE as KARATE

COLUMN = {"name": "age", "kind": "number"}
COMMAND = [sys.executable, "-c", "from mcn.cli.main import main; raise SystemExit(main())"]
QUICK = ["train", "--dataset", "karate", "--recipe", "mcn", "--no-report", "--max-epochs", "30"]
SOURCE = {"dataset": "mine", "graph": None, "nodes": None}


@pytest.fixture(scope="module")
def data() -> Data:
    return small_graph()


@pytest.fixture(scope="module")
def made(data: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "one"
    train_run(folder, data, small_config(max_epochs=3), SOURCE)
    return folder


@pytest.fixture
def finished(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "one"))


def test_a_second_training_into_the_same_folder_is_refused(data: Data, tmp_path: Path) -> None:
    folder, refused = tmp_path / "one", []

    def second(_trainer: Any, epoch: Any) -> None:
        for resume in (False, True):
            with pytest.raises(
                ValueError, match=r"already holds a run|another process is training"
            ) as caught:
                train_run(folder, data, small_config(max_epochs=3), SOURCE, resume=resume)
            refused.append(str(caught.value))

    train_run(folder, data, small_config(max_epochs=3), SOURCE, callbacks=(second,))
    assert len(refused) == 6
    assert refused[1] == (
        f"{folder}: another process is training there; choose another folder, or wait and resume"
    )
    assert not (folder / ".lock").exists()
    assert load_run(folder).summary["epochs"] == 3


def test_who_prepared_while_another_trained_is_refused(data: Data, tmp_path: Path) -> None:
    """Both found the folder empty; the lock alone does not help whoever comes when it is free again."""
    folder = tmp_path / "one"
    train_run(folder, data, small_config(max_epochs=3), SOURCE)
    (folder / "summary.json").unlink()  # as if it were still unfinished
    with pytest.raises(ValueError, match="already holds a run"), alone_in(folder):
        pytest.fail("the folder was given away")
    assert not (folder / ".lock").exists()


def test_the_lock_of_a_dead_process_is_no_hindrance(data: Data, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / ".lock").touch()
    check_free(folder)
    train_run(folder, data, small_config(max_epochs=3), SOURCE)
    assert not (folder / ".lock").exists()


def test_leftovers_of_a_killed_process_go(data: Data, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    for name in (
        ".metrics.jsonl.abc",
        ".last.safetensors.x.part",
        ".model.safetensors.y",
        ".predictions.csv.z",
    ):
        (folder / name).write_bytes(b"half")
    train_run(folder, data, small_config(max_epochs=3), SOURCE, resume=True)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_what_a_process_killed_at_the_very_end_left_goes(finished: Path, data: Data) -> None:
    (finished / "last.safetensors").write_bytes(b"of the last epoch")
    (finished / ".lock").touch()
    train_run(finished, data, small_config(max_epochs=3), SOURCE, resume=True)
    assert not (finished / "last.safetensors").exists()
    assert not (finished / ".lock").exists()


@pytest.mark.slow
def test_synchronised_starts_of_the_command(tmp_path: Path) -> None:
    for round_number in range(5):
        folder = tmp_path / str(round_number)
        both = [
            subprocess.Popen(
                [*COMMAND, *QUICK, "--hidden", hidden, "--out", str(folder)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for hidden in ("4", "6")
        ]
        told = [each.communicate()[1] for each in both]
        codes = [each.returncode for each in both]
        assert sorted(codes) == [0, 2], told
        assert re.search("another process is training there|already holds", told[codes.index(2)])
        assert load_run(folder).config.hidden == (4, 6)[codes.index(0)]


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("config", "motifs", ["edge", "4-cycle"]),
        ("config", "dropout", 0.1),
        ("source", "dataset", "karate"),
        ("source", "split_index", 3),
        (None, "recipe", "paper"),
        (None, "data", "0" * 64),
    ],
)
def test_changed_settings_are_refused(finished: Path, part: str | None, name: str, value: Any) -> None:
    path = finished / "config.yaml"
    content = yaml.safe_load(path.read_text())
    (content if part is None else content[part])[name] = value
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ValueError, match=r"config\.yaml: not the settings that model\.safetensors was"):
        load_run(finished)


def test_settings_written_in_another_way_are_the_same(finished: Path) -> None:
    path = finished / "config.yaml"
    content = yaml.safe_load(path.read_text())
    path.write_text("# a note\n" + yaml.safe_dump(content, sort_keys=True, default_flow_style=True))
    assert load_run(finished).summary["epochs"] == 3


def test_a_run_of_0_1_0_has_no_checksum_of_its_settings(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STORED / "mcn", tmp_path / "mcn"))
    assert "settings" not in load_tensors(folder / "model.safetensors")[1]
    assert load_run(folder).config.heads == 2


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("config", "hidden", "many"),
        ("config", "hidden", [1]),
        ("config", "hidden", 10**30),
        ("config", "num_layers", 10**9),
        ("config", "motifs", 3),
        ("config", "motifs", [["edge"]]),
        ("config", "lr", math.nan),
        ("config", "lr", {"a": 1}),
        ("config", 3, 4),
        (None, "config", [1, 2]),
        (None, "config", "text"),
        (None, "config", None),
        (None, "source", None),
        (None, "source", [1]),
        (None, "recipe", ["mcn"]),
        (None, "recipe", 3),
        (None, "recipe", {"a": "b"}),
        (None, "data", 5),
        ("source", "graph", 3),
        ("source", "nodes", ["a"]),
        ("source", "dataset", {"a": 1}),
        ("source", "split_index", "x"),
        ("source", "trust", "yes"),
        ("source", 3, "x"),
        (None, 3, "x"),
        (None, "more", [{"a": 1, 2: 3}]),
        (None, "more", {datetime.date(2001, 1, 1): 1}),
    ],
)
def test_odd_types_in_the_settings(tmp_path: Path, part: str | None, name: Any, value: Any) -> None:
    """Without the checksum, as in a run of 0.1.0: the types alone decide."""
    folder = Path(shutil.copytree(STORED / "mcn", tmp_path / "mcn"))
    path = folder / "config.yaml"
    content = yaml.safe_load(path.read_text())
    (content if part is None else content[part])[name] = value
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ValueError, match=r"config\.yaml: not the settings of a run"):
        load_run(folder)


def resign(folder: Path, change: Any) -> None:
    """Change the model's file and compute its checksum anew, as anyone can."""
    tensors, state = load_tensors(folder / "model.safetensors")
    change(tensors, state)
    save_tensors(folder / "model.safetensors", tensors, state)


def _set(name: str, value: Any) -> Any:
    return lambda _tensors, state: state.__setitem__(name, value)


def _scale(value: Any) -> Any:
    return lambda _tensors, state: state["count_scale"][1].__setitem__(2, value)


def _weights(make: Any) -> Any:
    def change(tensors: Any, _state: Any) -> None:
        tensors["convs.0.bias"] = make(tensors["convs.0.bias"])

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_scale(math.nan), "count_scale holds nan"),
        (_scale(math.inf), "count_scale holds inf"),
        (_scale(-1.0), "deviations that are not negative"),
        (_scale("x"), "count_scale"),
        (_set("count_scale", [[1.0] * 3]), "count_scale has shape"),
        (_set("count_scale", None), "count_scale"),
        (_set("in_channels", 61), "weights of another architecture"),
        (_set("in_channels", 10**12), "weights of another architecture"),
        (_set("in_channels", -1), "in_channels must be a number of features"),
        (_set("in_channels", "60"), "in_channels must be a number of features"),
        (_set("classes", ["a"]), "weights of another architecture"),
        (_set("classes", "abc"), "classes must be a list of names"),
        (_set("classes", [1, 2, 3]), "classes must be a list of names"),
        (_set("feature_names", [1]), "feature_names must be a list of names"),
        (
            _set("treatment", {"scaling": "raw", "columns": [{"name": "a", "kind": "number", "scale": 0}]}),
            "scale",
        ),
        (_set("treatment", [1]), "treatment"),
        (_weights(lambda bias: bias * math.nan), r"'convs\.0\.bias' holds numbers that are not finite"),
        (_weights(lambda bias: bias.to(torch.int64)), r"'convs\.0\.bias' holds torch\.int64"),
        (_weights(lambda bias: bias[:-1]), "weights of another architecture"),
        (lambda tensors, _: tensors.pop("convs.0.bias"), "weights of another architecture"),
    ],
)
def test_a_model_that_was_changed_and_signed_again(finished: Path, change: Any, message: str) -> None:
    resign(finished, change)
    with pytest.raises(ValueError, match=message) as caught:
        load_run(finished)
    assert str(finished / "model.safetensors") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_winner_that_was_changed(data: Data, tmp_path: Path) -> None:
    config = AutoConfig(candidates=("gcn",), repeats=1, max_epochs=2)
    train_run(tmp_path / "auto", data, config, SOURCE)
    assert load_run(tmp_path / "auto").predict(data).labels.shape == (90,)
    whole = load_tensors(tmp_path / "auto" / "model.safetensors")[1]["chosen"]
    odd: list[Any] = [None, [1], {}, {**whole, "mode": "oracle"}, {**whole, "winner": "gat"}]
    odd += [{**whole, "candidates": 3}, {**whole, "candidates": [{}]}, {**whole, "state_width": "many"}]
    odd += [{**whole, "mode": "refit"}, {**whole, "state_width": 5}]
    for number, value in enumerate(odd):
        folder = Path(shutil.copytree(tmp_path / "auto", tmp_path / f"odd-{number}"))
        resign(folder, _set("chosen", value))
        with pytest.raises(ValueError, match=r"model\.safetensors: ") as caught:
            load_run(folder)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"[1]", b"3", b"[" * 100_000, b'{"a": "\xff"}'])
def test_a_summary_that_is_none(finished: Path, content: bytes) -> None:
    (finished / "summary.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"summary\.json: "):
        load_run(finished)


@pytest.mark.parametrize("name", ["mcn", "views"])
@pytest.mark.parametrize(
    "change",
    [
        lambda tensors, _: tensors.update({"adam.0.exp_avg": torch.zeros(2)}),
        lambda tensors, _: tensors.update({"adam.900.exp_avg": torch.zeros(2)}),
        lambda tensors, _: tensors.update({"adam.x.exp_avg": torch.zeros(2)}),
        lambda tensors, _: tensors.pop("adam.0.step"),
        lambda tensors, _: [tensors.pop(key) for key in list(tensors) if key.startswith("best.")],
        lambda _, state: state.pop("rule"),
        lambda _, state: state.update(epoch="x"),
        lambda _, state: state.update(rule=[]),
    ],
)
def test_a_checkpoint_that_was_changed_and_signed_again(name: str, change: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STORED / "interrupted" / name, tmp_path / name))
    tensors, state = load_tensors(folder / "last.safetensors")
    change(tensors, state)
    save_tensors(folder / "last.safetensors", tensors, state)
    with pytest.raises(ValueError, match=r"last\.safetensors: not a checkpoint of this run"):
        train_run(folder, load_dataset("karate"), CONFIGS[name], KARATE, resume=True)


def test_the_log_of_epochs_may_be_damaged(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STORED / "interrupted" / "mcn", tmp_path / "mcn"))
    (folder / "metrics.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"metrics\.jsonl: not a log of epochs"):
        train_run(folder, load_dataset("karate"), CONFIGS["mcn"], KARATE, resume=True)
