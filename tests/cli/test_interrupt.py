"""Verbs that a signal ends in the middle; `mcn train` is gone on with."""

import json
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mcn.cli.main import go_on
from mcn.data import load_dataset
from mcn.train import train
from tests.cli.conftest import FILES, Run, ended, start
from tests.configs import AutoConfig, MCNConfig, ViewsConfig


@pytest.mark.parametrize(
    ("words", "again"),
    [
        ("train --lr 1", "mcn train --lr 1 --out runs/a --resume"),
        ("train --out x --resume", "mcn train --out x --resume"),
        ("train --out=x", "mcn train --out=x --resume"),
    ],
)
def test_the_command_to_go_on(words: str, again: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["mcn", *words.split()])
    assert go_on(Path("runs/a")) == f"go on with: {again}"


class Whole(NamedTuple):
    """A run that nothing disturbed: the words that ask for it, its folder, its epochs."""

    words: list[str]
    folder: Path
    epochs: int


# Long enough for a checkpoint, which is made after a second, and to be ended twice soon after it.
EPOCHS = {"mcn": 800, "views": 300, "auto": 1500}
CANDIDATES = ["mlp", "gcn", "triangle"]


# That the other recipes resume with the same bits is tested with their trainers, in every run of the tests.
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("views", "auto")]


@pytest.fixture(scope="module", params=["mcn", *SLOW])
def undisturbed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A run on karate, made in this process."""
    epochs = EPOCHS[request.param]
    each = epochs // len(CANDIDATES) if request.param == "auto" else epochs
    kind = {"mcn": MCNConfig, "views": ViewsConfig, "auto": AutoConfig}[request.param]
    own: dict[str, Any] = {"candidates": CANDIDATES, "repeats": 1} if request.param == "auto" else {}
    config = kind(max_epochs=each, patience=each, **own)
    folder = tmp_path_factory.mktemp("whole") / "run"
    source = {"dataset": "karate", "graph": None, "nodes": None}
    train(load_dataset("karate"), config, folder, source=source)
    words = ["train", "--dataset", "karate", "--recipe", request.param]
    if request.param == "auto":
        words += ["--candidates", ",".join(CANDIDATES), "--set", "repeats=1"]
    return Whole([*words, "--max-epochs", str(each), "--patience", str(each)], folder, epochs)


def test_ended_and_resumed(undisturbed: Whole, here: Path, mcn: Run) -> None:
    """A real process is interrupted and the one that goes on killed; the last ends with the same files."""
    folder = here / "runs" / "karate"
    again = [*undisturbed.words, "--out", "runs/karate", "--resume"]

    process = start(*undisturbed.words)
    wait_until((folder / "last.safetensors").exists, process)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, out) == (130, "")
    (said,) = without_progress(err)
    prefix = "mcn: interrupted; go on with: mcn "
    assert said.startswith(prefix)
    assert shlex.split(said.removeprefix(prefix)) == again
    assert not (folder / "summary.json").exists()
    cut = epochs_of(folder)
    assert 0 < cut < undisturbed.epochs

    saved = (folder / "last.safetensors").stat().st_mtime_ns
    process = start(*again)
    checkpoint = folder / "last.safetensors"
    wait_until(lambda: epochs_of(folder) > cut or checkpoint.stat().st_mtime_ns > saved, process)
    process.kill()
    code, out, err = ended(process)
    assert (code, out, without_progress(err)) == (-signal.SIGKILL, "", [])
    assert not (folder / "summary.json").exists()
    assert 0 < epochs_of(folder) < undisturbed.epochs

    done = mcn(*again)
    assert done.code == 0, done
    same_run(folder, undisturbed.folder)


@pytest.mark.parametrize("verb", ["train", "pack"])
def test_ended_by_sigterm(verb: str, here: Path) -> None:
    """Exit code 143, one line, nothing half-made; a packing leaves nothing, a run what it goes on from."""
    Path("edges.csv").write_text("".join(f"n{i},n{i * i % 99_991}\n" for i in range(500_000)))
    words = {
        "train": "train --dataset karate --recipe mcn --max-epochs 99999 --patience 99999 --out run",
        "pack": "pack edges.csv --out graph",
    }[verb]
    begun = Path("run/last.safetensors" if verb == "train" else "graph/.packing")
    process = start(*words.split())
    wait_until(begun.exists, process)
    process.terminate()
    code, out, err = ended(process)
    said = {"train": f"mcn: interrupted; go on with: mcn {words} --resume", "pack": "mcn: interrupted"}[verb]
    assert (code, out, without_progress(err)) == (143, "", [said])
    left = {path.name for path in here.rglob("*") if path.is_file()}
    run = {"config.yaml", "metrics.jsonl", "last.safetensors", "best.safetensors"}
    assert left <= {"edges.csv"} | (run if verb == "train" else set())


def without_progress(err: str) -> list[str]:
    """The lines of standard error, but for those that a slow machine gets on how far it is."""
    return [line for line in err.splitlines() if not line.startswith(("mcn: training: ", "mcn: compiling "))]


def epochs_of(folder: Path) -> int:
    return len((folder / "metrics.jsonl").read_text().splitlines())


def wait_until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 600
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "not after ten minutes"
        time.sleep(0.02)


def same_run(first: Path, second: Path) -> None:
    """Every file is the same, save for the time taken, which the summary and the report tell."""
    assert sorted(path.name for path in first.iterdir()) == FILES
    for name in FILES:
        if name not in ("summary.json", "report.html"):
            assert (first / name).read_bytes() == (second / name).read_bytes(), name
    one, two = (json.loads((folder / "summary.json").read_text()) for folder in (first, second))
    assert timeless(one) == timeless(two)


def timeless(value: Any) -> Any:
    """A summary without the seconds taken, wherever they stand, and without the checksum over them."""
    if isinstance(value, dict):
        kept = {name: each for name, each in value.items() if "seconds" not in name and name != "sha256"}
        return {name: timeless(each) for name, each in kept.items()}
    return [timeless(each) for each in value] if isinstance(value, list) else value
