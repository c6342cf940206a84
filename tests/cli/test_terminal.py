"""How far the work is and what is compiled, on a terminal only; `mcn warm`, after which nothing is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from mcn.cli import _terminal
from mcn.cli._terminal import compile_notice, progress_bar
from tests.cli.conftest import Run, answered, printed


def count_to_four(fails: bool = False) -> None:
    with progress_bar("counting") as report:
        for step in range(5):
            report(step / 4)
        if fails:
            raise ValueError("broken")


@pytest.mark.parametrize(("terminal", "patience"), [(True, 0.0), (False, 0.0), (True, 60.0)])
def test_a_bar_for_long_work_on_a_terminal_only(
    terminal: bool, patience: float, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes away also when the work fails."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr(_terminal, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    count_to_four()
    out, err = capsys.readouterr()
    assert out == ""
    assert ("counting" in err) == (terminal and patience == 0)
    if "counting" not in err:
        assert err == ""
        return
    with pytest.raises(ValueError, match="broken"):
        count_to_four(fails=True)
    err = capsys.readouterr().err
    hidden, shown = "\x1b[?25l", "\x1b[?25h"  # the cursor
    assert err.rindex(shown) > err.rindex(hidden)


@pytest.mark.parametrize(("terminal", "expected"), [(True, 1), (False, 0)])
def test_said_once_and_only_on_a_terminal(
    terminal: bool, expected: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    double, triple = numba.njit(lambda x: 2 * x), numba.njit(lambda x: 3 * x)
    with compile_notice(clock=lambda: 0.0):
        assert (double(2), double(4), triple(2)) == (4, 8, 6)
    assert capsys.readouterr().err.count("mcn: compiling kernels, once") == expected


def test_compiled_already(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    double = numba.njit(lambda x: 2 * x)
    double(1)
    with compile_notice():
        double(3)
    numba.njit(lambda x: x + 1)(1)  # after it
    assert capsys.readouterr().err == ""


def test_a_compilation_within_another_counts_once() -> None:
    """Every look at this clock is 4 s after the one before."""
    times = iter(range(0, 1000, 4))
    inner = numba.njit(lambda x: x + 1)
    kernels = [numba.njit(lambda x: x + 2), numba.njit(lambda x: inner(x) + 3)]
    with compile_notice(clock=lambda: float(next(times))) as compiled:
        assert [kernel(1) for kernel in kernels] == [3, 5]
    assert (compiled.kernels, compiled.taken) == (2, 8.0)


# Only the counting half: compiling the training half takes a minute.
COUNT_TWICE = """
import sys
from mcn.cli import warm
from mcn.cli.main import main
warm._train = lambda folder: None
sys.exit(main(["warm", "--json"]))
"""


def counted(cache: Path) -> dict[str, object]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", COUNT_TWICE], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_second_time_there_is_nothing_to_compile(tmp_path: Path) -> None:
    cache = tmp_path / "kernels"
    first = counted(cache)
    assert first["kernels"] > 10
    assert first["seconds"] > 0
    assert Path(str(first["kept"])) == cache
    assert list(cache.rglob("*.nbi"))
    assert counted(cache) | {"kept": None} == {"kernels": 0, "seconds": 0.0, "kept": None}


def test_it_counts_and_trains(mcn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here most kernels are compiled already; whatever is new takes some time, and the cache is named."""
    monkeypatch.chdir(tmp_path)
    told = answered(mcn("warm", "--json"))
    assert (told["kernels"] > 0) == (told["seconds"] > 0)
    assert told["kept"] is None or Path(told["kept"]).is_dir()
    assert list(tmp_path.iterdir()) == []
    again = printed(mcn("warm"))  # in the same process, so all of it is there
    assert again.startswith("nothing to compile: all kernels are in ")
