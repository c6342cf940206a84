"""Packing and counting killed at any moment leave nothing half-written, and go on to the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LEAST = {15: 10, 40: 30}
"""Moments, and how many of them are before the end."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("moments", [15, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("what", ["pack", "count"])
def test_killed_at_any_moment(what: str, moments: int, tmp_path: Path, repository: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "tests.store.killing", what, str(tmp_path), str(moments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=repository, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert LEAST[moments] <= found["unfinished"] < moments  # at the last moments everything is there
