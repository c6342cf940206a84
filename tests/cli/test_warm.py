"""`mcn warm`: afterwards counting and training compile nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

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
    done = mcn("warm", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["kernels"] > 0) == (told["seconds"] > 0)
    assert told["kept"] is None or Path(told["kept"]).is_dir()
    assert list(tmp_path.iterdir()) == []
    again = mcn("warm")  # in the same process, so all of it is there
    assert again.code == 0
    assert again.out.startswith("nothing to compile: all kernels are in ")
