"""How far the work is and what is compiled, on a terminal only."""

import sys

import numba
import pytest

from mcn.cli import _terminal
from mcn.cli._terminal import compile_notice, progress_bar


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
    with compile_notice():
        assert (double(2), double(4), triple(2)) == (4, 8, 6)
    assert capsys.readouterr().err.count("mcn: compiling kernels, once") == expected
    with compile_notice():
        assert double(3) == 6  # compiled already
    assert numba.njit(lambda x: x + 1)(1) == 2  # after it
    assert capsys.readouterr().err == ""
