"""The limit on the memory that a file may take, measured."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 2**26


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux counts peaks anew")
def test_no_file_takes_more_than_the_limit(tmp_path: Path) -> None:
    """Files that would; each is read within the limit or refused in one line that names it."""
    words = [sys.executable, "-m", "tests.data.hostile_files", str(tmp_path)]
    env = {**os.environ, "MCN_MAX_BYTES": str(LIMIT), "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()][1:]  # the first one warms up
    assert len(lines) >= 32
    for name, peak, said in lines:
        assert int(peak) <= LIMIT + 2 * 10**8, (name, peak, said)
        assert said == "read" or (str(tmp_path) in said and "\\n" not in said), (name, said)
    assert sum("MCN_MAX_BYTES" in said for *_, said in lines) >= 20
