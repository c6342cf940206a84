"""Packing and counting killed at any moment leave nothing half-written, and go on to the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("what", ["pack", "count"])
def test_killed_at_any_moment(what: str, tmp_path: Path, repository: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "tests.store.killing", what, str(tmp_path), "8"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=repository, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert 5 <= found["unfinished"] < 8  # at the last moments everything is there
