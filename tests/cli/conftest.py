"""Running `mcn`: in this process, or as a user's shell would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from mcn.cli.main import main

COMMAND = Path(sys.executable).parent / "mcn"


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def no_lines_about_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine a short command could take long enough to get one."""
    monkeypatch.setattr("mcn.cli._terminal.FIRST", 1e6)


@pytest.fixture
def mcn(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""

    def run(*arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def shell() -> Run:
    """Run the installed command in a process of its own."""

    def run(*arguments: object) -> Outcome:
        done = subprocess.run(
            [COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


def refused(outcome: Outcome) -> str:
    """The message of a refusal: exit code 2, one line on standard error, nothing on standard output."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("mcn: ")
    assert outcome.err.endswith("\n")
    assert outcome.err.count("\n") == 1
    return outcome.err.removeprefix("mcn: ").rstrip()
