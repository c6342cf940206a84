"""Several processes: the weights of one with the larger batch, one that writes, one that is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from mcn.train.checkpoint import load_tensors

SETTINGS = [
    "--recipe",
    "mcn",
    "--attention",
    "gated",
    "--hidden",
    "4",
    "--heads",
    "2",
    "--neighbours",
    "3,2",
    "--set",
    "consistency=0",
]


def command(folder: Path, processes: int, batch: int, *more: str) -> list[str]:
    start = [sys.executable, "-m"]
    if processes > 1:
        start += ["torch.distributed.run", "--nproc-per-node", str(processes), "--standalone", "-m"]
    words = ["mcn", "train", "--dataset", "karate", *SETTINGS, "--batch-size", str(batch)]
    return [*start, *words, "--out", str(folder), "--no-report", "--beside", "none", *more]


def run(*words: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return subprocess.run(
        command(*words), capture_output=True, text=True, timeout=300, env=environment, check=False, **more
    )


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_tensors(folder / "model.safetensors")[0]


def test_two_processes_are_one_with_twice_the_batch(tmp_path: Path) -> None:
    two = run(tmp_path / "two", 2, 2, "--max-epochs", "3", "--json")
    assert two.returncode == 0, two.stderr
    assert json.loads(two.stdout)["recipe"] == "mcn"  # one process printed
    one = run(tmp_path / "one", 1, 4, "--max-epochs", "3", "--json")
    assert one.returncode == 0, one.stderr
    for name, value in weights(tmp_path / "one").items():
        torch.testing.assert_close(weights(tmp_path / "two")[name], value, rtol=1e-5, atol=1e-5, msg=name)
    lines = [(tmp_path / name / "metrics.jsonl").read_text().splitlines() for name in ("one", "two")]
    for first, second in zip(*lines, strict=True):
        assert json.loads(first) == pytest.approx(json.loads(second), abs=1e-5)


def test_one_line_where_there_is_nothing_to_share(tmp_path: Path) -> None:
    words = command(tmp_path / "run", 2, 2)
    at = words.index("--batch-size")
    del words[at : at + 2]
    found = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode != 0
    assert found.stderr.count("mcn: several processes share mini-batches: give --batch-size") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_killed_process_ends_the_run_in_one_line_and_another_number_goes_on(tmp_path: Path) -> None:
    folder, metrics = tmp_path / "run", tmp_path / "run" / "metrics.jsonl"
    words = command(folder, 2, 2, "--max-epochs", "3000", "--patience", "3000")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        end = time.monotonic() + 120
        while time.monotonic() < end and not (folder / "last.safetensors").exists():
            time.sleep(0.1)
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        ranks = {_environment(int(child)).get("RANK"): int(child) for child in children}
        os.kill(ranks["1"], signal.SIGKILL)
        _, errors = started.communicate(timeout=120)
    assert started.returncode != 0
    assert errors.count("mcn: a process of the run was lost; go on with: torchrun --nproc-per-node 2") == 1
    done = len(metrics.read_text().splitlines())
    assert done > 0
    again = run(folder, 1, 2, "--max-epochs", "3000", "--patience", "3000", "--resume", "--json")
    assert again.returncode == 0, again.stderr
    assert len(metrics.read_text().splitlines()) >= done


def _environment(pid: int) -> dict[str, str]:
    words = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)
