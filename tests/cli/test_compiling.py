from __future__ import annotations

import sys

import numba
import pytest

from mcn.cli._compiling import compile_notice


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
    monkeypatch.setattr("mcn.cli._progress.FIRST", 10.0)
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
