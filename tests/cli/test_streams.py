"""Output that is closed, full, of another encoding or a terminal, and Ctrl-C pressed twice."""

import os
import pty
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, QUICK, Run, ended, printed, start

ESCAPE = "a\x1b[2Jö"


@pytest.fixture
def run(mcn: Run, tmp_path: Path) -> Path:
    """A run on a graph with an escape character and an umlaut in an id."""
    ids = [ESCAPE, *map(str, range(12))]
    (tmp_path / "e.csv").write_text("".join(f"{u},{v}\n" for u, v in pairwise(ids)))
    rows = "".join(f"{name},{'ab'[row % 2]},{row}\n" for row, name in enumerate(ids))
    (tmp_path / "n.csv").write_text("id,label,x\n" + rows)
    files = ("--graph", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--out", tmp_path / "run")
    printed(mcn("train", *files, "--recipe", "mcn", "--no-report", *QUICK))
    return tmp_path / "run"


VERBS = {
    "check": "--dataset karate",
    "train": "--dataset karate",
    "predict": "RUN",
    "view": "RUN",
    "compare": "--dataset karate",
    "reproduce": "figure1",
    "search": "--dataset karate",
    "motifs": "--dataset karate",
    "pack": "e.csv --out g",
    "datasets": "",
    "--help": "",
    "--version": "",
}


@pytest.mark.parametrize("verb", VERBS)
def test_closed_output_is_refused_before_work(verb: str, tmp_path: Path) -> None:
    words = f"exec {COMMAND} {verb} {VERBS[verb]} >&-"
    done = subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "mcn: standard output is closed; send it to a file or to /dev/null\n",
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_predictions_for_a_full_disk_another_encoding_and_a_terminal(run: Path) -> None:
    full = subprocess.run(
        ["sh", "-c", f"exec {COMMAND} predict {run} >/dev/full"], capture_output=True, text=True, check=False
    )
    assert (full.returncode, full.stderr) == (1, "mcn: standard output: No space left on device\n")
    ascii_only = ended(start("predict", run, env={**os.environ, "PYTHONIOENCODING": "ascii"}))
    assert ascii_only.code == 0, ascii_only.err
    assert "a\x1b[2J\\xf6," in ascii_only.out
    assert f"{ESCAPE}," in ended(start("predict", run, env={**os.environ, "PYTHONIOENCODING": "utf-8"})).out
    reader, terminal = pty.openpty()
    with subprocess.Popen([COMMAND, "predict", run], stdout=terminal, stderr=subprocess.PIPE):
        os.close(terminal)
        shown = b""
        while part := _read(reader):
            shown += part
    assert b"\x1b[2J" not in shown
    assert b"a\\x1b[2J" in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 2**16)
    except OSError:  # the other end is closed
        return b""


def test_ctrl_c_twice_ends_quietly() -> None:
    """A verb that takes long to tidy up is ended at once by the second one."""
    program = (
        "import signal, time, sys; from mcn.cli import main; from mcn.data import datasets\n"
        "def slow(*_):\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "    finally:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "        time.sleep(60)\n"
        "datasets.places = slow; sys.argv[1:] = ['datasets']; sys.exit(main.main())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGINT, "", "")
