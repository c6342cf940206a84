"""`mcn train --engine`: what is refused before anything starts, and how many processes there will be."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcn._ray import ClusterError
from mcn.cli import _training
from tests.cli.conftest import Run, refused
from tests.configs import MCNConfig

TRAIN = ("train", "--dataset", "karate", "--recipe", "mcn", "--beside", "none")


def test_torchrun_and_ray_do_not_go_together(
    mcn: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "0")
    said = refused(mcn(*TRAIN, "--engine", "ray", "--batch-size", "4", "--out", tmp_path / "run"))
    assert "leave out torchrun, give --workers" in said


def test_processes_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    batches, whole = MCNConfig(batch_size=4), MCNConfig()
    assert _training.processes_on("ray", 3, None, batches) == 3
    assert _training.processes_on("ray", 1, "auto", whole) == 1  # one has nothing to share, and needs not
    assert _training.processes_on("local", 2, None, whole) == 1
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert _training.processes_on("local", 5, None, batches) == 2


@pytest.mark.parametrize("begun", [False, True])
def test_a_lost_cluster_says_how_to_go_on_with_a_run_that_was_begun(
    begun: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> None:
        raise ClusterError("workers were lost")

    monkeypatch.setattr("mcn.train.on_ray.train_on_ray", lost)
    monkeypatch.setattr("sys.argv", ["mcn", "train", "--engine", "ray"])
    if begun:
        (tmp_path / "config.yaml").touch()
    with pytest.raises(ClusterError) as error:
        _training.train_on_cluster(tmp_path, None, MCNConfig(), {0: tmp_path})  # type: ignore[arg-type]
    after = f"; go on with: mcn train --engine ray --out {tmp_path} --resume" if begun else ""
    assert str(error.value) == f"workers were lost{after}"
