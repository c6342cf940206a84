"""Running `mcn`: in this process, or as a user's shell would."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import random_graphs

from mcn.cli.main import main
from mcn.train.folder import SUMMARY

COMMAND = Path(sys.executable).parent / "mcn"
QUICK = ["--max-epochs", "3", "--hidden", "4", "--heads", "2"]
FILES = ["config.yaml", "metrics.jsonl", "model.safetensors", "predictions.csv", "report.html", SUMMARY]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def mcn(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""

    def run(*arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return run


def start(*words: object, **options: Any) -> subprocess.Popen[str]:
    """Start the installed command in a process of its own."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([COMMAND, *map(str, words)], **pipes, **options)


def ended(process: subprocess.Popen[str]) -> Outcome:
    """Wait for a process to end."""
    out, err = process.communicate(timeout=120)
    return Outcome(process.returncode, out, err)


def write_graph(folder: Path, labels: str = "red,blue", split: bool = False) -> tuple[Path, Path]:
    """Two wheels of 12 nodes with string ids; without a split column, one is drawn."""
    folder.mkdir(exist_ok=True)
    names = labels.split(",")
    rim = [(i, (i + 1) % 11) for i in range(11)] + [(i, 11) for i in range(11)]
    edges = [f"{c}{u},{c}{v}" for c in "ab" for u, v in rim] + ["a0,b0"]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    part = ["train", "train", "val", "val", "test", "test"] * 2
    lines = ["id,label,split,size,age" if split else "id,label,size,age"]
    for place, c in enumerate("ab"):
        for i in range(12):
            known = [names[place % len(names)], *([part[i]] if split else [])]
            lines.append(",".join([f"{c}{i}", *known, str(i + 1), str(50 - place)]))
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n")
    return folder / "edges.csv", folder / "nodes.csv"


@pytest.fixture
def run_folder(mcn: Run, tmp_path: Path) -> Path:
    """A run of MCN on two files, without a report."""
    edges, nodes = write_graph(tmp_path, split=True)
    words = ["--graph", edges, "--nodes", nodes, "--recipe", "mcn", *QUICK]
    printed(mcn("train", *words, "--out", tmp_path / "run", "--no-report"))
    assert not (tmp_path / "run" / "report.html").exists()
    return tmp_path / "run"


def random_files(folder: Path) -> tuple[Path, Path]:
    """Edges and nodes of a graph of 60 nodes with two classes, to be packed."""
    edges = random_graphs.powerlaw_cluster(60, 4, 0.6, seed=1)
    rng = np.random.default_rng(0)
    rows = [f"n{i},{'ab'[i % 2]},{rng.normal() + 2 * (i % 2):.3f}" for i in range(60)]
    (folder / "edges.csv").write_text("".join(f"n{u},n{v}\n" for u, v in edges.T))
    (folder / "nodes.csv").write_text("\n".join(["id,label,size", *rows]))
    return folder / "edges.csv", folder / "nodes.csv"


def printed(outcome: Outcome) -> str:
    """The output of a command that went well: exit code 0, nothing on standard error."""
    assert (outcome.code, outcome.err) == (0, ""), outcome
    return outcome.out


def answered(outcome: Outcome) -> Any:
    """What a command that went well printed with `--json`."""
    return json.loads(printed(outcome))


def refused(outcome: Outcome) -> str:
    """The message of a refusal: exit code 2, one line on standard error, nothing on standard output."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("mcn: ")
    assert outcome.err.endswith("\n")
    assert outcome.err.count("\n") == 1
    return outcome.err.removeprefix("mcn: ").rstrip()
