"""How far the work is, and what is compiled: a bar or a notice on a terminal, lines in a log."""

from __future__ import annotations

import sys
import threading

import numba
import pytest

from mcn.cli import _terminal
from mcn.cli._terminal import Intervals, LogLines, compile_notice, progress_bar


def _run(terminal: bool, patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr(_terminal, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("counting") as report:
        for step in range(5):
            report(step / 4)


def test_a_bar_for_long_work_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(True, 0.0, monkeypatch)
    out, err = capsys.readouterr()
    assert out == ""
    assert "counting" in err


@pytest.mark.parametrize(("terminal", "patience"), [(False, 0.0), (True, 60.0)])
def test_quiet_off_a_terminal_and_for_short_work(
    terminal: bool, patience: float, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(terminal, patience, monkeypatch)
    assert capsys.readouterr() == ("", "")


def test_the_bar_goes_away_when_the_work_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(_terminal, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")

    def fail() -> None:
        with progress_bar("counting") as report:
            report(0.5)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    err = capsys.readouterr().err
    hidden, shown = "\x1b[?25l", "\x1b[?25h"  # the cursor
    assert err.rindex(shown) > err.rindex(hidden)


class Clock:
    """A time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_intervals_grow() -> None:
    intervals = Intervals(first=10, longest=120)
    assert [second for second in range(600) if intervals.due(second)] == [10, 30, 70, 150, 270, 390, 510]


def test_lines_of_a_log() -> None:
    clock = Clock()
    lines = LogLines("training", Intervals(10, 120), clock)
    said = []
    for second in range(200):
        clock.now = 1000.0 + second
        if second >= 20:
            lines.report((second - 20) / 400)
        said += [line] if (line := lines.line()) else []
    assert said == [
        "mcn: training: 10 s so far",
        "mcn: training: 2% after 30 s, about 6 min left",
        "mcn: training: 12% after 70 s, about 6 min left",
        "mcn: training: 32% after 2 min, about 4 min left",
    ]
    assert lines.wait() == pytest.approx(270 - 199)


def test_the_time_left_passes_while_nothing_is_reported() -> None:
    clock = Clock()
    lines = LogLines("comparing", Intervals(10, 120), clock)
    lines.report(0.0)
    clock.now += 10
    lines.report(0.25, "comparing, best 81%")
    assert lines.line() == "mcn: comparing, best 81%: 25% after 10 s, about 30 s left"
    clock.now += 20
    assert lines.line() == "mcn: comparing, best 81%: 25% after 30 s, about 10 s left"
    clock.now += 40
    assert lines.line() == "mcn: comparing, best 81%: 25% after 70 s, no further for 60 s"


def test_what_was_done_before_is_no_measure_of_speed() -> None:
    """A search that goes on: 80 % are in its ledger, and the next 10 % take 20 seconds."""
    clock = Clock()
    lines = LogLines("searching", Intervals(10, 120), clock)
    lines.report(0.8)
    clock.now += 10
    assert lines.line() == "mcn: searching: 80% after 10 s"
    clock.now += 10
    lines.report(0.9)
    clock.now += 10
    assert lines.line() == "mcn: searching: 90% after 30 s, about 10 s left"


def test_a_log_of_silent_work(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines come while the work reports nothing; they are plain text, and end with the work."""
    monkeypatch.setattr(_terminal, "FIRST", 0.001)
    monkeypatch.setattr(_terminal, "LONGEST", 0.001)
    said = threading.Event()
    write = sys.stderr.write

    def noted(text: str) -> int:
        if "50%" in text:
            said.set()
        return write(text)

    monkeypatch.setattr(sys.stderr, "write", noted)
    with progress_bar("counting") as report:
        report(0.5)
        assert said.wait(60)
    out, err = capsys.readouterr()
    assert out == ""
    assert all(line.startswith("mcn: counting: ") and line.isprintable() for line in err.splitlines())
    assert not [thread for thread in threading.enumerate() if thread.name == "mcn-progress"]
    assert capsys.readouterr() == ("", "")


def test_work_that_is_done_is_finishing() -> None:
    clock = Clock()
    lines = LogLines("training", Intervals(first=10, longest=60), clock)
    clock.now += 4
    lines.report(0.5)
    clock.now += 4
    lines.report(1.0)
    clock.now += 4
    assert lines.line() == "mcn: training: 100% after 12 s, finishing"


@pytest.mark.parametrize(("terminal", "expected"), [(True, 1), (False, 0)])
def test_said_once_and_only_on_a_terminal(
    terminal: bool, expected: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    double, triple = numba.njit(lambda x: 2 * x), numba.njit(lambda x: 3 * x)
    with compile_notice(clock=lambda: 0.0):
        assert (double(2), double(4), triple(2)) == (4, 8, 6)
    assert capsys.readouterr().err.count("mcn: compiling kernels, once") == expected


def test_the_time_so_far(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at this clock is 4 s after the one before; a compilation within another counts once."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    monkeypatch.setattr("mcn.cli._terminal.FIRST", 10.0)
    times = iter(range(0, 1000, 4))
    inner = numba.njit(lambda x: x + 1)
    kernels = [numba.njit(lambda x: x + 2), numba.njit(lambda x: inner(x) + 3)]
    with compile_notice(clock=lambda: float(next(times))):
        assert [kernel(1) for kernel in kernels] == [3, 5]
    # From 0 to 4; from 8 to 16 with the inner one ending at 12: 4, then 8, then 12 s in all.
    assert capsys.readouterr().err == "mcn: compiling kernels, once: 12 s so far\n"


def test_compiled_already(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    double = numba.njit(lambda x: 2 * x)
    double(1)
    with compile_notice():
        double(3)
    numba.njit(lambda x: x + 1)(1)  # after it
    assert capsys.readouterr().err == ""
