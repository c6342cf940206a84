from __future__ import annotations

import sys

import pytest

from mcn.cli import _progress
from mcn.cli._progress import progress_bar


def _run(terminal: bool, patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr(_progress, "PATIENCE", patience)
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
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
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
