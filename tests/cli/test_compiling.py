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
    with compile_notice():
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
