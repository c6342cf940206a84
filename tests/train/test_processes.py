"""Where a network is trained: without kernels, on another device, by several processes, by Ray."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import mcn
from graphmotifs._ray import ClusterError
from mcn.motifs import count_motifs
from mcn.nn import ops
from mcn.train import load_run, train
from mcn.train.loop import Scores
from mcn.train.on_ray import SCRATCH, _raise_noted, _words, train_on_ray
from tests.conftest import python, refuses
from tests.train.graphs import new_trainer, settings, small_graph, train_until_killed

NETWORKS: dict[str, dict[str, Any]] = {
    "gated": {"attention": "gated", "steps": 2},
    "paper, learned value": {"attention": "paper", "advantage": "learned", "psi": "transition"},
    "agreeing": {"attention": "gated", "consistency": 1.0},
    "gat": {"attention": "gated", "motifs": ("edge",), "class_weight": "balanced"},
    "gcn": {"attention": "gated", "motifs": ("edge",), "self_attention": False, "motif_attention": False},
    "gcn that chooses": {"attention": "gated", "self_attention": False},
    "own weights": {"attention": "gated", "self_weights": True, "norm": "layer", "residual": True},
}
SAMPLED = {"batch_size": 7, "neighbours": (3,)}
VIEWS = {"hidden": 4, "walk_length": 2, "steps_per_epoch": 3, "motifs": ("edge",)}


def network(name: str, **more: Any) -> Any:
    return settings("mcn", **{"hidden": 4, "heads": 2, **NETWORKS[name], **more})


@pytest.mark.parametrize(
    "config",
    [
        *(pytest.param(network(name), id=name) for name in NETWORKS),
        *(
            pytest.param(network(name, **SAMPLED), id=f"{name}, sampled")
            for name in NETWORKS
            if name not in ("agreeing", "own weights")  # which mini-batches do not have
        ),
        pytest.param(settings("views", **VIEWS), id="views"),
        pytest.param(settings("views", **VIEWS, full_batch=True), id="views, whole"),
    ],
)
def test_the_plain_path_trains_as_the_kernels_do(config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for fused in (True, False):
        trainer = new_trainer(small_graph(), config)
        if not fused:
            monkeypatch.setattr(ops, "fused", lambda _x: False)
        found.append((trainer.run_epoch(), trainer.model.state_dict()))
    assert found[0][0][:7] == pytest.approx(found[1][0][:7], abs=1e-5)
    for key, value in found[0][1].items():
        torch.testing.assert_close(found[1][1][key], value, atol=1e-5, rtol=1e-5, msg=key)


WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "is_nonzero", "equal")


class Watch(TorchDispatchMode):
    """Counts what makes the host wait for the device "meta", and what goes from the host to it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, given = func.overloadpacket.__name__, [each for each in args if isinstance(each, torch.Tensor)]
        if name in WAITS and any(each.device.type == "meta" for each in given):
            self.seen[name] += 1
        out = func(*args, **(kwargs or {}))
        devices = {each.device.type for each in given}
        if name == "_to_copy" and devices == {"cpu"} and out.device.type != "cpu":
            self.seen[name] += 1
        return out


@pytest.mark.parametrize("name", NETWORKS)
def test_an_epoch_on_a_device_that_gives_nothing_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On torch's device without memory every fetch is an error, but for the log's numbers and the scores.

    From the second epoch on nothing is brought there either.
    """
    logged: list[torch.Tensor] = []
    for place in ("mcn.train.loop", "mcn.train.mcn.trainer"):
        monkeypatch.setattr(f"{place}.torch_device", lambda _name: torch.device("meta"))
    monkeypatch.setattr("mcn.train.mcn.trainer.host", lambda values: logged.append(values) or [1.0, 0.0])
    trainer = new_trainer(small_graph(), network(name))
    judged: list[torch.Tensor] = []

    def judge(logits: torch.Tensor) -> Scores:
        judged.append(logits)
        return Scores(1.0, 0.5, 0.5)

    monkeypatch.setattr(trainer, "_judge", judge)
    trainer.run_epoch()
    judged.clear()
    logged.clear()
    with Watch() as watch:
        trainer.run_epoch()
    assert (watch.seen, len(logged)) == ({}, 1)
    problem = trainer.problem
    wanted = ("meta", (len(problem.val), problem.num_classes))
    assert {(each.device.type, each.shape) for each in judged} == {wanted}
    assert len(judged) == (2 if trainer.config.gate and trainer.config.chooses else 1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_device_that_is_not_there() -> None:
    message = r"device cuda: PyTorch .* finds no CUDA device on this machine"
    refuses(message, new_trainer, small_graph(), network("gat", device="cuda"))


# Several processes of torchrun.

SHARED: dict[str, Any] = {"hidden": 4, "heads": 2, "neighbours": (3, 2), "batch_size": 2, "max_epochs": 3}
SOURCE: dict[str, Any] = {"dataset": "karate", "graph": None, "nodes": None}
_TRAIN = """
import json, sys, warnings
warnings.simplefilter("ignore")
import mcn
from mcn.train import RECIPES, train
from mcn.train.processes import joined
folder, settings = sys.argv[1], json.loads(sys.argv[2])
with joined() as team:
    train(mcn.load_dataset("karate"), RECIPES["mcn"].config(**settings), folder, resume=True)
sys.stdout.write(f"trained by {team.size}\\n")  # at once: two processes share the pipe
"""


def command(folder: Path, processes: int, **changes: Any) -> list[str]:
    script = folder.parent / "train.py"
    script.write_text(_TRAIN)
    several = ["-m", "torch.distributed.run", "--nproc-per-node", str(processes), "--standalone"]
    return [*(several if processes > 1 else []), str(script), str(folder), json.dumps(SHARED | changes)]


def run(*words: Any, **changes: Any) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    done = python(*command(*words, **changes), timeout=300, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def epochs(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def assert_same_run(first: Path, second: Path) -> None:
    """The same weights and scores but for the order of sums."""
    others = load_run(second).model.state_dict()
    for name, value in load_run(first).model.state_dict().items():
        torch.testing.assert_close(others[name], value, rtol=1e-5, atol=1e-5, msg=name)
    for one, other in zip(epochs(first), epochs(second), strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_two_processes_are_one_with_twice_the_batch(tmp_path: Path) -> None:
    assert run(tmp_path / "two", 2).splitlines() == ["trained by 2"] * 2
    train(mcn.load_dataset("karate"), settings("mcn", **SHARED | {"batch_size": 4}), tmp_path / "one")
    assert len(epochs(tmp_path / "two")) == 3
    assert_same_run(tmp_path / "one", tmp_path / "two")


@pytest.mark.slow
def test_a_killed_process_ends_the_run_and_another_number_goes_on(tmp_path: Path) -> None:
    folder, long = tmp_path / "run", {"max_epochs": 3000, "patience": 3000}
    words = [sys.executable, *command(folder, 2, **long)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as started:
        end = time.monotonic() + 120
        while time.monotonic() < end and not (folder / "last.safetensors").exists():
            time.sleep(0.1)
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        ranks = {environment(int(child)).get("RANK"): int(child) for child in children}
        os.kill(ranks["1"], signal.SIGKILL)
        started.communicate(timeout=120)
    assert started.returncode != 0
    done = len(epochs(folder))
    assert done > 0
    run(folder, 1, **long)
    assert [each["epoch"] for each in epochs(folder)] == list(range(1, 3001))
    assert done < 3000


def environment(pid: int) -> dict[str, str]:
    words = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


# Workers of Ray Train.

MARK = f"MCN_TEST_MARK={uuid.uuid4()}"


@pytest.fixture(scope="module")
def connected() -> Iterator[None]:
    """A cluster on this machine with two CPUs, whose workers stand as high as this process."""
    pytest.importorskip("pandas", reason="Ray Train is not installed (pip install 'mcn[cluster]')")
    name, _, value = MARK.partition("=")
    os.environ[name] = value  # its processes are known by it
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # else they wait for every other test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray = pytest.importorskip("ray", reason="Ray is not installed", exc_type=ImportError)
        few = {"include_dashboard": False, "log_to_driver": False, "object_store_memory": 80 << 20}
        ray.init(address="local", num_cpus=2, **few)
        try:
            yield
        finally:
            ray.shutdown()
            del os.environ[name]


def by_workers(folder: Path, workers: int = 2, **changes: Any) -> Any:
    data, config = mcn.load_dataset("karate"), settings("mcn", **SHARED | changes)
    counts = count_motifs(data.edge_index, data.num_nodes)
    (made,) = train_on_ray(data, config, {7: folder}, source=SOURCE, workers=workers, counts=counts)
    return made


def by_one(folder: Path, **changes: Any) -> Any:
    config = settings("mcn", **SHARED | {"seed": 7} | changes)
    return train(mcn.load_dataset("karate"), config, folder, source=SOURCE, resume=True)


@pytest.mark.slow
@pytest.mark.usefixtures("connected")
@pytest.mark.filterwarnings("ignore")  # Ray's own, of which there are many
class TestOnRay:
    def test_two_workers_are_one_process_with_twice_the_batch(self, tmp_path: Path) -> None:
        assert by_workers(tmp_path / "two").config.seed == 7
        by_one(tmp_path / "one", batch_size=4)
        assert len(epochs(tmp_path / "two")) == 3
        assert_same_run(tmp_path / "one", tmp_path / "two")
        assert not (tmp_path / "two" / SCRATCH).exists()

    def test_more_workers_than_the_cluster_has_cpus(self, tmp_path: Path) -> None:
        message = r"--workers 3: the cluster has 2 CPUs, and each worker takes one"
        refuses(message, by_workers, tmp_path / "run", workers=3)
        assert not (tmp_path / "run").exists()

    @pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
    def test_a_killed_worker_is_replaced_and_one_process_can_go_on_as_well(self, tmp_path: Path) -> None:
        folder, copied, killed = tmp_path / "run", tmp_path / "copied", threading.Event()
        long = {"max_epochs": 1500, "patience": 1500}

        def kill_one() -> None:
            end = time.monotonic() + 300
            while time.monotonic() < end:
                if (folder / "last.safetensors").exists():
                    shutil.copytree(folder, copied, ignore=shutil.ignore_patterns(SCRATCH, ".*"))
                    os.kill(ray_workers()[0], signal.SIGKILL)
                    killed.set()
                    return
                time.sleep(0.05)

        thread = threading.Thread(target=kill_one)
        thread.start()
        made = by_workers(folder, **long)
        thread.join()
        assert killed.is_set()
        assert sorted(path.name for path in folder.iterdir() if path.name != ".lock") == [
            *("config.yaml", "metrics.jsonl", "model.safetensors", "predictions.csv", "summary.json")
        ]
        assert 0 < len(epochs(copied)) < 1500
        for where, whole in ((folder, made), (copied, by_one(copied, **long))):
            assert [each["epoch"] for each in epochs(where)] == list(range(1, 1501))
            assert whole.summary["epochs"] == 1500

    def test_workers_go_on_where_one_process_was_ended(self, tmp_path: Path) -> None:
        folder, config = tmp_path / "run", settings("mcn", **SHARED | {"max_epochs": 12, "seed": 7})
        train_until_killed(mcn.load_dataset("karate"), config, folder, 5, source=SOURCE)
        before = epochs(folder)[:5]
        assert by_workers(folder, max_epochs=12).summary["epochs"] == 12
        assert epochs(folder)[:5] == before
        assert [each["epoch"] for each in epochs(folder)] == list(range(1, 13))

    def test_what_training_raises_is_raised_here_and_not_tried_again(self, tmp_path: Path) -> None:
        refuses("lower the learning rate", by_workers, tmp_path / "run", lr=1e30, max_epochs=50)
        assert not (tmp_path / "run" / SCRATCH).exists()


def test_what_ray_train_gives_up_for_is_said_in_one_line(tmp_path: Path) -> None:
    class Lost(Exception):
        worker_failures = {1: RuntimeError("a\nb"), 0: RuntimeError()}  # noqa: RUF012

    assert _words(Lost("x\ny")) == "workers of the run were lost 4 times, at last number 0, 1 (RuntimeError)"
    assert _words(Exception("first\n  last \n")) == "Ray Train could not start the workers (last)"
    assert _words(Exception("ModuleNotFoundError: No module named 'mcn.train'")) == (
        "a worker of the cluster has no mcn: every machine needs mcn installed"
    )
    _raise_noted(tmp_path / "none.json")
    kinds = {"value": ValueError, "file": OSError, "memory": MemoryError, "x": ClusterError}
    for kind, expected in kinds.items():
        (tmp_path / "note.json").write_text(json.dumps({"kind": kind, "text": "why"}))
        refuses(r"^why$", _raise_noted, tmp_path / "note.json", error=expected)


def ray_workers() -> list[int]:
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
