"""Training by Ray Train: the weights of one process, workers that are replaced, errors in one line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from mcn.train.seeds import train_seeds

import mcn
from mcn._ray import ClusterError
from mcn.motifs import count_motifs
from mcn.train import MCNConfig
from mcn.train.checkpoint import load_tensors
from mcn.train.on_ray import SCRATCH, _raise_noted, _words, train_on_ray
from mcn.train.run import train_run
from tests.clusters import said_without_the_package
from tests.train.test_run import Stop, stop_after

pytest.importorskip("ray", reason="Ray is not installed (pip install 'mcn[cluster]')", exc_type=ImportError)
pytest.importorskip("pandas", reason="Ray Train is not installed (pip install 'mcn[cluster]')")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of which there are many

MARK = f"MCN_TEST_MARK={uuid.uuid4()}"
SOURCE: dict[str, Any] = {"dataset": "karate", "graph": None, "nodes": None}


@pytest.fixture(scope="module")
def connected() -> Iterator[None]:
    """A cluster on this machine with two CPUs, whose workers stand as high as this process."""
    name, _, value = MARK.partition("=")
    os.environ[name] = value  # its processes are known by it
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # else they wait for every other test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray

        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=80 << 20,
        )
        try:
            yield
        finally:
            ray.shutdown()
            del os.environ[name]


def settings(**more: Any) -> MCNConfig:
    few: dict[str, Any] = {"attention": "gated", "hidden": 4, "heads": 2, "neighbours": (3, 2)}
    return MCNConfig(**{**few, "consistency": 0.0, "batch_size": 2, "max_epochs": 3, **more})


def on_ray(folder: Path, config: MCNConfig, workers: int = 2, data: Any = None) -> Any:
    data = mcn.load_dataset("karate") if data is None else data
    counts = None if isinstance(data, mcn.GraphStore) else count_motifs(data.edge_index, data.num_nodes)
    return train_on_ray(folder, [folder], [7], data, config, SOURCE, workers=workers, counts=counts)


def epochs(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.usefixtures("connected")
def test_two_workers_are_one_process_with_twice_the_batch(tmp_path: Path) -> None:
    two, one = tmp_path / "two", tmp_path / "one"
    run = on_ray(two, settings())[0]
    train_seeds([one], [7], mcn.load_dataset("karate"), settings(batch_size=4), SOURCE)
    for name, value in load_tensors(one / "model.safetensors")[0].items():
        torch.testing.assert_close(run.model.state_dict()[name], value, rtol=1e-5, atol=1e-5, msg=name)
    assert len(epochs(two)) == 3
    for first, second in zip(epochs(one), epochs(two), strict=True):
        assert first == pytest.approx(second, abs=1e-5)
    assert not (two / SCRATCH).exists()
    assert run.config.seed == 7


@pytest.mark.slow
@pytest.mark.usefixtures("connected")
def test_more_workers_than_the_cluster_has_cpus(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"--workers 3: the cluster has 2 CPUs, and each worker takes one"):
        on_ray(tmp_path / "run", settings(), workers=3)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("connected")
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
def test_a_killed_worker_is_replaced_and_one_process_can_go_on_as_well(tmp_path: Path) -> None:
    folder, copied, killed = tmp_path / "run", tmp_path / "copied", threading.Event()

    def kill_one() -> None:
        end = time.monotonic() + 300
        while time.monotonic() < end:
            if (folder / "last.safetensors").exists():
                shutil.copytree(folder, copied, ignore=shutil.ignore_patterns(SCRATCH, ".*"))
                os.kill(_workers()[0], signal.SIGKILL)
                killed.set()
                return
            time.sleep(0.05)

    thread = threading.Thread(target=kill_one)
    thread.start()
    run = on_ray(folder, settings(max_epochs=1500, patience=1500))[0]
    thread.join()
    assert killed.is_set()
    assert [each["epoch"] for each in epochs(folder)] == list(range(1, 1501))
    assert run.summary["epochs"] == 1500
    assert sorted(path.name for path in folder.iterdir() if path.name != ".lock") == [
        "config.yaml",
        "metrics.jsonl",
        "model.safetensors",
        "predictions.csv",
        "summary.json",
    ]
    begun = len(epochs(copied))
    assert 0 < begun < 1500
    config = settings(max_epochs=1500, patience=1500)
    (again,) = train_seeds([copied], [7], mcn.load_dataset("karate"), config, SOURCE, resume=True)
    assert [each["epoch"] for each in epochs(copied)] == list(range(1, 1501))
    assert again.summary["epochs"] == 1500


@pytest.mark.slow
@pytest.mark.usefixtures("connected")
def test_workers_go_on_where_one_process_was_ended(tmp_path: Path) -> None:
    folder, data = tmp_path / "run", mcn.load_dataset("karate")
    stop = stop_after(5)
    stop.folder = folder
    with pytest.raises(Stop):
        train_run(folder, data, settings(max_epochs=12, seed=7), SOURCE, callbacks=(stop,))
    before = epochs(folder)[:5]
    run = on_ray(folder, settings(max_epochs=12))[0]
    assert epochs(folder)[:5] == before
    assert [each["epoch"] for each in epochs(folder)] == list(range(1, 13))
    assert run.summary["epochs"] == 12


@pytest.mark.slow
@pytest.mark.usefixtures("connected")
def test_what_training_raises_is_raised_here_and_not_tried_again(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lower the learning rate") as error:
        on_ray(tmp_path / "run", settings(lr=1e30, max_epochs=50))
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run" / SCRATCH).exists()


@pytest.mark.slow
def test_a_worker_without_the_package_is_one_line(tmp_path: Path) -> None:
    words = ["train", "--dataset", "karate", "--recipe", "mcn", "--attention", "gated", "--engine", "ray"]
    words += ["--batch-size", "2", "--no-report", "--beside", "none", "--out", str(tmp_path / "run")]
    assert said_without_the_package(tmp_path, *words) == [
        "mcn: a worker of the cluster has no mcn: every machine needs mcn installed"
    ]


def test_what_ray_train_gives_up_for_is_said_in_one_line(tmp_path: Path) -> None:
    class Lost(Exception):
        worker_failures = {1: RuntimeError("a\nb"), 0: RuntimeError()}  # noqa: RUF012

    assert _words(Lost("x\ny")) == "workers of the run were lost 4 times, at last number 0, 1 (RuntimeError)"
    assert _words(Exception("first\n  last \n")) == "Ray Train could not start the workers (last)"
    _raise_noted(tmp_path / "none.json")
    for kind, expected in {
        "value": ValueError,
        "file": OSError,
        "memory": MemoryError,
        "x": ClusterError,
    }.items():
        (tmp_path / "note.json").write_text(json.dumps({"kind": kind, "text": "why"}))
        with pytest.raises(expected, match=r"^why$"):
            _raise_noted(tmp_path / "note.json")


def _workers() -> list[int]:
    """The processes of this module's cluster that train."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                title = (process / "cmdline").read_bytes()
                own = MARK.encode() in (process / "environ").read_bytes()
            except OSError:
                continue
            if own and title.startswith(b"ray::RayTrainWorker"):
                found.append(int(process.name))
    return sorted(found)
