from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from mcn.train import Epoch, TensorBoard, fit
from mcn.train.callbacks import Checkpoints, Fraction, JSONLines
from mcn.train.checkpoint import load_tensors
from tests.train.graphs import new_trainer, same_tensors, small_config, small_graph


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text("something old\n")
    trainer = new_trainer(small_graph(), small_config(max_epochs=4))
    seen: list[Epoch] = []
    fit(trainer, [JSONLines(path), lambda _trainer, epoch: seen.append(epoch)])
    assert [Epoch(**json.loads(line)) for line in path.read_text().splitlines()] == seen


def test_lines_past_the_checkpoint_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"epoch": 1}\n{"epoch": 2}\n{"epoch": 3}\n{"epo')  # killed while writing
    JSONLines(path, after_epoch=2)
    assert path.read_text() == '{"epoch": 1}\n{"epoch": 2}\n'


def test_lines_that_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with pytest.raises(ValueError, match="0 lines, but the checkpoint beside it is of epoch 2"):
        JSONLines(path, after_epoch=2)
    path.write_text('{"epoch": 1}\n')
    with pytest.raises(ValueError, match="1 lines, but the checkpoint beside it is of epoch 2"):
        JSONLines(path, after_epoch=2)


def test_checkpoints(tmp_path: Path) -> None:
    path = tmp_path / "last.safetensors"
    trainer = new_trainer(small_graph(), small_config(max_epochs=3))
    rare, often = Checkpoints(path, every=3600.0), Checkpoints(tmp_path / "often", every=0.0)
    there: list[bool] = []
    fit(trainer, [rare, often, lambda _trainer, epoch: there.append(path.exists())])
    assert there == [False, False, True]  # too early, too early, the end
    tensors, state = load_tensors(path)
    assert state["epoch"] == 3
    assert state["stopped"] is True
    assert same_tensors(tensors, load_tensors(tmp_path / "often")[0])


def test_the_fraction_of_a_run() -> None:
    told: list[float] = []
    trainer = new_trainer(small_graph(), small_config(max_epochs=5, patience=1000))
    fit(trainer, [Fraction(told.append)])
    assert told == [0.2, 0.4, 0.6, 0.8, 1.0]
    told.clear()
    impatient = new_trainer(
        small_graph(), small_config(max_epochs=10_000, patience=4, stopping="loss", lr=0.1)
    )
    fit(impatient, [Fraction(told.append)])
    assert told[-4:] == [0.25, 0.5, 0.75, 1.0]


def test_tensorboard(tmp_path: Path) -> None:
    if importlib.util.find_spec("tensorboard") is None:
        with pytest.raises(ValueError, match="TensorBoard is not installed: pip install tensorboard"):
            TensorBoard(tmp_path)
        return
    fit(new_trainer(small_graph(), small_config(max_epochs=2)), [TensorBoard(tmp_path)])
    assert [path for path in tmp_path.iterdir() if path.name.startswith("events")]
